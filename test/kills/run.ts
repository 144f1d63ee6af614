// npm run kills [-- part …] [--every 5] [--seed 1] [--count 3] [--case work/37:half]: what holds when the editor is killed, or its
// disk fails, at every moment. `every`: only each fifth case; `count`: kills of the real editor (`editor`, which needs a build), and of a
// local model whose memory is on disk (`memory`), beside those at its operations.
import { parseArgs } from 'node:util';
import { whyNotMounted } from '../support/smallDisk.ts';
import { type Case, caseOf, type Played, Stage } from './case.ts';
import { type CommandCase, CommandStage, commandCaseOf } from './commands.ts';
import { playDamages } from './damage.ts';
import { killEditors } from './editor.ts';
import { type MemoryCase, MemoryStage, memoryCaseOf } from './memory.ts';
import { approvals, diskFaults, doubles, type Operations, points, rooms, said, storeGone, times } from './parts.ts';
import { type Row, tableOf } from './table.ts';
import { type TaskCase, TaskStage, taskCaseOf } from './tasks.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    case: { type: 'string', multiple: true, default: [] },
    every: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '50' },
  },
});
const [every, seed, count] = [values.every, values.seed, values.count].map(Number) as [number, number, number];

/** Each gives what came of it, or why it was left out. */
const parts: Record<string, () => Promise<Played[] | string>> = {
  points: () => staged((operations) => points(operations)),
  said: () => staged(said),
  doubles: () => staged((operations) => doubles(operations, seed)),
  times: () => staged(() => times(seed)),
  approvals: () => staged(() => approvals(seed)),
  faults: () => staged(diskFaults),
  gone: () => staged(storeGone),
  rooms: async () => whyNotMounted() ?? staged(rooms),
  damage: () => damaged(Array.from({ length: 10_000 }, (_, number) => number)),
  memory: () => remembered((stage) => stage.cases(seed, Math.min(count, 60))),
  commands: () => commanded((stage) => stage.points()),
  tasks: () => delegated((stage) => stage.points()),
  'tasks twice': () => delegated((stage) => stage.doubles(seed)),
  drawn: () => commanded(async (stage) => stage.drawn(seed)),
  editor: async () => {
    const played: Played[] = [];
    await killEditors(count, seed, (one) => played.push(noted(one)));
    return played;
  },
};
const unknown = positionals.filter((name) => !(name in parts));
if (unknown.length > 0) {
  console.error(`There is no part ${unknown.join(', ')}. There are: ${Object.keys(parts).join(', ')}.`);
  process.exit(2);
}

const isDamage = (name: string) => /^damage\/\d+$/.test(name);
let stage: Stage | undefined;
const rows: Row[] = [];
try {
  if (values.case.length > 0) {
    const memories = values.case.filter((name) => name.startsWith('memory/'));
    const damages = values.case.filter(isDamage);
    const commands = values.case.filter((name) => name.startsWith('commands/'));
    const tasks = values.case.filter((name) => name.startsWith('tasks/'));
    const others = [...memories, ...commands, ...tasks];
    const cases = values.case.filter((name) => !isDamage(name) && !others.includes(name));
    if (memories.length > 0)
      rows.push({ part: 'memory', played: await remembered(async () => memories.map(memoryCaseOf)) });
    if (commands.length > 0)
      rows.push({ part: 'commands', played: await commanded(async () => commands.map(commandCaseOf)) });
    if (tasks.length > 0) rows.push({ part: 'tasks', played: await delegated(async () => tasks.map(taskCaseOf)) });
    if (cases.length > 0) rows.push({ part: 'asked', played: await staged(() => cases.map(caseOf)) });
    if (damages.length > 0)
      rows.push({ part: 'damage', played: await damaged(damages.map((name) => Number(name.slice(7)))) });
  } else
    for (const part of positionals.length > 0 ? positionals : Object.keys(parts)) {
      const result = await parts[part]!();
      rows.push(typeof result === 'string' ? { part, played: [], leftOut: result } : { part, played: result });
    }
  console.log(tableOf(rows));
  if (rows.some(({ played }) => played.some(({ breaches }) => breaches.length > 0))) process.exitCode = 1;
} finally {
  stage?.close();
}

/** Two at a time: each waits for the disk and for commands. */
async function staged(casesOf: (operations: Operations) => Case[]): Promise<Played[]> {
  stage ??= await Stage.open();
  const [on, operations] = [stage, await stage.allOperations()];
  return playAll(on, casesOf(operations));
}

async function playAll<One>(on: { play(one: One): Promise<Played> }, cases: readonly One[]): Promise<Played[]> {
  const waiting = cases.filter((_, index) => index % every === 0);
  const played: Played[] = [];
  const work = async () => {
    for (let one = waiting.shift(); one; one = waiting.shift()) played.push(noted(await on.play(one)));
  };
  await Promise.all([work(), work()]);
  return played;
}

async function commanded(casesOf: (stage: CommandStage) => Promise<CommandCase[]>): Promise<Played[]> {
  const on = await CommandStage.open();
  try {
    return await playAll(on, await casesOf(on));
  } finally {
    on.close();
  }
}

async function delegated(casesOf: (stage: TaskStage) => Promise<TaskCase[]>): Promise<Played[]> {
  const on = await TaskStage.open();
  try {
    return await playAll(on, await casesOf(on));
  } finally {
    on.close();
  }
}

async function remembered(casesOf: (stage: MemoryStage) => Promise<MemoryCase[]>): Promise<Played[]> {
  const on = await MemoryStage.open();
  try {
    const played: Played[] = [];
    for (const [index, one] of (await casesOf(on)).entries())
      if (index % every === 0) played.push(noted(await on.play(one)));
    return played;
  } finally {
    on.close();
  }
}

async function damaged(numbers: number[]): Promise<Played[]> {
  stage ??= await Stage.open();
  return playDamages(
    stage,
    numbers.filter((_, index) => index % every === 0),
    seed,
  );
}

/** Whoever waits sees where it is, and what does not hold. */
function noted(one: Played): Played {
  for (const { invariant, what } of one.breaches) process.stderr.write(`${one.name}: ${invariant} ${what}\n`);
  if (process.stderr.isTTY) process.stderr.write(`\r${one.name.padEnd(40)}\r`);
  return one;
}
