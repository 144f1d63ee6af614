// npm run bench [-- name …]: every benchmark in turn, or those named. Fails when one is over its budget.
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
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  console.error(`There is no benchmark ${unknown.join(', ')}. There are: ${all.join(', ')}.`);
  process.exit(2);
}
for (const name of asked.length > 0 ? asked : all) {
  console.log(`\n── ${name} ──`);
  const { code } = await runCommand(node(`test/bench/${name}.ts`), new AbortController().signal);
  if (code !== 0) process.exitCode = 1;
}
