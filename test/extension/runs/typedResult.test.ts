import assert from 'node:assert/strict';
import { parseUserEnteredResult } from '../../../src/extension/runs/typedResult.ts';

describe('the result of an interrupted step, as a person types it', () => {
  const cases: [text: string, value: unknown][] = [
    ['', null],
    ['  ', null],
    ['null', null],
    ['{"version": "1.2", "url": null}', { version: '1.2', url: null }],
    [' [1, 2] ', [1, 2]],
    ['true', true],
    ['12', 12],
    ['-0.5', -0.5],
    ['1.10', '1.10'],
    ['007', '007'],
    ['1e3', '1e3'],
    ['12345678901234567890', '12345678901234567890'],
    ['"12"', '12'],
    ['it is v2', 'it is v2'],
    ['v2: {not json}', 'v2: {not json}'],
  ];
  for (const [text, value] of cases)
    it(`${JSON.stringify(text)} is ${JSON.stringify(value)}`, () =>
      assert.deepEqual(parseUserEnteredResult(text), value));

  for (const text of ['{version: 1}', '[OK] done', '"open', '{"a": 1} {'])
    it(`${text} is refused: it could be meant both ways`, () =>
      assert.throws(() => parseUserEnteredResult(text), /Not valid JSON/));
});
