// npm run e2e -- [mocha's arguments, e.g. -g deny]: real editors, real dialogs, driven from outside.
import { readdirSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { onceMore } from '../support/again.ts';
import { node, runCommand } from '../support/command.ts';
import { ensureChromium } from '../support/editor/chromium.ts';
import { whenToldToEnd } from '../support/editor/ending.ts';
import { ensureServer } from '../support/editor/install.ts';
import { patienceMs } from '../support/eventually.ts';
import { forgetReport, mochaArguments } from '../support/report.ts';
import { tries } from '../support/tries.ts';

/** Two more than processors, for an editor waits half of its time; what memory is there for. */
const jobs = String(Math.min(4, availableParallelism() + 2));

/** Of a test, which waits for many things: a hang, not a slow machine. The waits themselves end before, and say for what. */
const limitMs = String(4 * patienceMs);

/** They open several windows, reload again and again, watch every process, or have much to draw: all of it before a release (`npm test -- all`), or when asked for. */
const beforeRelease = ['connections', 'hostile', 'long', 'places', 'settings', 'worktree'];

const stopped = new AbortController();
whenToldToEnd(() => stopped.abort());
ensureChromium();
ensureServer();
await runCommand(node('esbuild.mjs'));

// Side by side, the long ones first: nobody waits for one of them at the end.
const clean = await mocha('e2e', ['--parallel', '--jobs', jobs, ...longestFirst('test/e2e')]);
process.exitCode = (await onceMore('e2e', clean, mocha)) ? 0 : 1;

async function mocha(part: string, which: string[]): Promise<boolean> {
  forgetReport(part);
  const options = ['--no-config', '--no-package', '--exit', '--timeout', limitMs, '--require', 'test/e2e/hooks.ts'];
  const command = node(...mochaArguments(part), ...options, ...which, ...process.argv.slice(2));
  return (await runCommand(command, { signal: stopped.signal })).code === 0;
}

function longestFirst(folder: string): string[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.test.ts'));
  const sizes = new Map(files.map((name) => [name, statSync(`${folder}/${name}`).size]));
  const rare = beforeRelease.map((name) => `${name}.test.ts`);
  const gone = rare.filter((name) => !files.includes(name));
  if (gone.length > 0) throw new Error(`There is no ${gone.join(', ')}.`);
  const usual = files.filter((name) => !rare.includes(name));
  usual.sort((one, other) => sizes.get(other)! - sizes.get(one)!);
  const isAll = process.argv.length > 2 || tries(0, 1) > 0;
  return [...(isAll ? rare : []), ...usual].map((name) => `${folder}/${name}`);
}
