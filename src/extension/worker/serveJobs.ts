import { parentPort } from 'node:worker_threads';

/** Jobs by name, loaded on first use. Arguments and results are plain data. */
export type WorkerJobTable = Record<string, () => Promise<(...args: never[]) => unknown>>;

/** Runs the jobs of a worker thread: one at a time, and the thread may be terminated at any moment. */
export function serveJobs(jobs: WorkerJobTable): void {
  Error.stackTraceLimit = 0; // a parser with an error per comma would record a stack for each
  // Loads a job and, with arguments, runs the job.
  parentPort!.on('message', async ({ name, args }: { name: string; args?: never[] }) => {
    try {
      const job = await jobs[name]!();
      parentPort!.postMessage({ value: args && (await job(...args)) });
    } catch (error) {
      parentPort!.postMessage({ error: error instanceof Error ? error.message : String(error) });
    }
  });
  parentPort!.postMessage('ready');
}
