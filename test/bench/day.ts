// npm run bench -- day [--verbose]: days of commands as agents write them, with *Reads are free* and *Always Allow* wherever it is
// offered. How many of the harmless ones are asked about after the first ten, and what ran unasked that must not. Exits with 1
// when something dangerous, or a change, ran unasked.
import { days, play } from '../support/day.ts';
import { line } from './measure.ts';

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
const harmless = rows.reduce((sum, row) => sum + row.harmless, 0);
const asked = rows.reduce((sum, row) => sum + row.asked, 0);
line('asked about, of harmless ones', { asked: `${asked}`, of: `${harmless}` }, asked, Infinity);
line('ran unasked, and must not', { commands: `${wrong}` }, wrong, 0);
