// npm run bench [-- name … --option …]: every benchmark in turn, or those named, each told the options. Of several, all that was
// measured comes as one table at the end. Fails when one is over its budget.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { node, runCommand } from '../support/command.ts';
import { rowsIn } from './measure.ts';
import { type Told, tableOf } from './table.ts';

const parts = new Set([
  'run.ts',
  'measure.ts',
  'table.ts',
  'llamaBench.ts',
  'localKeys.ts',
  'localLookup.ts',
  'localRounds.ts',
  'localSpeed.ts',
  'stopStages.ts',
  'grantFiles.ts',
  'grantLists.ts',
  'grantPrograms.ts',
  'grantRuns.ts',
  'sandboxToolchains.ts', // npm run toolchains
]);
const all = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && !parts.has(file))
  .map((file) => path.basename(file, '.ts'))
  .sort();
const options = process.argv.slice(2).filter((word) => word.startsWith('--'));
const asked = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const unknown = asked.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  console.error(`There is no benchmark ${unknown.join(', ')}. There are: ${all.join(', ')}.`);
  process.exit(2);
}

const folder = mkdtempSync(path.join(tmpdir(), 'towpath-bench-'));
const told: Told[] = [];
for (const name of asked.length > 0 ? asked : all) {
  console.log(`\n── ${name} ──`);
  const file = path.join(folder, name);
  const command = node(`test/bench/${name}.ts`, ...options);
  const { code } = await runCommand(command, { env: { [rowsIn]: file } });
  if (code !== 0) process.exitCode = 1;
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  told.push({ name, code, rows: lines.map((line) => JSON.parse(line)) });
}
rmSync(folder, { recursive: true });
if (told.length > 1) console.log(`\n── all of them ──\n${tableOf(told).join('\n')}`);
