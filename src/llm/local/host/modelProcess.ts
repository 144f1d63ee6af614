import { type ChildProcess, fork } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { message } from '../../../protocol/text/l10n.ts';
import { storedLocalizableText } from '../../../protocol/text/localized.ts';
import { onAbort } from '../../../protocol/values/abort.ts';
import { durationMessage } from '../../core/deadlines.ts';
import { LLMError } from '../../core/errors.ts';
import type { DeviceInfo } from '../ipc/deviceInfo.ts';
import type {
  InferenceJob,
  InferenceJobEvent,
  ModelLoadOptions,
  ModelWorkerEvent,
  ModelWorkerRequest,
} from '../ipc/ipc.ts';
import { removeSequenceState } from '../worker/stateFiles.ts';
import { removeSequenceStateLeftovers } from '../worker/stateTransfer.ts';
import { createHeartbeat, type Heartbeat } from './heartbeat.ts';
import { modelProcessExitError } from './processExit.ts';

/** Queue between a producer and an async iterator. A failure overtakes queued values. */
class Queue<Value> implements AsyncIterable<Value> {
  private readonly values: Value[] = [];
  private state: { open: true } | { open: false; error?: unknown; failed: boolean } = { open: true };
  private wake?: () => void;

  push(value: Value): void {
    if (!this.state.open) return;
    this.values.push(value);
    this.wake?.();
  }

  end(): void {
    if (this.state.open) this.state = { open: false, failed: false };
    this.wake?.();
  }

  fail(error: unknown): void {
    if (!this.state.open) return;
    this.state = { open: false, failed: true, error };
    this.values.length = 0;
    this.wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Value, void, void> {
    for (;;) {
      if (!this.state.open && this.state.failed) throw this.state.error;
      if (this.values.length > 0) yield this.values.shift()!;
      else if (!this.state.open) return;
      else
        await new Promise<void>((wake) => {
          this.wake = wake;
        });
    }
  }
}

/** Detector of a process that answers without progress: counts answers with an unchanged state. */
class Standstill {
  private at: unknown;
  answers = 0;

  onMessage(at: unknown): void {
    this.answers = at === this.at ? this.answers + 1 : 0;
    this.at = at;
  }

  begin(): void {
    this.answers = 0;
  }
}

/** Seconds without an answer during a job after which the process counts as hung. */
const patience = 30;
/** Answers without progress during a job after which the process counts as stuck; a slice takes far less. */
const stuckAfter = 300;
const outputMs = 300;
const maxLines = 5;

interface ProcessOptions {
  workerPath: string;
  load: ModelLoadOptions;
  log(line: string): void;
  beatMs?: number;
  stuckAfter?: number;
}

export type InferenceProcessEvent =
  | { type: 'loading'; fraction?: number }
  | { type: 'growing'; id: number }
  | InferenceJobEvent;

/** A child process with one model, from fork to exit. Not restartable: a new instance replaces an ended process. */
export class ModelProcess {
  private readonly child: ChildProcess;
  private readonly jobs = new Map<number, { job: InferenceJob; queue: Queue<InferenceProcessEvent> }>();
  private state: 'loading' | 'ready' | 'ended' = 'loading';
  private loadFraction?: number;
  private nextId = 1;
  private readonly whenEnded: Promise<void>;
  private readonly pulse: Heartbeat;
  /** A ping is unanswered. A process that was suspended answers many pings at once, which count as one. */
  private asked = false;
  private readonly still = new Standstill();
  private readonly cancelled = new Map<number, number>();
  private gpu: DeviceInfo['gpu'] = false;
  private readonly lastLines: string[] = [];
  contextSize?: number;
  endedGrowing = false;
  private growing = false;
  private closing = false;
  device?: DeviceInfo;
  failedOn?: string;
  private readonly restoring = new Map<number, string>();
  endedRestoring?: Promise<unknown>;
  private onStored = () => {};
  private readonly counts = new Map<number, (tokens: number) => void>();

  constructor(private readonly options: ProcessOptions) {
    const { workerPath, load, beatMs = 1000 } = options;
    this.child = fork(workerPath, [], { execArgv: [], env: environment(), stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    for (const stream of [this.child.stdout!, this.child.stderr!])
      createInterface(stream).on('line', (line) => this.note(line));
    this.child.on('message', (message: ModelWorkerEvent) => this.onWorkerEvent(message));
    this.pulse = createHeartbeat({
      everyMs: beatMs,
      beats: patience,
      ask: () => {
        this.asked = true;
        this.send({ type: 'ping' });
      },
      silent: () => this.end(hungError(beatMs * patience)),
    });
    this.whenEnded = new Promise((resolve) => {
      this.child.once('error', (error) => {
        this.end(new LLMError('UNKNOWN', message(notStarted, error.message)));
        resolve();
      });
      const gone = (code: number | null, signal: NodeJS.Signals | null) => {
        const loading = this.state === 'loading' ? load.modelPath : undefined;
        this.end(modelProcessExitError({ code, signal, loading, lastLines: this.lastLines }));
        resolve();
      };
      this.child.once('close', gone); // by then the last output is read
      this.child.once('exit', (...exit) => void setTimeout(gone, outputMs, ...exit));
    });
    this.send({ type: 'load', options: load });
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  get ended(): boolean {
    return this.state === 'ended';
  }

  /** True if the process is idle but has ignored a cancellation for so long that a new job would fail too. */
  get deaf(): boolean {
    const [oldest] = this.cancelled.values();
    const { beatMs = 1000 } = this.options;
    return this.jobs.size === 0 && oldest !== undefined && performance.now() - oldest > beatMs * patience;
  }

  /**
   * Yields the progress of a job until its end, including loading. On an abort, throws the reason at once and cancels the job; the process
   * is ended if it is still loading for no other job.
   */
  async *run(job: InferenceJob, signal: AbortSignal | undefined): AsyncGenerator<InferenceProcessEvent, void, void> {
    signal?.throwIfAborted();
    if (this.ended)
      throw new LLMError(
        'LLM_INCOMPLETE',
        message('The local model exited unexpectedly. Send the message again to reload it.'),
        {
          reason: 'local-ended',
        },
      );
    const id = this.nextId++;
    const queue = new Queue<InferenceProcessEvent>();
    this.jobs.set(id, { job, queue });
    this.pulse.feel();
    if (this.jobs.size === 1) this.still.begin();
    const stopListening = onAbort(signal, (reason) => queue.fail(reason));
    if (this.state === 'ready') this.send({ type: 'generate', id, job });
    else queue.push({ type: 'loading', fraction: this.loadFraction });
    try {
      yield* queue;
    } finally {
      stopListening();
      if (this.jobs.delete(id)) this.leave(id);
      if (this.jobs.size === 0) this.pulse.rest(); // no job waits
    }
  }

  async keep(ms: number): Promise<void> {
    if (this.state !== 'ready' || !this.options.load.keep) return;
    const late = new AbortController();
    const stored = new Promise<void>((resolve) => {
      this.onStored = resolve;
    });
    this.send({ type: 'keep', ms });
    await Promise.race([stored, this.whenEnded, sleep(ms * 2, undefined, { ref: false, signal: late.signal })]);
    late.abort();
  }

  /** Returns the tokens of a text; undefined while the model is loading and after the process has ended. */
  async countTokens(text: string): Promise<number | undefined> {
    if (this.state !== 'ready') return undefined;
    const id = this.nextId++;
    const counted = new Promise<number>((resolve) => this.counts.set(id, resolve));
    this.send({ type: 'count', id, text });
    const tokens = await Promise.race([counted, this.whenEnded]);
    this.counts.delete(id);
    return tokens ?? undefined;
  }

  async close(): Promise<void> {
    this.restoring.clear(); // the restore is not the cause of this exit
    this.closing = true;
    this.end(
      new LLMError('LLM_INCOMPLETE', message('The local model was unloaded. Send a message to load it again.'), {
        reason: 'local-ended',
      }),
    );
    await this.whenEnded;
  }

  private leave(id: number): void {
    if (this.state === 'ready') {
      this.cancelled.set(id, performance.now());
      this.send({ type: 'abort', id });
    } else if (this.state === 'loading' && this.jobs.size === 0) void this.end(new Error('stopped while loading'));
  }

  private note(line: string): void {
    this.lastLines.push(line);
    if (this.lastLines.length > maxLines) this.lastLines.shift();
    this.options.log(line);
  }

  private onWorkerEvent(message: ModelWorkerEvent): void {
    this.pulse.received();
    switch (message.type) {
      case 'pong':
        if (this.asked) this.onProgress(message.work);
        this.asked = false;
        break;
      case 'kept':
        this.onStored();
        break;
      case 'counted':
        this.counts.get(message.id)?.(message.tokens);
        break;
      case 'log':
        this.note(message.text);
        break;
      case 'engine':
        this.gpu = message.gpu;
        break;
      case 'loading':
        this.loadFraction = message.fraction;
        for (const { queue } of this.jobs.values()) queue.push(message);
        break;
      case 'growing':
        this.growing = true;
        for (const [id, { queue }] of this.jobs) queue.push({ type: 'growing', id });
        break;
      case 'grown':
        this.growing = false;
        this.contextSize = message.contextSize;
        break;
      case 'loaded':
        this.state = 'ready';
        this.contextSize = message.contextSize;
        this.device = message.device;
        for (const [id, { job }] of this.jobs) this.send({ type: 'generate', id, job });
        break;
      case 'load-failed': {
        const { code, reason, details } = message.error;
        this.end(new LLMError(code, storedLocalizableText(message.error), { reason, details }));
        break;
      }
      default:
        this.onJobEvent(message);
    }
  }

  private onProgress(tokens: number): void {
    if (this.jobs.size === 0) this.still.begin();
    else this.still.onMessage(this.state === 'loading' ? `${this.gpu} ${this.loadFraction}` : tokens);
    const { beatMs = 1000, stuckAfter: most = stuckAfter } = this.options;
    if (this.cancelled.size > 0 && this.still.answers > patience) this.end(deafError(beatMs * patience));
    else if (this.still.answers > most) this.end(this.stuckError(beatMs * most));
  }

  private stuckError(ms: number): LLMError {
    const { modelPath } = this.options.load;
    if (this.state === 'loading')
      return new LLMError(
        'LLM_TIMEOUT',
        message(
          'Loading {0} made no progress for {1} and was stopped. Check that its disk responds, then send a message to try again.',
          modelPath,
          durationMessage(ms),
        ),
      );
    return new LLMError(
      'LLM_TIMEOUT',
      message(
        'The local model made no progress for {0} and was stopped. Send a message to start it again.',
        durationMessage(ms),
      ),
    );
  }

  private onJobEvent(event: InferenceJobEvent): void {
    if (event.type === 'done' || event.type === 'failed' || event.type === 'aborted') this.cancelled.delete(event.id);
    if (event.type === 'restoring') this.restoring.set(event.id, event.file);
    else this.restoring.delete(event.id);
    const queue = this.jobs.get(event.id)?.queue;
    if (!queue) return; // aborted: nothing follows
    if (event.type === 'failed') {
      this.jobs.delete(event.id);
      queue.fail(new LLMError(event.error.code, storedLocalizableText(event.error), { details: event.error.details }));
      return;
    }
    queue.push(event);
    if (event.type !== 'done') return;
    this.jobs.delete(event.id);
    queue.end();
  }

  private end(error: Error): void {
    if (this.state === 'ended') return;
    if (this.state === 'loading' && this.gpu !== false) this.failedOn = this.gpu;
    this.state = 'ended';
    this.endedGrowing = this.growing && !this.closing;
    if (this.growing) void this.whenEnded.then(() => removeSequenceStateLeftovers(this.options.load.keep?.folder));
    if (this.restoring.size > 0)
      this.endedRestoring = Promise.all([...this.restoring.values()].map(removeSequenceState));
    this.pulse.rest();
    for (const { queue } of this.jobs.values()) queue.fail(error);
    this.jobs.clear();
    this.child.kill('SIGKILL'); // safe: the process owns nothing but memory
  }

  private send(message: ModelWorkerRequest): void {
    if (this.child.connected) this.child.send(message, () => {}); // a lost message is reported by `exit`
  }
}

const notStarted = 'The local model could not be started: {0}';

function hungError(ms: number): LLMError {
  const text = message(
    'The local model did not respond for {0} and was stopped. Send a message to start it again.',
    durationMessage(ms),
  );
  return new LLMError('LLM_TIMEOUT', text);
}

function deafError(ms: number): LLMError {
  const text = message(
    'The local model did not stop its last answer within {0} and was ended. Send the message again to start it again.',
    durationMessage(ms),
  );
  return new LLMError('LLM_TIMEOUT', text);
}

/**
 * Returns the environment without Node's thread settings. The engine's threads do the work, and additional Node threads would compete
 * (generation falls to a sixth).
 */
function environment(): NodeJS.ProcessEnv {
  const variables = Object.entries(process.env).filter(([name]) => !/^(NODE_OPTIONS$|VSCODE_|ELECTRON_)/.test(name));
  return {
    ...Object.fromEntries(variables),
    UV_THREADPOOL_SIZE: '1',
    ...(process.versions.electron && { ELECTRON_RUN_AS_NODE: '1' }),
  };
}
