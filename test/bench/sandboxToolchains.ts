// npm run toolchains [-- row … --compare --keep]: everyday runs of the toolchains of this machine in the real sandbox, each twice. Prints a
// Markdown table. Only package registries are allowed; protected files are kept. `--compare` repeats what fails outside of the sandbox,
// which writes to the caches of the user. `--keep` leaves the projects. Takes half an hour with all rows.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import * as paths from 'node:path';
import { createLinuxSandbox } from '../../src/tools/commandSandbox/linux/linuxSandbox.ts';
import { built } from '../support/programs.ts';
import { javaScriptRows } from './toolchains/javaScriptRows.ts';
import { nativeRows } from './toolchains/nativeRows.ts';
import { pythonRows } from './toolchains/pythonRows.ts';
import { repositoryRows } from './toolchains/repositoryRows.ts';
import type { ToolchainRow } from './toolchains/row.ts';
import { playRow } from './toolchains/runRow.ts';
import { systemRows } from './toolchains/systemRows.ts';
import { writeFiles } from './toolchains/writeFiles.ts';

const options = process.argv.slice(2).filter((word) => word.startsWith('--'));
const names = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const all: readonly ToolchainRow[] = [
  ...javaScriptRows,
  ...pythonRows,
  ...nativeRows,
  ...repositoryRows,
  ...systemRows,
];
const rows = names.length === 0 ? all : all.filter(({ run }) => names.some((name) => run.includes(name)));

const parent = paths.join(homedir(), '.cache');
mkdirSync(parent, { recursive: true });
const base = mkdtempSync(paths.join(parent, 'towpath-toolchains-'));
const forwarder = 'sandboxForwarder.cjs';
writeFiles(base, { [forwarder]: (await built(forwarder)).files.get(forwarder)! });
const sandbox = createLinuxSandbox({
  store: paths.join(base, 'store'),
  forwarder: paths.join(base, forwarder),
  home: homedir(),
  hidden: [],
  folders: async () => [],
  log: (text) => console.error(text),
});
const availability = await sandbox.availability();
if (!availability.isAvailable) {
  console.error(`No sandbox here: ${availability.reason.english}`);
  process.exit(2);
}

const table = ['| run | first | second | asked | verdict |', '|---|---|---|---|---|'];
for (const [at, row] of rows.entries()) {
  const folder = paths.join(base, `project${at}`);
  const played = await playRow(sandbox, row, folder, options.includes('--compare'));
  console.error(`${row.run}: ${played.verdict}`);
  for (const line of played.problems) console.error(`    ${line}`);
  const cell = (texts: readonly string[]) => (texts.length === 0 ? '–' : texts.join(', '));
  table.push(`| ${row.run} | ${played.first} | ${played.second} | ${cell(played.asked)} | ${played.verdict} |`);
}
await sandbox.close();
if (options.includes('--keep')) console.error(base);
else rmSync(base, { recursive: true, force: true });
console.log(table.join('\n'));
