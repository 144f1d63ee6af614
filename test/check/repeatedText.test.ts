import assert from 'node:assert/strict';
import { endsInRepetition } from '../../src/check/repeatedText.ts';

const list = Array.from({ length: 200 }, (_, at) => `- berth ${at}: a boat of ${at % 7} metres\n`).join('');

const cases: [text: string, repeats: boolean][] = [
  ['', false],
  ['The boat is in the harbour. '.repeat(20), false],
  ['The boat is in the harbour. '.repeat(100), true],
  [`It begins well. ${'no '.repeat(1000)}`, true],
  [`${'The boat is in the harbour. '.repeat(100)}Then it left.`, false],
  [list, false],
];

describe('A text that repeats itself', () => {
  for (const [text, repeats] of cases)
    it(`${repeats ? 'is' : 'is not'} “${text.slice(0, 12)}…” of ${text.length} characters`, () =>
      assert.equal(endsInRepetition(text), repeats));
});
