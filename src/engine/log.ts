import { type EventBody, isStored, type RunEvent, type StoredEvent } from '../protocol/events.ts';
import { applyEvent, type Run } from '../protocol/run.ts';
import type { OpenRun } from '../runs/store.ts';

/**
 * Where events get their place. One after the other: stored, folded into the run, told. What could not be stored has not
 * happened: it is neither folded nor told, and `emit` rejects. After `end` nothing more is told.
 *
 * Once `hurry` resolves, what is to be stored is told while it is still on its way to the disk: whoever stops a run does
 * not wait for a slow one. A kill in between shows as a run that was interrupted there, which is as true. What undo needs
 * is on disk before it is told all the same.
 */
export class RunLog {
  /** What is told, in order. */
  private tail: Promise<void> = Promise.resolve();
  /** What is written, in order; rejects for good when something failed that nobody waited for. */
  private disk: Promise<void> = Promise.resolve();
  private waiting = 0;
  private left = false;
  private ended = false;

  constructor(
    private readonly open: OpenRun,
    private readonly tell: (event: RunEvent) => void,
    private readonly now: () => number,
    private readonly hurry: Promise<void> = new Promise(() => {}),
    /** The newest number that was told of this run without being kept: no event has it again. */
    private readonly toldUpTo = 0,
  ) {}

  get run(): Run {
    return this.open.run;
  }

  emit = (body: EventBody): Promise<void> => {
    if (this.left) return this.tail;
    if (this.waiting === 0 && !isStored(body as RunEvent)) {
      if (!this.ended) this.deliver(this.next(body));
      return this.tail;
    }
    this.waiting++;
    const done = this.tail.then(() => this.store(body)).finally(() => this.waiting--);
    this.tail = done.catch(() => {});
    return done;
  };

  /** What is emitted from now on is dropped: it comes from work that did not heed its stop. */
  leave(): void {
    this.left = true;
  }

  /** Resolves when nothing that was emitted is on its way. */
  async idle(): Promise<void> {
    while (this.waiting > 0) await this.tail;
  }

  /** Tells what cannot be stored any more, because storing is what failed. */
  tellOnly(body: EventBody): void {
    this.deliver(this.next(body));
  }

  /** Waits for what was emitted and lets go of the run. Rejects when something was told that could not be stored then. */
  async end(): Promise<void> {
    await this.tail;
    this.ended = true;
    try {
      await this.disk;
    } finally {
      await this.open.close().catch(() => {}); // what was written is on disk already
    }
  }

  private async store(body: EventBody): Promise<void> {
    if (this.ended) return;
    const event = this.next(body);
    if (isStored(event)) await this.keep(event);
    this.deliver(event);
  }

  private async keep(event: StoredEvent): Promise<void> {
    const kept = this.disk.then(() => this.open.append(event));
    this.disk = kept.catch(() => {});
    if (isNeededToUndo(event)) return kept;
    const isKept = await Promise.race([kept.then(() => true), this.hurry.then(() => false)]);
    if (!isKept) this.disk = kept; // a record with a gap would be no record: nothing is written after it
  }

  private next(body: EventBody): RunEvent {
    return { runId: this.run.id, seq: Math.max(this.run.seq, this.toldUpTo) + 1, at: this.now(), ...body } as RunEvent;
  }

  private deliver(event: RunEvent): void {
    applyEvent(this.run, event);
    this.tell(event);
  }
}

const isNeededToUndo = (event: StoredEvent): boolean =>
  event.type === 'tool-end' && Boolean(event.changes?.length || event.moved);
