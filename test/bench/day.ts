// npm run bench -- day [--verbose]: days of commands as agents write them, with *Reads are free* and *Always Allow* wherever it is
// offered. How many of the harmless ones are asked about after the first ten, and what ran unasked that must not. Exits with 1
// when something dangerous, or a change, ran unasked.
import { days, play } from '../support/day.ts';

const verbose = process.argv.includes('--verbose');
const rows = [];
let wrong = 0;
for (const day of days()) {
  const { id, harmless, asked, questions, dangers, changes } = await play(day);
  rows.push({
    project: id,
    harmless,
    asked,
    'in 100': Math.round((100 * asked) / harmless),
    'ran unasked': [...dangers, ...changes].length,
  });
  wrong += dangers.length + changes.length;
  for (const command of verbose ? questions : []) console.log(`  ${id} asks  ${command.replaceAll('\n', ' ⏎ ')}`);
  for (const command of [...dangers, ...changes])
    console.log(`  ${id} RAN UNASKED  ${command.replaceAll('\n', ' ⏎ ')}`);
}
console.table(rows);
process.exitCode = wrong > 0 ? 1 : 0;
