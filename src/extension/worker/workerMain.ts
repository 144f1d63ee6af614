import { parentPort } from 'node:worker_threads';
import { workerJobs } from './workerJobs.ts';

// Program of the parser worker. Receives one job at a time and may be terminated at any moment.

Error.stackTraceLimit = 0; // a parser with an error per comma would record a stack for each

const jobs: Record<string, () => Promise<(...args: never[]) => unknown>> = workerJobs;

/** Loads a job and, with arguments, runs the job. */
parentPort!.on('message', async ({ name, args }: { name: string; args?: never[] }) => {
  try {
    const job = await jobs[name]!();
    parentPort!.postMessage({ value: args && (await job(...args)) });
  } catch (error) {
    parentPort!.postMessage({ error: error instanceof Error ? error.message : String(error) });
  }
});
parentPort!.postMessage('ready');
