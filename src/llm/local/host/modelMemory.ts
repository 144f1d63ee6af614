/** A model that can be taken out of memory. */
interface LoadedModel {
  /** Called when it has no job; resolves when its memory is free. */
  unload(): Promise<void>;
}

export interface ModelMemory {
  /** Whether `enter` would let it in at once. */
  isFree(tenant: LoadedModel): boolean;
  /** Who from outside of Towpath has the model inside answer. */
  asker(): string | undefined;
  /**
   * Resolves when this model may be loaded and used; call the result when the job is done. Rejects with the signal's reason.
   * @param asker who asks, from outside of Towpath
   */
  enter(tenant: LoadedModel, signal?: AbortSignal, asker?: string): Promise<() => void>;
}

interface Waiting {
  tenant: LoadedModel;
  asker?: string;
  admit(): void;
}

/**
 * One model in memory at a time. Another one waits until the jobs of the one inside are done, and has it unloaded; jobs
 * are let in by the order of asking, so that neither waits for ever. A run keeps its model across a change of models.
 */
export function createRoom(): ModelMemory {
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
        await inside.unload().catch(() => {}); // its process ends with it, or the next one says that there is no memory
        inside = undefined;
        emptying = false;
        continue; // who asked first may have left meanwhile
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
        const stop = () => {
          const at = queue.indexOf(waiting);
          if (at < 0) return; // it is in
          queue.splice(at, 1);
          reject(signal?.reason);
          void admitNext();
        };
        const waiting: Waiting = {
          tenant,
          asker,
          admit: () => {
            signal?.removeEventListener('abort', stop);
            resolve(() => leave(asker));
          },
        };
        signal?.throwIfAborted();
        signal?.addEventListener('abort', stop, { once: true });
        queue.push(waiting);
        void admitNext();
      }),
  };
}
