import type { StoredEvent } from '../../src/protocol/run/events.ts';
import type { Conversation } from './conversation.ts';

/** What a disk does that takes nothing for a while. */
export interface Disk {
  /** It takes nothing from the first such event, or opening, on. */
  sticksAt(which: (event: StoredEvent | 'open') => boolean): void;
  /** Something waits for it. */
  readonly waits: boolean;
  /** What waited is taken, and all that follows. */
  release(): void;
  /** What waited was not taken. */
  fails(error: Error): void;
}

/** A real store behind a disk that can be made to hang. */
export function stuckDisk({ store }: Conversation): Disk {
  let isStuck: (event: StoredEvent | 'open') => boolean = () => false;
  let waiting: { resolve(): void; reject(error: Error): void } | undefined;
  const taken = async (what: StoredEvent | 'open') => {
    if (!isStuck(what)) return;
    await new Promise<void>((resolve, reject) => {
      waiting = { resolve, reject };
    });
  };
  for (const how of ['create', 'open'] as const) {
    const open = store[how].bind(store);
    store[how] = async (id) => {
      await taken('open');
      const run = await open(id);
      return { ...run, append: (event) => taken(event).then(() => run.append(event)) };
    };
  }
  const loosen = () => {
    isStuck = () => false;
  };
  return {
    sticksAt: (which) => {
      isStuck = which;
    },
    get waits() {
      return waiting !== undefined;
    },
    release: () => {
      loosen();
      waiting?.resolve();
    },
    fails: (error) => {
      loosen();
      waiting?.reject(error);
    },
  };
}
