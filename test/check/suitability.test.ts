import assert from 'node:assert/strict';
import { suitableUses } from '../../src/check/suitability.ts';
import { modelCheckTasks } from '../../src/check/tasks.ts';
import { toEnglishText } from '../../src/protocol/text/l10n.ts';

const all: readonly string[] = modelCheckTasks.map(({ id }) => id);

/** The uses of a model that passes these tasks and no other. */
const uses = (passed: readonly string[], tried = all, ended?: string) => {
  const counts = { ms: 1, replies: 1, prompt: 1, cached: 0, written: 1 };
  const tasks = tried.map((id) => ({ id, title: id, passed: passed.includes(id), ...counts }));
  const found = suitableUses({ tasks, ...(ended !== undefined && { ended }) });
  return found && toEnglishText(found);
};

const cases: [model: string, passed: readonly string[], advice: RegExp][] = [
  ['passes nothing', [], /^Use it for text at most\. Pick another model/],
  ['finds a value in its prompt only', ['far-back'], /no task that needs a tool/],
  ['passes each task that needs no tool', ['far-back', 'json', 'language', 'hostile'], /no task that needs a tool/],
  ['reads files and changes none', ['call', 'search', 'json'], /no task that changes files/],
  ['changes a file', ['call', 'stop'], /with mistakes/],
  ['passes all but one', all.slice(1), /with mistakes/],
  ['passes everything', all, /everything that Towpath requires/],
];

describe('The advice of a model check', () => {
  for (const [model, passed, advice] of cases)
    it(`fits a model that ${model}`, () => assert.match(uses(passed) ?? '', advice));

  it('is not given for a part of the tasks', () => {
    assert.equal(uses(['call'], ['call'], 'It was stopped.'), undefined);
    assert.equal(uses(['call'], ['call', 'task-of-another-version']), undefined);
  });
});
