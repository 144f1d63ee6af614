// @invariant run-is-its-events: A stored run consists of its events, and a stored event is on disk before any listener receives it.
import type { RunEvent, RunEventBody, StoredEvent } from '../../protocol/run/events.ts';
import { applyEvent, isStoredEvent } from '../../protocol/run/fold.ts';
import type { Run } from '../../protocol/run/run.ts';
import { message } from '../../protocol/text/l10n.ts';
import { UserFacingError } from '../../protocol/text/localized.ts';
import { toStorableEvent } from '../../runs/storable.ts';
import type { WritableRun } from '../../runs/store.ts';

class RunEndedError extends UserFacingError {
  override readonly name = 'RunEndedError';
  readonly code = 'ENGINE_ABORTED';
}

interface LogOptions {
  /** Promise that ends all waits for the disk. */
  hurry?: Promise<void>;
  reportedUpTo?: number;
  onFailure?(error: unknown): void;
}

/**
 * Event log of a running run. Stored events are processed in sequence: written, folded, delivered. An event that cannot be stored is
 * neither folded nor delivered, `emit` rejects, and so do all later events, because a log must have no gap. Display events are not delayed
 * and have the number of the preceding stored event.
 *
 * After `hurry` resolves, stored events are delivered before the write ends, so that a stop does not wait for a slow disk. A crash in
 * between looks like an interruption, which is accurate. Data for undo is always on disk first.
 */
export class RunLog {
  private tail: Promise<void> = Promise.resolve();
  /** Order of writes; stays rejected after a failure of an event without a waiting caller. */
  private disk: Promise<void> = Promise.resolve();
  private waiting = 0;
  private failure?: unknown;
  private left = false;
  private readonly hurry: Promise<unknown>;

  constructor(
    private readonly open: WritableRun,
    private readonly report: (event: RunEvent) => void,
    private readonly now: () => number,
    private readonly options: LogOptions = {},
  ) {
    this.hurry = options.hurry ?? new Promise(() => {});
  }

  get run(): Run {
    return this.open.run;
  }

  /** Resolves after a stored event is on disk. Rejects with a `StoreError`, or with `RunEndedError` after the end. */
  emit = (body: RunEventBody): Promise<void> => {
    const refusal = this.failure ?? (this.left ? new RunEndedError(message('This run has ended.')) : undefined);
    if (!isStoredEvent(body as RunEvent)) {
      if (refusal === undefined) this.deliver(this.next(body));
      return Promise.resolve();
    }
    if (refusal !== undefined) return Promise.reject(refusal);
    this.waiting++;
    const done = this.tail.then(() => this.store(body)).finally(() => this.waiting--);
    this.tail = done.catch(() => {});
    return done;
  };

  leave(): void {
    this.left = true;
  }

  fail(error: unknown): void {
    this.options.onFailure?.(error);
  }

  idle = async (): Promise<void> => {
    while (this.waiting > 0) await this.tail;
  };

  reportUnstored(body: RunEventBody): void {
    this.deliver(this.next(body));
  }

  /** Waits for pending events and closes the run. Rejects if an event was delivered but not stored. */
  async end(): Promise<void> {
    this.leave();
    await this.tail;
    try {
      await this.disk;
    } finally {
      await this.open.close().catch(() => {}); // the written events are on disk already
    }
  }

  private async store(body: RunEventBody): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    const event = toStorableEvent(this.next(body) as StoredEvent);
    await this.keep(event);
    this.deliver(event);
  }

  private async keep(event: StoredEvent): Promise<void> {
    const stored = this.disk.then(() => this.open.append(event));
    stored.catch((error) => this.failed(error));
    this.disk = stored.catch(() => {});
    if (isNeededToUndo(event)) return stored;
    const isStored = await Promise.race([stored.then(() => true), this.hurry.then(() => false)]);
    if (!isStored) this.disk = stored; // nothing is written after a gap
  }

  private failed(error: unknown): void {
    if (this.failure !== undefined) return;
    this.failure = error;
    this.fail(error);
  }

  private next(body: RunEventBody): RunEvent {
    const last = Math.max(this.run.seq, this.options.reportedUpTo ?? 0);
    const seq = isStoredEvent(body as RunEvent) ? last + 1 : last;
    return { runId: this.run.id, seq, at: this.now(), ...body } as RunEvent;
  }

  private deliver(event: RunEvent): void {
    applyEvent(this.run, event);
    this.report(event);
  }
}

const isNeededToUndo = (event: StoredEvent): boolean =>
  (event.type === 'tool-end' || event.type === 'command-changes') &&
  Boolean(event.changes?.length || event.repositories || ('moved' in event && event.moved));
