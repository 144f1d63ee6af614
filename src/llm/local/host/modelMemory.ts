// @invariant one-local-model-in-memory: At most one local model is in memory, and a run keeps its model until the turn ends.

import { onAbort } from '../../../protocol/values/abort.ts';

interface LoadedModel {
  unload(): Promise<void>;
}

export interface LoadedModelScheduler {
  isFree(tenant: LoadedModel): boolean;
  asker(): string | undefined;
  /**
   * Resolves when the model may be loaded and used; the returned function ends the use. Rejects with the signal's reason.
   *
   * @param asker name of a requester outside of Towpath
   */
  enter(tenant: LoadedModel, signal?: AbortSignal, asker?: string): Promise<() => void>;
}

interface Waiting {
  tenant: LoadedModel;
  asker?: string;
  admit(): void;
}

/**
 * Creates a memory for one model at a time. Another model waits until the running jobs are done, then has the loaded model unloaded. Jobs
 * enter in order of request, so none waits forever. A run keeps its model across a change of models.
 */
export function createLoadedModelScheduler(): LoadedModelScheduler {
  let inside: LoadedModel | undefined;
  let jobs = 0;
  const askers: string[] = [];
  let emptying = false;
  const queue: Waiting[] = [];

  const admitNext = async (): Promise<void> => {
    while (!emptying && queue[0]) {
      if (inside && inside !== queue[0].tenant) {
        if (jobs > 0) return;
        emptying = true;
        await inside.unload().catch(() => {}); // the process ends anyway, or the next model reports that memory is missing
        inside = undefined;
        emptying = false;
        continue; // the first in the queue may have been cancelled meanwhile
      }
      const next = queue.shift()!;
      inside = next.tenant;
      jobs++;
      if (next.asker !== undefined) askers.push(next.asker);
      next.admit();
    }
  };
  const leave = (asker: string | undefined) => {
    jobs--;
    if (asker !== undefined) askers.splice(askers.indexOf(asker), 1);
    void admitNext();
  };

  return {
    isFree: (tenant) => queue.length === 0 && !emptying && (inside === tenant || jobs === 0),
    asker: () => askers[0],
    enter: (tenant, signal, asker) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        const waiting: Waiting = {
          tenant,
          asker,
          admit: () => {
            stopListening();
            resolve(() => leave(asker));
          },
        };
        const stopListening = onAbort(signal, (reason) => {
          const at = queue.indexOf(waiting);
          if (at < 0) return;
          queue.splice(at, 1);
          reject(reason);
          void admitNext();
        });
        queue.push(waiting);
        void admitNext();
      }),
  };
}
