// npm run bench -- sandboxOverhead [--only=true]: what the sandbox adds to a command, as medians of wall time until its result: the shell alone,
// `bwrap` alone with the namespaces and mounts of a small sandbox, and all of ours, in its stages. In turns, so that all have the same weather.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import * as paths from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SandboxedCommand } from '../../src/tools/commandSandbox/commandSandbox.ts';
import { createLinuxSandbox } from '../../src/tools/commandSandbox/linux/linuxSandbox.ts';
import { gitSafetySettings } from '../../src/tools/shell/bareRepositories.ts';
import { commandEnvironment } from '../../src/tools/shell/environment.ts';
import { built } from '../support/programs.ts';
import { inMs, line, median } from './measure.ts';
import { writeFiles } from './toolchains/writeFiles.ts';

const rounds = 40;
const maxAdded = 15;
const maxTimes = 3;
const isQuick = process.argv.includes('--only=true');

const parent = paths.join(homedir(), '.cache');
mkdirSync(parent, { recursive: true });
const base = realpathSync(mkdtempSync(paths.join(parent, 'towpath-overhead-')));
const folder = paths.join(base, 'project');
const forwarder = 'sandboxForwarder.cjs';
writeFiles(base, { [forwarder]: (await built(forwarder)).files.get(forwarder)! });
writeFiles(folder, { 'package.json': '{}', 'src/main.js': '', 'node_modules/one/index.js': '' });
execFileSync('git', ['init', '-q'], { cwd: folder });
const sandbox = createLinuxSandbox({
  store: paths.join(base, 'store'),
  forwarder: paths.join(base, forwarder),
  home: homedir(),
  hidden: [],
  folders: async () => [folder],
});
const availability = await sandbox.availability();
if (!availability.isAvailable) {
  console.log(`No sandbox here: ${availability.reason.english}`);
  process.exit(0);
}

const git = await gitSafetySettings();
const questions = { mayConnect: async () => false, mayKeep: async () => true };
const shell = (command: string) => ['/bin/sh', '-c', command];

/** Milliseconds until the process has ended and its output is read. */
async function timeOf([program, ...args]: readonly string[], command?: SandboxedCommand): Promise<number> {
  const started = performance.now();
  const env = { ...commandEnvironment(process.env, 'overhead', git), ...command?.environment };
  const child = command
    ? command.spawn([program!, ...args], env)
    : spawn(program!, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  child.stdout.resume();
  child.stderr.on('data', (text) => process.stderr.write(text));
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`${args.join(' ').slice(-300)} ended with ${code}.`);
  return performance.now() - started;
}

/** Milliseconds of each stage. */
async function inSandbox(script: string): Promise<Record<string, number>> {
  const started = performance.now();
  const command = await sandbox.begin({ runId: 'run', folder, folders: [folder], questions });
  const begun = performance.now();
  const run = await timeOf(shell(script), command);
  const ended = performance.now();
  await command.keep();
  const kept = performance.now();
  return { all: kept - started, begin: begun - started, run, keep: kept - ended };
}

const alone = [
  ...['bwrap', '--unshare-user', '--unshare-ipc', '--unshare-pid', '--unshare-uts', '--unshare-net', '--cap-drop', 'ALL'],
  ...['--new-session', '--die-with-parent', '--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
  ...['--bind', folder, folder, '--chdir', folder, '--'],
]; // biome-ignore format: arguments

const writing = (count: number) => `i=0; while [ $i -lt ${count} ]; do echo $i > "new-$i"; i=$((i + 1)); done`;
const scripts = [
  ['true', 'true', 1],
  ['10 files', writing(10), 1],
  ['5,000 files', writing(5000), 10],
] as const;

const times = new Map<string, number[]>();
for (let round = -5; round < rounds; round++) {
  for (const [name, script, every] of scripts) {
    if (round % every !== 0 || (isQuick && name !== 'true')) continue;
    const plain = await timeOf(shell(script));
    clean();
    const withBwrap = name === 'true' ? { [`bwrap alone, ${name}`]: await timeOf([...alone, ...shell(script)]) } : {};
    const stages = Object.entries(await inSandbox(script));
    clean();
    await sleep(50); // what is done after the result must not count for the others
    if (round < 0) continue;
    add(`shell alone, ${name}`, plain);
    for (const [key, milliseconds] of Object.entries(withBwrap)) add(key, milliseconds);
    for (const [stage, milliseconds] of stages)
      add(`sandbox, ${name}${stage === 'all' ? '' : `: ${stage}`}`, milliseconds);
  }
}
const series = performance.now();
for (let at = 0; at < rounds; at++) await inSandbox('true');
add('sandbox, true, without a pause', (performance.now() - series) / rounds);
await sandbox.close();
rmSync(base, { recursive: true, force: true });

for (const [name, all] of times) {
  const plain = median(times.get(`shell alone, ${/(true|10 files|5,000 files)/.exec(name)![1]}`)!);
  const own = median(all);
  const numbers = {
    median: inMs(own),
    least: inMs(Math.min(...all)),
    most: inMs(Math.max(...all)),
    'to plain': `${(own / plain).toFixed(1)} x`,
  };
  line(name, numbers, own, name === 'sandbox, true' ? Math.min(plain + maxAdded, plain * maxTimes) : Infinity);
}

function add(name: string, milliseconds: number): void {
  times.set(name, [...(times.get(name) ?? []), milliseconds]);
}

function clean(): void {
  for (const name of readdirSync(folder)) if (name.startsWith('new-')) rmSync(paths.join(folder, name));
}
