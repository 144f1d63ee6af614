/** Something that can be lent to one borrower at a time and remembers whose it was last. */
interface Slot<Value> {
  value: Value;
  key?: string;
  busy: boolean;
  usedAt: number;
}

export interface Loan<Value> {
  value: Value;
  /** What this borrower had left in a slot was dropped since, because another one needed the place. */
  dropped: boolean;
  giveBack(): void;
}

export interface Slots<Value> {
  /**
   * Lends the slot which last belonged to `key`, else one that nobody comes back to, else the one unused for longest; waits
   * while all are lent out, and says so first. Give it back when done. Rejects with the signal's reason.
   */
  borrow(key: string | undefined, signal: AbortSignal, waits?: () => void): Promise<Loan<Value>>;
  /** Lends this very slot, whoever's it is and stays, to look after it; gives what gives it back, or undefined while it is lent out. */
  take(value: Value): (() => void) | undefined;
  /**
   * Lends all of them, once nobody has one: whoever comes meanwhile waits behind. Gives what gives them back. Waits and rejects as
   * `borrow`.
   */
  alone(signal: AbortSignal, waits?: () => void): Promise<() => void>;
  /** All of them, and whose they are. */
  all(): readonly { value: Value; key?: string }[];
}

/** A run's evaluated tokens live in a slot: as long as it is not lent to others, its next turn reads only what is new. */
export function createSlots<Value>(values: readonly Value[]): Slots<Value> {
  const slots: Slot<Value>[] = values.map((value) => ({ value, busy: false, usedAt: 0 }));
  const waiting: (() => void)[] = [];
  const dropped = new Set<string>();
  let uses = 0;
  /** How many want all of them, or have them. */
  let closing = 0;
  let closed = false;

  const pick = (key: string | undefined): Slot<Value> | undefined => {
    const own = key === undefined ? undefined : slots.find((slot) => slot.key === key);
    if (own) return own.busy ? undefined : own; // its tokens are worth waiting for
    const isKept = (slot: Slot<Value>) => Number(slot.key !== undefined);
    return slots
      .filter((slot) => !slot.busy)
      .sort((one, two) => isKept(one) - isKept(two) || one.usedAt - two.usedAt)[0];
  };

  const wakeAll = () => {
    for (const wake of waiting.splice(0)) wake();
  };
  const wait = (signal: AbortSignal) =>
    new Promise<void>((wake) => {
      waiting.push(wake);
      signal.addEventListener('abort', () => wake(), { once: true });
    });
  const giveBack = (slot: Slot<Value>) => {
    slot.busy = false;
    wakeAll();
  };

  return {
    all: () => slots,

    async alone(signal, waits = () => {}) {
      closing++;
      try {
        for (let isFirst = true; ; isFirst = false) {
          signal.throwIfAborted();
          if (!closed && slots.every(({ busy }) => !busy)) break;
          if (isFirst) waits();
          await wait(signal);
        }
      } catch (error) {
        closing--;
        wakeAll();
        throw error;
      }
      closed = true;
      return once(() => {
        closed = false;
        closing--;
        wakeAll();
      });
    },

    take(value) {
      const slot = closing > 0 ? undefined : slots.find((one) => one.value === value && !one.busy);
      if (!slot) return undefined;
      slot.busy = true;
      return once(() => giveBack(slot));
    },

    async borrow(key, signal, waits = () => {}) {
      for (let isFirst = true; ; isFirst = false) {
        signal.throwIfAborted();
        const slot = closing > 0 ? undefined : pick(key);
        if (slot) {
          if (slot.key !== undefined && slot.key !== key) dropped.add(slot.key);
          Object.assign(slot, { key, busy: true, usedAt: ++uses });
          return {
            value: slot.value,
            dropped: key !== undefined && dropped.delete(key),
            giveBack: () => giveBack(slot),
          };
        }
        if (isFirst) waits();
        await wait(signal);
      }
    },
  };
}

/** It may be lent out again by the second time. */
function once(act: () => void): () => void {
  let done = false;
  return () => {
    if (!done) act();
    done = true;
  };
}
