import { setMaxListeners } from 'node:events';
import type { When } from '../../protocol/run/events.ts';
import { type EngineResult, failedWith } from '../core/runResult.ts';
import type { Holding } from './outOfTurnEvents.ts';
import type { UserInput, UserQuestionQueue } from './questionQueue.ts';

/** Running run of this window, from before its record opens until the record is closed. */
export interface Active extends Holding {
  asking?: UserQuestionQueue;
  pausing?: boolean;
  /** A requested compaction is pending. */
  wantsRoom?: boolean;
  controller: AbortController;
  /** Ends waits of model calls (event `now`). */
  hurry: EventTarget;
  /** Pending input: received before the loop started, not recorded yet. */
  early: (UserInput & { when?: When })[];
  /** The work has ended; deliveries and writes may be pending. */
  ended: boolean;
  done: Promise<EngineResult>;
  /** Resolves when no resource of the run is open. Never rejects. */
  closed: Promise<void>;
}

export function newActive(early: UserInput[] = []): Active {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal); // every call of a turn adds and removes a listener
  const none = Promise.resolve();
  const hurry = new EventTarget();
  return { controller, hurry, early, notes: [], ended: false, done: none.then(() => failedWith('', '')), closed: none };
}
