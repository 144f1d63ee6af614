import type { EventBody, RunEvent, StoredEvent } from '../../protocol/run/events.ts';
import { applyEvent, isStored } from '../../protocol/run/fold.ts';
import type { Run } from '../../protocol/run/run.ts';
import { message } from '../../protocol/text/l10n.ts';
import { UserFacingError } from '../../protocol/text/localized.ts';
import { storable } from '../../runs/storable.ts';
import type { OpenRun } from '../../runs/store.ts';

/** What is emitted after the run's end is not kept: it comes from work that did not heed its stop. */
class RunEndedError extends UserFacingError {
  override readonly name = 'RunEndedError';
  readonly code = 'ENGINE_ABORTED';
}

interface LogOptions {
  /** Once it resolves nobody waits for the disk. */
  hurry?: Promise<void>;
  /** The newest number that was told of this run without being kept: no event has it again. */
  toldUpTo?: number;
  /** Hears that the record failed, before anybody goes on. */
  onFailure?(error: unknown): void;
}

/**
 * Where events get their place. What is to be stored goes one after the other: stored, folded into the run, told. What could
 * not be stored has not happened: it is neither folded nor told, `emit` rejects, and so it does for all that follows, for a
 * record with a gap would be no record. What is only shown waits for nothing; it has the number of what was stored before it.
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
  /** Why nothing is written any more. */
  private failure?: unknown;
  private left = false;
  private readonly hurry: Promise<unknown>;

  constructor(
    private readonly open: OpenRun,
    private readonly tell: (event: RunEvent) => void,
    private readonly now: () => number,
    private readonly options: LogOptions = {},
  ) {
    this.hurry = options.hurry ?? new Promise(() => {});
  }

  get run(): Run {
    return this.open.run;
  }

  /** Resolves when a stored event is on disk. Rejects when it is not: with a `StoreError`, after the end with `RunEndedError`. */
  emit = (body: EventBody): Promise<void> => {
    const refusal = this.failure ?? (this.left ? new RunEndedError(message('This run has ended.')) : undefined);
    if (!isStored(body as RunEvent)) {
      if (refusal === undefined) this.deliver(this.next(body));
      return Promise.resolve();
    }
    if (refusal !== undefined) return Promise.reject(refusal);
    this.waiting++;
    const done = this.tail.then(() => this.store(body)).finally(() => this.waiting--);
    this.tail = done.catch(() => {});
    return done;
  };

  /** What is emitted from now on is refused. What was emitted before is still kept and told. */
  leave(): void {
    this.left = true;
  }

  /** Something that belongs to the record could not be kept beside it: nothing more is to happen in this run. */
  fail(error: unknown): void {
    this.options.onFailure?.(error);
  }

  /** Resolves when nothing that was emitted is on its way. */
  idle = async (): Promise<void> => {
    while (this.waiting > 0) await this.tail;
  };

  /** Tells what cannot be stored any more, because storing is what failed. */
  tellOnly(body: EventBody): void {
    this.deliver(this.next(body));
  }

  /** Waits for what was emitted and lets go of the run. Rejects when something was told that could not be stored then. */
  async end(): Promise<void> {
    this.leave();
    await this.tail;
    try {
      await this.disk;
    } finally {
      await this.open.close().catch(() => {}); // what was written is on disk already
    }
  }

  private async store(body: EventBody): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    const event = storable(this.next(body) as StoredEvent);
    await this.keep(event);
    this.deliver(event);
  }

  private async keep(event: StoredEvent): Promise<void> {
    const kept = this.disk.then(() => this.open.append(event));
    kept.catch((error) => this.failed(error));
    this.disk = kept.catch(() => {});
    if (isNeededToUndo(event)) return kept;
    const isKept = await Promise.race([kept.then(() => true), this.hurry.then(() => false)]);
    if (!isKept) this.disk = kept; // a record with a gap would be no record: nothing is written after it
  }

  private failed(error: unknown): void {
    if (this.failure !== undefined) return;
    this.failure = error;
    this.fail(error);
  }

  private next(body: EventBody): RunEvent {
    const last = Math.max(this.run.seq, this.options.toldUpTo ?? 0);
    const seq = isStored(body as RunEvent) ? last + 1 : last;
    return { runId: this.run.id, seq, at: this.now(), ...body } as RunEvent;
  }

  private deliver(event: RunEvent): void {
    applyEvent(this.run, event);
    this.tell(event);
  }
}

const isNeededToUndo = (event: StoredEvent): boolean =>
  event.type === 'tool-end' && Boolean(event.changes?.length || event.moved);
