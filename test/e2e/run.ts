// npm run e2e -- [mocha's arguments, e.g. -g deny]: real editors, real dialogs, driven from outside.
import { readdirSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { node, runCommand } from '../support/command.ts';
import { ensureChromium } from '../support/editor/chromium.ts';
import { whenToldToEnd } from '../support/editor/ending.ts';
import { ensureServer } from '../support/editor/install.ts';
import { failuresOf, forgetReport, mochaArguments, readReport, replaceInReport } from '../support/report.ts';

/** Two processors are enough for two editors and what they wait for. */
const jobs = String(Math.min(3, availableParallelism()));

const stopped = new AbortController();
whenToldToEnd(() => stopped.abort());
ensureChromium();
ensureServer();
await runCommand(node('esbuild.mjs'));

// Side by side, the long ones first: nobody waits for one of them at the end.
let code = await mocha('e2e', ['--parallel', '--jobs', jobs, ...longestFirst('test/e2e')]);
const { files, titles } = failuresOf('e2e');
// A browser, an editor and a loaded machine: a few that failed are asked once more, in editors of their own, and named.
if (files.length > 0 && files.length <= 3 && !stopped.signal.aborted) {
  console.log(`\n── again, in a fresh editor ──\n${titles.join('\n')}\n`);
  code = await mocha('e2e-again', files);
  replaceInReport('e2e', 'e2e-again', files);
}
const counts = readReport('e2e');
if (!counts?.passed) console.error(counts ? 'No test has run.' : 'The run ended before its report.');
process.exitCode = code === 0 && counts?.passed && counts.failed === 0 ? 0 : 1;

async function mocha(part: string, which: string[]): Promise<number> {
  forgetReport(part);
  const options = ['--no-config', '--no-package', '--exit', '--timeout', '120000', '--require', 'test/e2e/hooks.ts'];
  const command = node(...mochaArguments(part), ...options, ...which, ...process.argv.slice(2));
  return (await runCommand(command, stopped.signal)).code;
}

function longestFirst(folder: string): string[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.test.ts'));
  const sizes = new Map(files.map((name) => [name, statSync(`${folder}/${name}`).size]));
  return files.sort((one, other) => sizes.get(other)! - sizes.get(one)!).map((name) => `${folder}/${name}`);
}
