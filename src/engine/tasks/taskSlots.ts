import { onAbort } from '../../protocol/values/abort.ts';

interface TaskSlotRequest {
  runId: string;
  mayChange: boolean;
  /** The model of the task runs on this machine and serves one conversation at a time. */
  isLocal: boolean;
  /** Number of tasks of the run at the same time, read at each attempt. */
  parallel(): number;
  signal: AbortSignal;
}

interface Waiting extends TaskSlotRequest {
  start(): void;
}

/**
 * Slots of the tasks of a window. Tasks start in order, except those that must wait for another: one task at a time changes files, and
 * one uses the local model.
 */
export class TaskSlots {
  private readonly working = new Set<TaskSlotRequest>();
  private waiting: Waiting[] = [];

  /** Resolves to a function that frees the slot, or to undefined if the signal is aborted first. */
  async take(request: TaskSlotRequest): Promise<(() => void) | undefined> {
    let stopListening = () => {};
    const taken = await new Promise<Waiting | undefined>((resolve) => {
      const waiting: Waiting = { ...request, start: () => resolve(waiting) };
      this.waiting.push(waiting);
      stopListening = onAbort(request.signal, () => {
        this.waiting = this.waiting.filter((one) => one !== waiting);
        resolve(undefined);
      });
      this.startNext();
    });
    stopListening();
    return (
      taken &&
      (() => {
        this.working.delete(taken);
        this.startNext();
      })
    );
  }

  private startNext(): void {
    for (const one of [...this.waiting]) {
      if (!this.fits(one)) continue;
      this.waiting = this.waiting.filter((other) => other !== one);
      this.working.add(one);
      one.start();
    }
  }

  private fits({ runId, mayChange, isLocal, parallel }: TaskSlotRequest): boolean {
    const working = [...this.working];
    const ofRun = working.filter((one) => one.runId === runId).length;
    if (ofRun >= Math.max(1, parallel())) return false; // a task that was started goes on after delegation is switched off
    return !working.some((one) => (mayChange && one.mayChange) || (isLocal && one.isLocal));
  }
}
