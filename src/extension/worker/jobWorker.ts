import { once } from 'node:events';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { moduleLoadError } from '../../protocol/panel/lazyImport.ts';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { UserFacingError } from '../../protocol/text/localized.ts';
import type { parserJobs } from './parserJobs.ts';
import type { WorkerJobTable } from './serveJobs.ts';
import type { snapshotJobs } from './snapshotJobs.ts';

interface JobWorkerLimits {
  /** Milliseconds per job after loading, megabytes of heap, and idle milliseconds until the thread ends. */
  ms: number;
  megabytes: number;
  idleMs: number;
  /** Environment of the thread; empty for parsers. */
  env: NodeJS.ProcessEnv;
}

const usual: JobWorkerLimits = { ms: 5000, megabytes: 256, idleMs: 30_000, env: {} };

type JobOf<Jobs extends WorkerJobTable, Name extends keyof Jobs> = Awaited<ReturnType<Jobs[Name]>>;

/** Error of a job as a sentence about a file: terminated by a limit or failed. */
export class JobWorkerError extends UserFacingError {
  override readonly name = 'JobWorkerError';
}

const closing = message('It is no longer read: the window is closing.');

/**
 * Worker thread outside of the extension host's shared thread. Jobs run in sequence; a job above its limits is terminated with its thread,
 * and the next job gets a new thread.
 */
export class JobWorker<Jobs extends WorkerJobTable = typeof parserJobs> {
  private thread: Worker | undefined;
  private last: Promise<unknown> = Promise.resolve();
  private waiting = 0;
  private idle: NodeJS.Timeout | undefined;
  private disposed = false;
  private readonly limits: JobWorkerLimits;

  /** @param program built file that serves the jobs */
  constructor(
    private readonly program: string,
    limits: Partial<JobWorkerLimits> = {},
  ) {
    this.limits = { ...usual, ...limits };
  }

  run<Name extends keyof Jobs & string>(
    name: Name,
    ...args: Parameters<JobOf<Jobs, Name>>
  ): Promise<Awaited<ReturnType<JobOf<Jobs, Name>>>> {
    clearTimeout(this.idle);
    this.waiting++;
    const result = this.last.then(() => this.work(name, args)).finally(() => this.rest());
    this.last = result.catch(() => {});
    return result as Promise<Awaited<ReturnType<JobOf<Jobs, Name>>>>;
  }

  async dispose(): Promise<void> {
    this.disposed = true;
    clearTimeout(this.idle);
    await this.end();
  }

  private rest(): void {
    this.waiting--;
    if (this.waiting > 0 || this.disposed) return;
    this.idle = setTimeout(() => void this.end(), this.limits.idleMs);
    this.idle.unref();
  }

  private async end(): Promise<void> {
    const { thread } = this;
    this.thread = undefined;
    await thread?.terminate();
  }

  private async work(name: string, args: readonly unknown[]): Promise<unknown> {
    if (this.disposed) throw new JobWorkerError(closing);
    const thread = this.thread ?? (await this.start());
    await this.load(thread, name);
    const { seconds, timer, late } = this.clock();
    try {
      thread.postMessage({ name, args });
      const answer = await Promise.race([answerOf(thread), late]);
      if (answer === 'late') throw new JobWorkerError(message('It took too long to read: more than {0} s.', seconds));
      if ('error' in answer) throw new JobWorkerError(unreadable(answer.error.slice(0, 300)));
      return answer.value;
    } catch (error) {
      await this.end();
      throw error instanceof JobWorkerError ? error : new JobWorkerError(sentenceOf(error, this.limits));
    } finally {
      clearTimeout(timer);
    }
  }

  /** Loads the job; its time limit starts afterwards. */
  private async load(thread: Worker, name: string): Promise<void> {
    try {
      thread.postMessage({ name });
      const answer = await answerOf(thread);
      if ('error' in answer) throw new JobWorkerError({ english: answer.error });
    } catch (error) {
      await this.end();
      if (error instanceof JobWorkerError) throw error;
      throw new JobWorkerError(this.disposed ? closing : { english: moduleLoadError(error).message });
    }
  }

  private clock() {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), this.limits.ms);
    });
    return { seconds: this.limits.ms / 1000, timer, late };
  }

  private async start(): Promise<Worker> {
    const thread = new Worker(this.program, {
      resourceLimits: { maxOldGenerationSizeMb: this.limits.megabytes },
      env: this.limits.env,
      stdin: false,
    });
    thread.unref();
    thread.on('error', () => {}); // reported to the waiting caller; no caller between jobs
    this.thread = thread;
    try {
      await answerOf(thread);
      return thread;
    } catch (error) {
      await this.end();
      throw new JobWorkerError(this.disposed ? closing : { english: moduleLoadError(error).message });
    }
  }
}

type Answer = { value: unknown } | { error: string };

async function answerOf(thread: Worker): Promise<Answer> {
  const over = new AbortController();
  const { signal } = over;
  try {
    return await Promise.race([
      once(thread, 'message', { signal }).then(([answer]) => answer as Answer), // rejects on `error`, too
      once(thread, 'exit', { signal }).then(([code]) => Promise.reject(new Error(`its thread ended (${code})`))),
    ]);
  } finally {
    over.abort();
  }
}

function sentenceOf(error: unknown, { megabytes }: JobWorkerLimits): LocalizedMessage {
  const { code, message: text } = error as NodeJS.ErrnoException;
  if (code === 'ERR_WORKER_OUT_OF_MEMORY')
    return message('Reading it needs too much memory: more than {0} MB.', megabytes);
  return unreadable(text);
}

const unreadable = (why: string): LocalizedMessage => message('It cannot be read: {0}.', why.replace(/\.$/, ''));

/**
 * Creates workers for background file checks, for requests of users and models, for packages, and for the records of files.
 * @param folder folder of the built programs
 */
export function createJobWorkers(folder: string) {
  const program = path.join(folder, 'parser.cjs');
  return {
    files: new JobWorker(program),
    packages: new JobWorker(program, { ms: 20_000 }),
    others: new JobWorker(program, { ms: 10_000, megabytes: 512 }),
    // Needs the path and the home folder of the user for Git.
    snapshots: new JobWorker<typeof snapshotJobs>(path.join(folder, 'snapshots.cjs'), {
      ms: 120_000,
      megabytes: 2048,
      env: process.env,
    }),
  };
}
