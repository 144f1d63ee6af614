// A window in a process of its own, which comes to harm: node child.mjs <folder> <job> [<harm as JSON>]. It reports on fd 3.
import { writeSync } from 'node:fs';
import { type Harm, harmDisk } from './disk.ts';
import { type Job, openWindow, type Report } from './window.ts';

const [folder = '', job, harm] = process.argv.slice(2);
const report = (what: Report) => void writeSync(3, `${JSON.stringify(what)}\n`);
const operations = await harmDisk(folder, harm ? (JSON.parse(harm) as Harm) : undefined, (harmed) =>
  report({ harmed }),
);
const window = openWindow(folder, report);
const ended = await window[job as Job]();
report({ ended });
// It ends by itself when nothing is at work in it any more: what goes on after the end of a run is seen.
process.once('beforeExit', () => report({ operations }));
