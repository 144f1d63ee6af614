import { onAbort } from '../../../protocol/values/abort.ts';

interface Slot<Value> {
  value: Value;
  key?: string;
  busy: boolean;
  usedAt: number;
}

export interface SlotLease<Value> {
  value: Value;
  dropped: boolean;
  giveBack(): void;
}

export interface SequenceSlots<Value> {
  /**
   * Borrows the last slot of `key`, else a slot without an owner, else the least recently used slot. Waits while all are borrowed and calls
   * `waits` first. Rejects with the signal's reason.
   */
  borrow(key: string | undefined, signal: AbortSignal, waits?: () => void): Promise<SlotLease<Value>>;
  /** Borrows this slot for maintenance without a change of owner; returns the release function, or undefined if borrowed. */
  take(value: Value): (() => void) | undefined;
  /** Borrows all slots when none is in use; later borrowers wait. Returns the release function. Waits and rejects as `borrow`. */
  alone(signal: AbortSignal, waits?: () => void): Promise<() => void>;
  all(): readonly { value: Value; key?: string }[];
}

/** Creates slots for evaluated tokens. If the slot of a run is not lent to another run, the next turn evaluates only new tokens. */
export function createSequenceSlots<Value>(values: readonly Value[]): SequenceSlots<Value> {
  const slots: Slot<Value>[] = values.map((value) => ({ value, busy: false, usedAt: 0 }));
  const waiting = new Set<() => void>();
  const dropped = new Set<string>();
  let uses = 0;
  let closing = 0;
  let closed = false;

  const pick = (key: string | undefined): Slot<Value> | undefined => {
    const own = key === undefined ? undefined : slots.find((slot) => slot.key === key);
    if (own) return own.busy ? undefined : own; // wait for this slot: its tokens are still valid
    const isOccupied = (slot: Slot<Value>) => Number(slot.key !== undefined);
    return slots
      .filter((slot) => !slot.busy)
      .sort((one, two) => isOccupied(one) - isOccupied(two) || one.usedAt - two.usedAt)[0];
  };

  const wakeAll = () => {
    for (const wake of [...waiting]) wake();
  };
  const wait = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      let stopListening = () => {};
      const wake = () => {
        waiting.delete(wake);
        stopListening();
        resolve();
      };
      waiting.add(wake);
      stopListening = onAbort(signal, wake);
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

/** Ignores a second call: the slot may have another borrower by then. */
function once(act: () => void): () => void {
  let done = false;
  return () => {
    if (!done) act();
    done = true;
  };
}
