// npm run bench [-- name … --option …]: every benchmark in turn, or those named, each told the options. Fails when one is over its
// budget.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { node, runCommand } from '../support/command.ts';

const parts = new Set([
  'run.ts',
  'measure.ts',
  'localRounds.ts',
  'stopStages.ts',
  'grantFiles.ts',
  'grantLists.ts',
  'grantPrograms.ts',
  'grantRuns.ts',
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
for (const name of asked.length > 0 ? asked : all) {
  console.log(`\n── ${name} ──`);
  const { code } = await runCommand(node(`test/bench/${name}.ts`, ...options), new AbortController().signal);
  if (code !== 0) process.exitCode = 1;
}
