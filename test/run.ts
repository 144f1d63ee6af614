// npm test [-- part …]: everything that has to hold, in order. The last line is the sum of all tests.
import { availableParallelism } from 'node:os';
import { binary, node, runCommand } from './support/command.ts';
import { ensureChromium } from './support/editor/chromium.ts';
import { whenToldToEnd } from './support/editor/ending.ts';
import { ensureServer } from './support/editor/install.ts';
import { forgetReport, mochaArguments, readReport } from './support/report.ts';
import { forgetSent } from './support/sent.ts';

interface Part {
  name: string;
  /** Parts that make no sense when this one failed. */
  neededBy?: string[];
  /** Its tests are counted from the report of this name. */
  counts?: true;
  run(signal: AbortSignal): Promise<boolean>;
}

/** Files side by side, as many as there are processors, up to what memory is there for. */
const jobs = String(Math.min(4, availableParallelism()));

const parts: Part[] = [
  {
    name: 'check',
    run: (signal) =>
      all(
        signal,
        [binary('@biomejs/biome', 'biome'), 'check', '.'],
        [binary('typescript', 'tsc'), '-p', '.'],
        [binary('typescript', 'tsc'), '-p', 'webview'],
      ),
  },
  { name: 'build', neededBy: ['host', 'e2e'], run: (signal) => all(signal, ['esbuild.mjs']) },
  {
    name: 'editor',
    neededBy: ['unit', 'host', 'e2e'],
    async run() {
      ensureChromium();
      ensureServer();
      return true;
    },
  },
  {
    name: 'unit',
    counts: true,
    run(signal) {
      forgetSent();
      return all(signal, node(...mochaArguments('unit'), '--parallel', '--jobs', jobs, 'test/**/*.test.ts'));
    },
  },
  { name: 'host', counts: true, run: (signal) => all(signal, node('test/host/run.ts')) },
  { name: 'e2e', counts: true, run: (signal) => all(signal, node('test/e2e/run.ts')) },
  {
    name: 'sent',
    counts: true,
    run: (signal) => all(signal, node(...mochaArguments('sent'), '--no-config', 'test/sent/*.test.ts')),
  },
];

/** Something hangs when it takes longer than this; the part that does is ended and has failed. */
const limitMs = 28 * 60_000;

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !parts.some((part) => part.name === name));
if (unknown.length) {
  console.error(`There is no part ${unknown.join(', ')}. Parts: ${parts.map((part) => part.name).join(', ')}.`);
  process.exit(2);
}

const stopped = new AbortController();
whenToldToEnd(() => stopped.abort());
const signal = AbortSignal.any([stopped.signal, AbortSignal.timeout(limitMs)]);

const summary: string[] = [];
const needless = new Set<string>();
let passed = 0;
let failed = 0;

for (const part of parts) {
  if (asked.length && !asked.includes(part.name)) continue;
  if (needless.has(part.name) || signal.aborted) {
    failed += 1;
    summary.push(line(part.name, 'not run'));
    continue;
  }
  console.log(`\n── ${part.name} ──`);
  if (part.counts) forgetReport(part.name);
  const started = Date.now();
  const ended = await part.run(signal).catch((error) => {
    console.error(error instanceof Error ? error.message : error);
    return false;
  });
  const counts = part.counts ? readReport(part.name) : undefined;
  const clean = ended && (!part.counts || (counts !== undefined && counts.passed > 0 && counts.failed === 0));
  passed += counts?.passed ?? 0;
  // What failed without a test to blame counts as one: the last line never says 0 failed when something did.
  failed += clean ? 0 : Math.max(1, counts?.failed ?? 0);
  if (!clean) for (const name of part.neededBy ?? []) needless.add(name);
  const words = counts ? `${counts.passed} passed, ${counts.failed} failed, ${counts.pending} pending` : '';
  summary.push(line(part.name, clean ? 'ok' : 'FAILED', Date.now() - started, words));
}

console.log(`\n── summary ──\n${summary.join('\n')}`);
if (signal.aborted) console.log(stopped.signal.aborted ? 'Stopped.' : `Ended after ${limitMs / 60_000} minutes.`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed || signal.aborted ? 1 : 0);

/** Runs every command, also after one failed: a format error must not hide a type error. */
async function all(signal: AbortSignal, ...commands: string[][]): Promise<boolean> {
  let clean = true;
  for (const command of commands) {
    const { code } = await runCommand(command, signal);
    if (code !== 0) clean = false;
  }
  return clean;
}

function line(name: string, state: string, ms?: number, words = ''): string {
  const elapsed = ms === undefined ? '' : `${(ms / 1000).toFixed(1)} s`;
  return `${name.padEnd(8)}${state.padEnd(9)}${elapsed.padStart(8)}  ${words}`.trimEnd();
}
