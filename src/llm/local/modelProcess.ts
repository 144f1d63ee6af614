import { type ChildProcess, fork } from 'node:child_process';
import { createInterface } from 'node:readline';
import { LLMError } from '../errors.ts';
import type { FromWorker, Job, JobEvent, LoadOptions, ToWorker } from './ipc.ts';
import { Queue } from './queue.ts';

export type JobProgress = { type: 'loading'; fraction?: number } | JobEvent;

/**
 * One child process with one model in it, from fork to end. It does not come back: when it has ended, a new one is made.
 */
export class ModelProcess {
  private readonly child: ChildProcess;
  private readonly jobs = new Map<number, { job: Job; queue: Queue<JobProgress> }>();
  private state: 'loading' | 'ready' | 'ended' = 'loading';
  private loadFraction?: number;
  private nextId = 1;
  private readonly whenEnded: Promise<void>;
  /** Tokens the model keeps in view; known when it is loaded. */
  contextSize?: number;

  constructor(
    workerPath: string,
    options: LoadOptions,
    private readonly log: (line: string) => void,
  ) {
    this.child = fork(workerPath, [], { execArgv: [], env: environment(), stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    for (const stream of [this.child.stdout!, this.child.stderr!]) createInterface(stream).on('line', log);
    this.child.on('message', (message: FromWorker) => this.hear(message));
    this.whenEnded = new Promise((resolve) => {
      this.child.once('error', (error) => {
        this.end(new LLMError('UNKNOWN', `The local model's process could not be started: ${error.message}`));
        resolve();
      });
      this.child.once('exit', (code, signal) => {
        this.end(endedError(signal ? `signal ${signal}` : `code ${code}`));
        resolve();
      });
    });
    this.tell({ type: 'load', options });
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  get ended(): boolean {
    return this.state === 'ended';
  }

  /**
   * What happens until the job is done, loading included. When the signal fires it throws the reason at once; the
   * process is told to stop, or ended when it was still loading and nobody else waits for it.
   */
  async *run(job: Job, signal: AbortSignal | undefined): AsyncGenerator<JobProgress, void, void> {
    signal?.throwIfAborted();
    if (this.ended) throw endedError('before it could answer');
    const id = this.nextId++;
    const queue = new Queue<JobProgress>();
    this.jobs.set(id, { job, queue });
    const stop = () => queue.fail(signal?.reason);
    signal?.addEventListener('abort', stop, { once: true });
    if (this.state === 'ready') this.tell({ type: 'generate', id, job });
    else queue.push({ type: 'loading', fraction: this.loadFraction });
    try {
      yield* queue;
    } finally {
      signal?.removeEventListener('abort', stop);
      if (this.jobs.delete(id)) this.leave(id);
    }
  }

  /** Ends the process and gives its memory back. */
  async close(): Promise<void> {
    this.child.kill('SIGKILL'); // it holds nothing but memory
    await this.whenEnded;
  }

  private leave(id: number): void {
    if (this.state === 'ready') this.tell({ type: 'abort', id });
    else if (this.state === 'loading' && this.jobs.size === 0) void this.end(new Error('stopped while loading'));
  }

  private hear(message: FromWorker): void {
    switch (message.type) {
      case 'log':
        this.log(message.text);
        break;
      case 'loading':
        this.loadFraction = message.fraction;
        for (const { queue } of this.jobs.values()) queue.push(message);
        break;
      case 'loaded':
        this.state = 'ready';
        this.contextSize = message.contextSize;
        for (const [id, { job }] of this.jobs) this.tell({ type: 'generate', id, job });
        break;
      case 'load-failed': {
        const { code, message: text, details } = message.error;
        this.end(new LLMError(code, text, { details }));
        break;
      }
      default:
        this.hearOfJob(message);
    }
  }

  private hearOfJob(event: JobEvent): void {
    const queue = this.jobs.get(event.id)?.queue;
    if (!queue) return; // stopped: nothing arrives after that
    if (event.type === 'failed') {
      this.jobs.delete(event.id);
      queue.fail(new LLMError(event.error.code, event.error.message, { details: event.error.details }));
      return;
    }
    queue.push(event);
    if (event.type !== 'done') return;
    this.jobs.delete(event.id);
    queue.end();
  }

  private end(error: Error): void {
    if (this.state === 'ended') return;
    this.state = 'ended';
    for (const { queue } of this.jobs.values()) queue.fail(error);
    this.jobs.clear();
    this.child.kill('SIGKILL');
  }

  private tell(message: ToWorker): void {
    if (this.child.connected) this.child.send(message, () => {}); // a lost message is told by `exit`
  }
}

function endedError(how: string): LLMError {
  const message = `The local model's process ended (${how}). Send a message to start it again.`;
  return new LLMError('LLM_INCOMPLETE', message, { details: { how } });
}

/** The engine's threads do the work; more of Node's own would only compete with them (generation falls to a sixth). */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(NODE_OPTIONS$|VSCODE_|ELECTRON_)/.test(name));
  return {
    ...Object.fromEntries(kept),
    UV_THREADPOOL_SIZE: '1',
    ...(process.versions.electron && { ELECTRON_RUN_AS_NODE: '1' }),
  };
}
