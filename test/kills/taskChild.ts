// A window whose run gives tasks, in a process of its own, which is killed: node child.mjs <folder> [<harm as JSON>]. It reports on fd 3.
import { writeSync } from 'node:fs';
import { type Harm, harmDisk } from './disk.ts';
import { openTaskWindow, type TaskReportLine } from './taskWindow.ts';

const [folder = '', harm] = process.argv.slice(2);
const report = (line: TaskReportLine) => void writeSync(3, `${JSON.stringify(line)}\n`);
const operations = await harmDisk(folder, harm ? (JSON.parse(harm) as Harm) : undefined, (harmed) =>
  report({ harmed }),
);
report({ ended: await openTaskWindow(folder, report).work() });
process.once('beforeExit', () => report({ operations }));
