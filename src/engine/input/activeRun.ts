import { setMaxListeners } from 'node:events';
import type { When } from '../../protocol/run/events.ts';
import { type EngineResult, failedWith } from '../core/runResult.ts';
import type { Holding } from './outOfTurnEvents.ts';
import type { UserInput, UserQuestionQueue } from './questionQueue.ts';

/** A run at work in this window, from before its record is open until that is closed. */
export interface Active extends Holding {
  asking?: UserQuestionQueue;
  pausing?: boolean;
  /** The person has asked for room in its window, and none was made yet. */
  wantsRoom?: boolean;
  controller: AbortController;
  /** Ends the waits of its model calls (`now`). */
  hurry: EventTarget;
  /** Said before the loop listens, and not on record yet: what the run is entered with, and what came while it was being opened. */
  early: (UserInput & { when?: When })[];
  /** It has come to rest; that may still be on its way to the panel and the disk. */
  ended: boolean;
  done: Promise<EngineResult>;
  /** Nothing of it is open any more. Never rejects. */
  closed: Promise<void>;
}

/** One that has not begun yet. */
export function newActive(early: UserInput[] = []): Active {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal); // every call of a turn listens, and lets go when it is done
  const none = Promise.resolve();
  const hurry = new EventTarget();
  return { controller, hurry, early, notes: [], ended: false, done: none.then(() => failedWith('', '')), closed: none };
}
