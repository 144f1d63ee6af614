// npm test [-- part … | quick | ci | all]: the usual tests, those of CI, or those of a release (`support/steps.ts`), in order.
// The last line is the sum of all tests. `quick`: what a change breaks most often.
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { findRealModels } from './real/models.ts';
import { onceMore } from './support/again.ts';
import { binary, type CommandOptions, node, runCommand } from './support/command.ts';
import { whenToldToEnd } from './support/editor/ending.ts';
import { projectRoot } from './support/editor/project.ts';
import { temporaryInMemory } from './support/inMemory.ts';
import { failuresOf, forgetReport, mochaArguments, readReport } from './support/report.ts';
import { forgetSent } from './support/sent.ts';
import { type Step, unitFiles } from './support/steps.ts';

interface Part {
  name: string;
  /** Parts that make no sense when this one failed. */
  neededBy?: string[];
  /** Its tests are counted from the report of this name. */
  counts?: true;
  /** The step that it is first part of; without one it is part of all. */
  from?: 'ci' | 'all';
  /** Runs only when it is named. */
  named?: true;
  /** Returns why the part is left out on this machine; it counts as one pending test then. */
  leftOut?(): Promise<string | undefined>;
  /** It runs while this one does, which leaves a processor idle. What it has to say comes after that. */
  beside?: string;
  run(options: CommandOptions): Promise<boolean>;
}

/** Files side by side: one more than there are processors, for some wait, up to what memory is there for. */
const jobs = Math.min(4, availableParallelism() + 1);

/** VS Code 1.139. The tests run in the oldest that Towpath supports, and before a release in this one, too. */
const newestEditor = '4.139.1';

/** Most of what the folders of `quick` cost, for what a change breaks rarely: it tries much, or takes long to be ended. */
const notQuick = [
  'engine/run/failingStore',
  'engine/context/compactionHistories',
  'extension/worker/jobWorker',
  'extension/commit/commitChanges',
  'extension/view/delivery',
  'workflows/package/increments',
  'workflows/run/flows',
];

/** A package, installed into a fresh editor. */
const installed = [
  ...[binary('mocha'), '--no-config', '--no-package', '--exit', '--timeout', '120000'],
  ...['--require', 'test/e2e/hooks.ts', 'test/build/package/editor/*.test.ts'],
];

const asked = process.argv.slice(2);
/** A part that is named runs as in CI. */
const step: Step = isAsked('all') ? 'all' : asked.length > 0 ? 'ci' : 'usual';

const parts: Part[] = [
  {
    name: 'check',
    async run(options) {
      const [tsc, biome] = [binary('typescript', 'tsc'), binary('@biomejs/biome', 'biome')];
      // The longest beside the others.
      const clean = [all(options, [tsc, '-p', '.']), all(options, [biome, 'check', '.'], [tsc, '-p', 'webview'])];
      return (await Promise.all(clean)).every(Boolean);
    },
  },
  {
    name: 'build',
    neededBy: ['host', 'e2e'],
    beside: 'check',
    run: (options) => all(options, ['esbuild.mjs']),
  },
  {
    name: 'editor',
    neededBy: ['unit', 'host', 'e2e'],
    beside: 'check',
    run: (options) => all(options, node('test/support/editor/prepare.ts')),
  },
  {
    name: 'unit',
    counts: true,
    async run(options) {
      forgetSent();
      const mocha = async (part: string, which: string[]) => {
        forgetReport(part);
        return all(options, node(...mochaArguments(part), ...which));
      };
      const clean = await mocha('unit', [
        '--parallel',
        '--jobs',
        String(step === 'usual' ? jobs - 1 : jobs),
        ...unitFiles(step),
      ]);
      return onceMore('unit', clean, mocha);
    },
  },
  { name: 'host', counts: true, run: (options) => all(options, node('test/host/run.ts')) },
  {
    name: 'sent',
    counts: true,
    from: 'ci',
    beside: 'host',
    run: (options) => all(options, node(...mochaArguments('sent'), '--no-config', 'test/llm/chatTemplates/*.test.ts')),
  },
  {
    name: 'package',
    counts: true,
    beside: 'host',
    run: (options) => all(options, node(...mochaArguments('package'), '--no-config', 'test/build/package/*.test.ts')),
  },
  {
    name: 'e2e',
    counts: true,
    // Editors wait about half of their time.
    ...(step === 'usual' && { beside: 'unit' }),
    run(options) {
      const env: CommandOptions['env'] = step === 'all' ? { TOWPATH_TRIES: 'many' } : {};
      return all({ ...options, env }, node('test/e2e/run.ts'));
    },
  },
  {
    name: 'real',
    counts: true,
    from: 'ci',
    leftOut: async () => ((await findRealModels()).some(({ file }) => file) ? undefined : 'no registry'),
    run(options) {
      // All figures when it is named.
      const env: CommandOptions['env'] = isAsked('real') ? { TOWPATH_TRIES: 'many' } : {};
      return all(
        { ...options, env },
        node(...mochaArguments('real'), '--no-config', '--timeout', '600000', 'test/real/*.test.ts'),
      );
    },
  },
  {
    name: 'quick',
    counts: true,
    named: true,
    run(options) {
      const folders = ['protocol', 'engine', 'workflows', 'extension'];
      const files = ['test/architecture.test.ts', ...folders.map((folder) => `test/${folder}/**/*.test.ts`)];
      const ignored = notQuick.flatMap((file) => ['--ignore', `test/${file}.test.ts`]);
      return all(options, node(...mochaArguments('quick'), '--parallel', '--jobs', String(jobs), ...ignored, ...files));
    },
  },
  onlyAll('newest', ['test/e2e/run.ts'], { CODE_SERVER_VERSION: newestEditor, TOWPATH_TRIES: 'many' }),
  onlyAll('tries', [binary('mocha'), '--timeout', '0', ...filesThatTry()], { TOWPATH_TRIES: 'many' }),
  onlyAll('installed', installed),
  onlyAll('installed-newest', installed, { CODE_SERVER_VERSION: newestEditor }),
  onlyAll('races', [binary('mocha'), 'test/tools/sandbox/races.test.ts'], { TOWPATH_RACES: '100000' }),
  onlyAll('histories', [binary('mocha'), '--timeout', '0', 'test/engine/context/compactionHistories.test.ts'], {
    TOWPATH_HISTORIES: '10000',
  }),
  onlyAll('flows', [binary('mocha'), '--timeout', '0', 'test/workflows/run/flows.test.ts'], { TOWPATH_FLOWS: '10000' }),
  onlyAll('discards', [binary('mocha'), '--timeout', '0', 'test/tools/snapshot/discards.test.ts'], {
    TOWPATH_DISCARDS: 'all',
  }),
  onlyAll('undos', [binary('mocha'), '--timeout', '0', 'test/tools/snapshot/randomRuns.test.ts'], {
    TOWPATH_UNDO_RUNS: '1000',
    TOWPATH_UNDO_BUILDS: '50',
  }),
  onlyAll('foreign', ['test/l10n/foreign.ts']),
  onlyAll('sampled', [binary('mocha'), 'test/llm/local/worker/sampled.test.ts'], { TOWPATH_SAMPLED: '25' }),
  onlyAll('kills', ['test/kills/run.ts']),
];

/** What is run before a release: the same with many more tries, or with another editor. */
function onlyAll(name: string, command: string[], env: Record<string, string> = {}): Part {
  return { name, from: 'all', run: (options) => all({ ...options, env }, node(...command)) };
}

/** The files in which more is tried before a release (`support/tries.ts`): what chance makes, and where a reply can be cut. */
function filesThatTry(): string[] {
  const text = (file: string) => readFileSync(path.join(projectRoot, file), 'utf8');
  return unitFiles('all').filter((file) => /support\/tries\.ts|\/(recordedCases|serve)\.ts/.test(text(file)));
}

process.env.TOWPATH_STEP = step;
if (step === 'all') process.env.TOWPATH_PICTURES = 'all';

/** Minutes after which something hangs: the part that still runs is ended and has failed. */
const limitMinutes = Number(process.env.TOWPATH_TEST_MINUTES ?? (step === 'usual' ? 28 : 80));

const known = [...parts.map((part) => part.name), 'ci', 'all'];
const unknown = asked.filter((name) => !known.includes(name));
if (unknown.length) {
  console.error(`There is no part ${unknown.join(', ')}. Parts: ${known.join(', ')}.`);
  process.exit(2);
}

// Before a release, temporary files are on the disk, where people have theirs, and what tests have come to is drawn.
const memory = step === 'all' ? undefined : temporaryInMemory();
if (memory) process.env.TMPDIR = memory;

const ending = new AbortController();
const { signal } = ending;
whenToldToEnd(() => ending.abort('Stopped.'));
// By the clock on the wall, looked at again and again: what slept or stood still meanwhile has taken that long, too.
const began = Date.now();
setInterval(() => {
  if (Date.now() - began > limitMinutes * 60_000 && step !== 'all')
    ending.abort(`Ended after ${limitMinutes} minutes.`);
}, 250).unref();

const held = mkdtempSync(path.join(tmpdir(), 'towpath-said-'));
const summary: string[] = [];
const whatFailed: string[] = [];
const needless = new Set<string>();
let passed = 0;
let failed = 0;

for (const [first, ...beside] of sideBySide(parts.filter(isWanted))) {
  const files = beside.map(({ name }) => path.join(held, name));
  const outputs = files.map((file) => openSync(file, 'w'));
  await Promise.all([run(first!), ...beside.map((part, nth) => run(part, outputs[nth]))]);
  for (const output of outputs) closeSync(output);
  for (const [nth, { name }] of beside.entries()) console.log(`\n── ${name} ──\n${readFileSync(files[nth]!, 'utf8')}`);
}
rmSync(held, { recursive: true });

/** @param output where what it says is held back */
async function run(part: Part, output?: number): Promise<void> {
  const { name, counts, neededBy = [] } = part;
  const place = summary.push('') - 1;
  if (needless.has(name) || signal.aborted) {
    failed += 1;
    summary[place] = line(name, 'not run');
    return;
  }
  const reason = await part.leftOut?.();
  if (reason !== undefined) {
    summary[place] = `${line(`${name}: left out (${reason})`, '')}  0 passed, 0 failed, 1 pending`;
    return;
  }
  if (output === undefined) console.log(`\n── ${name} ──`);
  if (counts) forgetReport(name);
  const started = Date.now();
  const ended = await part.run({ signal, ...(output !== undefined && { output }) }).catch((error) => {
    console.error(error instanceof Error ? error.message : error);
    return false;
  });
  const counted = counts ? readReport(name) : undefined;
  const clean = ended && (!counts || (counted !== undefined && counted.passed > 0 && counted.failed === 0));
  passed += counted?.passed ?? 0;
  // What failed without a test to blame counts as one: the last line never says 0 failed when something did.
  failed += clean ? 0 : Math.max(1, counted?.failed ?? 0);
  if (counts) whatFailed.push(...failuresOf(name).failures);
  if (!clean) for (const other of neededBy) needless.add(other);
  const words = counted ? `${counted.passed} passed, ${counted.failed} failed, ${counted.pending} pending` : '';
  summary[place] = line(name, clean ? 'ok' : 'FAILED', Date.now() - started, words);
}

if (whatFailed.length > 0) console.log(`\n── failed ──\n${whatFailed.join('\n')}`);
console.log(`\n── summary ──\n${summary.join('\n')}`);
if (signal.aborted) console.log(signal.reason);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed || signal.aborted ? 1 : 0);

/** Those that run together, the one that is heard at once first. */
function sideBySide(wanted: Part[]): Part[][] {
  const groups: Part[][] = [];
  for (const part of wanted) {
    const group = groups.find(([first]) => first!.name === part.beside);
    if (group) group.push(part);
    else groups.push([part]);
  }
  return groups;
}

function isWanted({ name, from, named }: Part): boolean {
  if (isAsked(name) || (isAsked('quick') && name === 'check')) return true;
  const isWholeStep = asked.every((one) => one === 'ci' || one === 'all');
  return isWholeStep && !named && (from === undefined || from === step || step === 'all');
}

function isAsked(name: string): boolean {
  return asked.includes(name);
}

/** Runs every command, also after one failed: a format error must not hide a type error. */
async function all(options: CommandOptions, ...commands: string[][]): Promise<boolean> {
  let clean = true;
  for (const command of commands) {
    const { code } = await runCommand(command, options);
    if (code !== 0) clean = false;
  }
  return clean;
}

function line(name: string, state: string, ms?: number, words = ''): string {
  const elapsed = ms === undefined ? '' : `${(ms / 1000).toFixed(1)} s`;
  return `${name.padEnd(16)}${state.padEnd(9)}${elapsed.padStart(8)}  ${words}`.trimEnd();
}
