import assert from 'node:assert/strict';
import { terminalSafeLine } from '../../../src/extension/panel/terminalSafe.ts';

describe('what is typed into a terminal', () => {
  for (const [text, typed] of [
    ['npm test', 'npm test'],
    ['npm test\n', 'npm test'],
    ['npm test\nrm -rf .', undefined],
    ['npm test\rrm -rf .', undefined],
    ['echo a\u001b[201~', undefined],
    ['echo a\u0003', undefined],
    ['echo a\tb', undefined],
    ['echo a\u2028b', undefined],
    ['echo \u202egpj', undefined],
    ['', undefined],
  ] as const)
    it(`${JSON.stringify(text)}: ${typed === undefined ? 'nothing of it' : 'as it is'}`, () =>
      assert.equal(terminalSafeLine(text), typed));
});
