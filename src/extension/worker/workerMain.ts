import { parentPort } from 'node:worker_threads';
import { workerJobs } from './workerJobs.ts';

// The program of the thread aside. One job at a time is given to it; it may be ended at any moment.

Error.stackTraceLimit = 0; // a parser that makes an error for each comma would write down its stack each time

const jobs: Record<string, () => Promise<(...args: never[]) => unknown>> = workerJobs;

/** Without arguments a job is only loaded. */
parentPort!.on('message', async ({ name, args }: { name: string; args?: never[] }) => {
  try {
    const job = await jobs[name]!();
    parentPort!.postMessage({ value: args && (await job(...args)) });
  } catch (error) {
    parentPort!.postMessage({ error: error instanceof Error ? error.message : String(error) });
  }
});
parentPort!.postMessage('ready');
