// npm run bench -- day [--verbose]: days of commands as agents write them, with *Auto-approve reads* and *Always Allow* wherever it is
// offered: for the exact words, for the same command, or for the kind. How many of the harmless ones are asked about after the first
// ten, and what ran unasked that must not. The same with the preset of sandboxed commands, with one answer for each program that
// runs outside. Exits with 1 when something dangerous, or a change, ran unasked.
import { breadths, days, play } from '../support/day.ts';
import { line } from './measure.ts';

const verbose = process.argv.includes('--verbose');
const rows = [];
const asked = { exact: 0, row: 0, kind: 0, sandbox: 0 };
let outside = 0;
let answered = 0;
let harmless = 0;
let wrong = 0;
for (const day of days()) {
  const row: Record<string, number | string> = { project: day.id };
  for (const breadth of [...breadths, 'sandbox'] as const) {
    const played = await play(day, breadth);
    row.harmless = played.harmless;
    row[breadth] = played.asked;
    row[`${breadth} in 100`] = Math.round((100 * played.asked) / played.harmless);
    outside += played.outside.length;
    answered += played.answered.length;
    if (breadth === 'sandbox') row.outside = played.outside.length;
    asked[breadth] += played.asked;
    wrong += played.dangers.length + played.changes.length;
    for (const command of verbose ? [...played.questions, ...played.outside] : [])
      console.log(`  ${day.id} ${breadth} asks  ${command.replaceAll('\n', ' ⏎ ')}`);
    for (const command of [...played.dangers, ...played.changes])
      console.log(`  ${day.id} ${breadth} RAN UNASKED  ${command.replaceAll('\n', ' ⏎ ')}`);
  }
  harmless += Number(row.harmless);
  rows.push(row);
}
console.table(rows);
for (const breadth of breadths)
  line(
    `asked about, with rules for ${breadth}`,
    { asked: `${asked[breadth]}`, of: `${harmless}` },
    asked[breadth],
    Infinity,
  );
line(
  'asked about in the sandbox',
  {
    asked: `${asked.sandbox}`,
    of: `${harmless}`,
    'to run outside': `${outside}`,
    'answered by a rule for a program': `${answered}`,
  },
  asked.sandbox,
  0.03 * harmless,
);
line('ran unasked, and must not', { commands: `${wrong}` }, wrong, 0);
