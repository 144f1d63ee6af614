import assert from 'node:assert/strict';
import { formatAge } from '../../../src/protocol/text/ago.ts';

describe('How long ago something was', () => {
  const now = Date.UTC(2026, 10, 28, 12);
  const minute = 60_000;
  const rows: [ms: number, words: string][] = [
    [-5000, 'now'],
    [59_000, 'now'],
    [minute, '1 min'],
    [59 * minute, '59 min'],
    [60 * minute, '1 h'],
    [23.9 * 60 * minute, '23 h'],
    [24 * 60 * minute, '1 d'],
    [6.9 * 24 * 60 * minute, '6 d'],
    [8 * 24 * 60 * minute, 'Nov 20, 2026'],
  ];
  for (const [ms, words] of rows) it(words, () => assert.equal(formatAge(now - ms, now), words));
});
