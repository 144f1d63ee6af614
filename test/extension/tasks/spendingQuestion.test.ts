import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { DialogQuestion } from '../../../src/extension/dialogs/dialogs.ts';
import { createTaskOptions } from '../../../src/extension/tasks/delegationOptions.ts';
import { spendingQuestion } from '../../../src/extension/tasks/spendingQuestion.ts';
import { setLanguage } from '../../../src/protocol/text/l10n.ts';

const german = JSON.parse(
  readFileSync(path.join(import.meta.dirname, '../../../src/l10n/bundle.l10n.de.json'), 'utf8'),
);

describe('The question before tasks that could exceed a spending limit', () => {
  afterEach(() => setLanguage('en'));

  const cases = [
    [
      { tasks: 4, limit: 2, of: 'run' },
      'Start 4 tasks? They could exceed the limit of $2 for this run.',
      'Start Tasks',
    ],
    [
      { tasks: 2, limit: 0.5, of: 'day' },
      'Start 2 tasks? They could exceed the limit of $0.50 for today.',
      'Start Tasks',
    ],
    [{ tasks: 1, limit: 2, of: 'run' }, 'Start the task? It could exceed the limit of $2 for this run.', 'Start Task'],
    [{ tasks: 1, limit: 5, of: 'day' }, 'Start the task? It could exceed the limit of $5 for today.', 'Start Task'],
  ] as const;
  for (const [subject, text, start] of cases)
    it(text, () => assert.deepEqual(spendingQuestion(subject), { text, buttons: ["Don't Start", start], start }));

  it('names a run that is not shown, whose title cannot imitate the end of the line', () =>
    assert.equal(spendingQuestion(cases[0][0], 'Fix “a”\nnow').detail, '“Fix "a" ⏎ now”'));

  it('is in German', () => {
    setLanguage('de', german);
    assert.deepEqual(spendingQuestion({ tasks: 4, limit: 2.5, of: 'run' }), {
      text: '4 Aufgaben starten? Sie könnten die Grenze von 2,50 $ für diesen Lauf überschreiten.',
      buttons: ['Nicht starten', 'Aufgaben starten'],
      start: 'Aufgaben starten',
    });
  });

  it('starts nothing unless the button is pressed that says so', async () => {
    const asked: DialogQuestion[] = [];
    const confirm = (answer: string | undefined) =>
      createTaskOptions({
        today: async () => undefined,
        parallel: () => 4,
        list: { find: () => assert.fail(), use: () => assert.fail() },
        dialogs: {
          async askWhenQuiet(question) {
            asked.push(question);
            return answer;
          },
        },
        otherRun: (runId) => (runId === 'other' ? 'Another' : undefined),
      }).confirmSpending({ runId: 'other', ...cases[0][0] });
    assert.equal(await confirm('Start Tasks'), true);
    for (const answer of ["Don't Start", undefined]) assert.equal(await confirm(answer), false);
    assert.deepEqual(asked[0], { text: cases[0][1], detail: '“Another”', buttons: ["Don't Start", 'Start Tasks'] });
  });
});
