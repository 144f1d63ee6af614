// npm run bench -- edits: edits of real files with the slips that models make, through fs.edit. Exits with 1 when fewer than 99.5 % of
// those that can be made are made right, or one is made that has to be refused; or when working out what comes of one costs too
// much, without reading and writing the file.
import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import { performance } from 'node:perf_hooks';
import { applyEdits } from '../../src/tools/edit/applyEdits.ts';
import { countChanges } from '../../src/tools/edit/diff.ts';
import { rejectOmittedCodePlaceholders } from '../../src/tools/edit/placeholder.ts';
import { linesWithoutEndings } from '../../src/tools/sandbox/fileText.ts';
import { casesOf, corpus, type EditCase, score } from '../support/edits.ts';
import { temporaryWorkspace } from '../support/workspace.ts';
import { conversation } from '../tools/conversation.ts';
import { inMs, line } from './measure.ts';

/** Milliseconds of CPU for each edit. */
const budget = 1;
const root = path.resolve(import.meta.dirname, '../..');
const verbose = process.argv.includes('--verbose');
const files = corpus(root, Number(process.argv[2]) || 400);
const cases = files.flatMap((file) => casesOf(file, readFileSync(path.join(root, file), 'utf8')));

const workspace = await temporaryWorkspace();
const { call } = conversation(workspace);
const started = performance.now();
const scores = await score(
  cases,
  async ({ before, oldText, newText }) => {
    workspace.write('file.txt', before);
    const outcome = await call('fs.edit', { path: 'file.txt', edits: [{ oldText, newText }] });
    return outcome.ok ? workspace.read('file.txt') : undefined;
  },
  (one, got) => {
    if (verbose)
      console.log(
        JSON.stringify({ ...one, before: undefined, expect: one.expect !== null, got: got !== undefined }, null, 1),
      );
  },
);
const seconds = (performance.now() - started) / 1000;
workspace.cleanup();

console.log(
  `${cases.length} edits of ${files.length} files, ${((seconds / cases.length) * 1000).toFixed(1)} ms each\n`,
);
console.table(
  scores.map(({ scenario, ...counts }) => ({
    scenario,
    ...counts,
    'right %': ((counts.right / counts.cases) * 100).toFixed(2),
  })),
);
const applied = cases.filter(({ expect }) => expect !== null).length;
const refusals = new Set(cases.filter(({ expect }) => expect === null).map(({ scenario }) => scenario));
const right = scores.filter(({ scenario }) => !refusals.has(scenario)).reduce((sum, one) => sum + one.right, 0);
const wrong = scores.reduce((sum, one) => sum + one.wrong, 0);
console.log(
  `${((right / applied) * 100).toFixed(2)} % of ${applied} applied right; ${wrong} silently wrong of ${cases.length}.`,
);
const before = process.cpuUsage();
for (const one of cases) workOut(one);
const { user, system } = process.cpuUsage(before);
const ms = (user + system) / 1000 / cases.length;
line('working out an edit', { CPU: inMs(ms) }, ms, budget);
const missed = applied - right;
line('not applied right', { edits: `${missed}`, of: `${applied}` }, missed, applied * 0.005);
line('silently wrong', { edits: `${wrong}`, of: `${cases.length}` }, wrong, 0);

/** As `fs.edit` does, of a text that was read. */
function workOut({ before, oldText, newText }: EditCase): void {
  const text = before.replace(/^\ufeff/, '');
  for (const given of [newText, oldText]) rejectOmittedCodePlaceholders(given, text);
  const made = applyEdits(text, [{ oldText, newText }]);
  if (made.ok) countChanges(linesWithoutEndings(text), linesWithoutEndings(made.text));
}
