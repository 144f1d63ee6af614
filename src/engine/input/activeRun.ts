import { setMaxListeners } from 'node:events';
import type { MessageDeliveryTiming } from '../../protocol/run/events.ts';
import { type EngineResult, failedEngineResult } from '../core/runResult.ts';
import type { RunLogHolder } from './outOfTurnEvents.ts';
import type { UserInput, UserQuestionQueue } from './questionQueue.ts';

/**
 * Running run of this window, from before its record opens until the record is closed. `early`: pending input, received before the loop
 * started. `hurry`: ends waits of model calls (event `now`). `undoing`: an undo or redo of a run at rest, for which other work waits.
 * `ended`: deliveries and writes may still be pending.
 */
export interface ActiveRun extends RunLogHolder {
  asking?: UserQuestionQueue;
  pausing?: boolean;
  wantsCompaction?: boolean;
  controller: AbortController;
  /** Controllers of the tasks at work, by id. */
  tasks: Map<string, AbortController>;
  hurry: EventTarget;
  early: (UserInput & { when?: MessageDeliveryTiming })[];
  undoing?: true;
  ended: boolean;
  done: Promise<EngineResult>;
  /** Resolves when no resource of the run is open. Never rejects. */
  closed: Promise<void>;
}

export function createActiveRun(early: UserInput[] = []): ActiveRun {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal); // every call of a turn adds and removes a listener
  const none = Promise.resolve();
  const hurry = new EventTarget();
  return {
    controller,
    tasks: new Map(),
    hurry,
    early,
    notes: [],
    ended: false,
    done: none.then(() => failedEngineResult('', '')),
    closed: none,
  };
}

/** Marks the result of work that ended before its input was delivered. */
export const undeliveredMark = ({ early }: { early: readonly unknown[] }): { isUnheard?: true } =>
  early.length > 0 ? { isUnheard: true } : {};

/** Resolves to false if the user has stopped what waits for the undo, or the window closes. */
export async function waitForUndo({ controller: { signal }, closed }: ActiveRun): Promise<boolean> {
  await closed;
  return !signal.aborted;
}
