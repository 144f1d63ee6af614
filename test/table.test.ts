import assert from 'node:assert/strict';
import { tableOf } from './bench/table.ts';

describe('what all benchmarks say, as one table', () => {
  it('has a row for each number, with how much of its budget it takes, and one for what said none', () => {
    const row = (what: string, numbers: Record<string, string>, taken?: number) => ({
      ...{ what, numbers, within: taken === undefined || taken <= 1 },
      ...(taken !== undefined && { taken }),
    });
    const start = [row('activated', { median: '27.3 ms', most: ' 31.0 ms' }, 0.546), row('Git', { median: '81.0 ms' })];
    assert.deepEqual(
      tableOf([
        { name: 'start', code: 0, rows: start },
        { name: 'stop', code: 1, rows: [row('a question', { most: '130.0 ms' }, 1.3)] },
        { name: 'edits', code: 1, rows: [row('edit', { CPU: '0.1 ms' }, 0.1)] },
        { name: 'grants', code: 0, rows: [] },
      ]),
      [
        'benchmark          of budget  what                                               numbers',
        'start      ok           55 %  activated                                          median 27.3 ms, most 31.0 ms',
        'start      ok                 Git                                                median 81.0 ms',
        'stop       OVER        130 %  a question                                         most 130.0 ms',
        'edits      ok           10 %  edit                                               CPU 0.1 ms',
        'edits      FAILED             it says above why',
        'grants     –                  nothing could be measured here: it says above why',
      ],
    );
  });
});
