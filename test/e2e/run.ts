// npm run e2e -- [undo strip …] [mocha's options, e.g. -g deny]: files of this folder in real editors with real dialogs.
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { onceMore } from '../support/again.ts';
import { node, runCommand } from '../support/command.ts';
import { ensureChromium } from '../support/editor/chromium.ts';
import { whenToldToEnd } from '../support/editor/ending.ts';
import { ensureServer } from '../support/editor/install.ts';
import { patienceMs } from '../support/eventually.ts';
import { forgetReport, mochaArguments } from '../support/report.ts';
import { currentStep, walkFiles } from '../support/steps.ts';

/** Two more than processors, for an editor waits half of its time; what memory is there for. */
const jobs = String(Math.min(4, availableParallelism() + 2));

/** Of a test, which waits for many things: a hang, not a slow machine. The waits themselves end before, and say for what. */
const limitMs = String(4 * patienceMs);

const stopped = new AbortController();
whenToldToEnd(() => stopped.abort());
ensureChromium();
ensureServer();
await runCommand(node('esbuild.mjs'));

const given = process.argv.slice(2);
const firstOption = given.findIndex((one) => one.startsWith('-'));
const names = firstOption < 0 ? given : given.slice(0, firstOption);
const options = given.slice(names.length);
const files = walkFiles(given.length > 0 ? 'all' : currentStep()).filter(
  (file) => names.length === 0 || names.includes(path.basename(file, '.test.ts')),
);
const clean = await mocha('e2e', ['--parallel', '--jobs', jobs, ...files]);
process.exitCode = (await onceMore('e2e', clean, mocha)) ? 0 : 1;

async function mocha(part: string, which: string[]): Promise<boolean> {
  forgetReport(part);
  const usual = ['--no-config', '--no-package', '--exit', '--timeout', limitMs, '--require', 'test/e2e/hooks.ts'];
  const command = node(...mochaArguments(part), ...usual, ...which, ...options);
  return (await runCommand(command, { signal: stopped.signal })).code === 0;
}
