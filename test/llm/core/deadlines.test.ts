import assert from 'node:assert/strict';
import { durationMessage } from '../../../src/llm/core/deadlines.ts';
import { toEnglishText } from '../../../src/protocol/text/l10n.ts';

describe('A duration in words', () => {
  const cases: [ms: number, text: string][] = [
    [250, '250 ms'],
    [1000, '1 s'],
    [2500, '2.5 s'],
    [60_000, '1 min'],
    [300_000, '5 min'],
    [7_200_000, '2 h'],
    [172_800_000, '2 days'],
    [1e15, '31,688.1 years'],
  ];
  for (const [ms, text] of cases) it(`${ms} ms: ${text}`, () => assert.equal(toEnglishText(durationMessage(ms)), text));
});
