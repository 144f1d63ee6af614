import { applyEvent, type EventBody, isStored, type Run, type RunEvent } from '../protocol/run.ts';
import type { OpenRun } from '../runs/store.ts';

/**
 * Where events get their place. One after the other: stored, folded into the run, told. What could not be stored has not
 * happened: it is neither folded nor told, and `emit` rejects. After `end` nothing more is told.
 */
export class RunLog {
  private tail: Promise<void> = Promise.resolve();
  private waiting = 0;
  private ended = false;

  constructor(
    private readonly open: OpenRun,
    private readonly tell: (event: RunEvent) => void,
    private readonly now: () => number,
  ) {}

  get run(): Run {
    return this.open.run;
  }

  emit = (body: EventBody): Promise<void> => {
    if (this.waiting === 0 && !isStored(body as RunEvent)) {
      if (!this.ended) this.place(body);
      return this.tail;
    }
    this.waiting++;
    const done = this.tail.then(() => this.store(body)).finally(() => this.waiting--);
    this.tail = done.catch(() => {});
    return done;
  };

  /** Tells what cannot be stored any more, because storing is what failed. */
  tellOnly(body: EventBody): void {
    if (!this.ended) this.place(body);
  }

  /** Waits for what was emitted and lets go of the run. */
  async end(): Promise<void> {
    await this.tail;
    this.ended = true;
    await this.open.close();
  }

  private async store(body: EventBody): Promise<void> {
    if (this.ended) return;
    const event = this.next(body);
    if (isStored(event)) await this.open.append(event);
    this.deliver(event);
  }

  private place(body: EventBody): void {
    this.deliver(this.next(body));
  }

  private next(body: EventBody): RunEvent {
    return { runId: this.run.id, seq: this.run.seq + 1, at: this.now(), ...body } as RunEvent;
  }

  private deliver(event: RunEvent): void {
    applyEvent(this.run, event);
    this.tell(event);
  }
}
