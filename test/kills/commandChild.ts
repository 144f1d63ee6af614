// A window that runs a command, in a process of its own, which comes to harm: node child.mjs <what, as JSON>. It reports on fd 3, and every
// program that it starts holds fd 4, so that their end is seen after its own.
import type { SpawnOptions } from 'node:child_process';
import { writeSync } from 'node:fs';
import { type CommandJob, openCommandWindow } from './commandWindow.ts';
import { type Harm, harmDisk } from './disk.ts';

/** What the child is told. `library` counts the calls of the command that change files, in `count`; at `step` it kills. */
export interface ChildTask {
  folder: string;
  job: CommandJob;
  command: string;
  harm?: Harm;
  counting?: { library: string; count: string; step: number; withGroup: boolean };
}

const { folder, job, command, harm, counting }: ChildTask = JSON.parse(process.argv[2]!);
const report = (what: object) => void writeSync(3, `${JSON.stringify(what)}\n`);

function started(options: SpawnOptions): SpawnOptions {
  const stdio = Array.isArray(options.stdio) ? options.stdio : ['pipe' as const, 'pipe' as const, 'pipe' as const];
  const isCommand = options.env?.TOWPATH_COMMAND !== undefined;
  const variables = isCommand &&
    counting && {
      LD_PRELOAD: counting.library,
      KILLS_COUNT: counting.count,
      KILLS_AT: String(counting.step),
      KILLS_WINDOW: String(process.pid),
      ...(counting.withGroup && { KILLS_GROUP: '1' }),
    };
  return { ...options, stdio: [...stdio.slice(0, 3), 'ignore', 4], env: { ...options.env, ...variables } };
}

const operations = await harmDisk(folder, harm, (harmed) => report({ harmed }), started);
const window = openCommandWindow(folder, command);
report({ ended: await window[job]() });
await window.close();
process.once('beforeExit', () => report({ operations }));
