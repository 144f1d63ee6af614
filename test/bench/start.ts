// What starting costs, in CPU time of a fresh process each, in turns: ours loaded and activated, and then its panel shown for the first
// time, beside what extensions that ship with the editor cost before they are activated at all. And how large the scripts are.
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import path from 'node:path';
import { ensureServer } from '../support/editor/install.ts';
import { inMs, line, median, rounds } from './measure.ts';

const panelBudget = 350_000;

const root = path.resolve(import.meta.dirname, '../..');
const { status } = spawnSync(process.execPath, ['esbuild.mjs'], { cwd: root, stdio: 'inherit' });
if (status !== 0) process.exit(1);

const shipped = path.join(ensureServer().root, 'extensions');
const programs: Record<string, string[]> = {
  'Towpath, loaded and activated': ['dist/extension.cjs', 'activate'],
  'Towpath, its panel first shown': ['dist/extension.cjs', 'show'],
  'Git, loaded': [path.join(shipped, 'git/dist/main.js')],
  'TypeScript, loaded': [path.join(shipped, 'typescript-language-features/dist/extension.js')],
  'Markdown, loaded': [path.join(shipped, 'markdown-language-features/dist/extension.js')],
};

/** Milliseconds. */
const budgets: Record<string, number> = {
  'Towpath, loaded and activated': 50,
  'Towpath, its panel first shown': 100,
};

const costs = new Map<string, number[]>();
for (let round = -1; round < rounds; round++)
  for (const [name, args] of Object.entries(programs)) {
    const { stdout, stderr } = spawnSync(process.execPath, ['test/bench/startOne.cjs', ...args], { cwd: root });
    const ms = Number.parseFloat(String(stdout));
    if (Number.isNaN(ms)) throw new Error(`${name}: ${String(stderr).slice(-1000)}`);
    if (round >= 0) costs.set(name, [...(costs.get(name) ?? []), ms]); // the first one warms up the disk
  }
for (const [name, all] of costs)
  line(name, { median: inMs(median(all)), most: inMs(Math.max(...all)) }, median(all), budgets[name] ?? Infinity);
for (const name of ['panel.js', 'highlight.js', 'extension.cjs', 'main.cjs']) {
  const { size } = statSync(path.join(root, 'dist', name));
  line(name, { size: `${Math.round(size / 1000)} KB` }, size, name === 'panel.js' ? panelBudget : Infinity);
}
