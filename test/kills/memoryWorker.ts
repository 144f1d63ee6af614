// A model's process that comes to harm at an operation on the disk: `harm` of the environment, in the first process that has it. What it
// does there is told in the file `log`, a line for each.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { type Harm, harmDisk } from './disk.ts';

const { folder, log, harm, worker } = JSON.parse(process.env.TOWPATH_KILLS!) as {
  folder: string;
  log: string;
  harm?: Harm;
  worker: string;
};
const isHarmed = existsSync(log) && readFileSync(log, 'utf8').includes('\nharmed ');
const operations = await harmDisk(folder, isHarmed ? undefined : harm, (name) =>
  appendFileSync(log, `\nharmed ${name}\n`),
);
operations.push = (...names) => {
  appendFileSync(log, `\n${names.join('\n')}\n`);
  return Array.prototype.push.apply(operations, names);
};
await import(worker);
