import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import { applyEdits } from '../../../src/tools/edit/applyEdits.ts';
import { casesOf, corpus, score } from '../../support/edits.ts';

// A slice of `npm run bench -- edits`, which plays all of it through the tool.
describe('edits: of real files, with the slips that models make', () => {
  const root = path.resolve(import.meta.dirname, '../../..');

  it('are right or refused', async () => {
    const files = corpus(root, 120);
    const cases = files.flatMap((file) => casesOf(file, readFileSync(path.join(root, file), 'utf8')));
    const failed: string[] = [];
    const scores = await score(
      cases,
      async ({ before, oldText, newText }) => {
        const mark = before.startsWith('\ufeff') ? '\ufeff' : '';
        const result = applyEdits(before.slice(mark.length), [{ oldText, newText }]);
        return result.ok ? mark + result.text : undefined;
      },
      (one, got) => failed.push(`${one.scenario} in ${one.file}: ${got === undefined ? 'refused' : 'wrong'}`),
    );
    const applied = scores.filter(({ scenario }) => cases.find((one) => one.scenario === scenario)!.expect !== null);
    const sum = (of: typeof scores, what: 'cases' | 'right' | 'wrong') =>
      of.reduce((total, one) => total + one[what], 0);
    assert.ok(sum(applied, 'cases') > 500 && scores.length > 18, 'every scenario has cases');
    assert.ok(sum(applied, 'right') / sum(applied, 'cases') >= 0.995, failed.join('\n'));
    assert.equal(sum(scores, 'wrong'), 0, failed.join('\n'));
  });
});
