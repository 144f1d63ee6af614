import assert from 'node:assert/strict';
import type { FileMove, StoredFileChange } from '../../src/protocol/run/events.ts';
import type { CallState, Run } from '../../src/protocol/run/run.ts';
import { createDictionary } from '../../src/protocol/values/dictionary.ts';
import { isUndoMove, redoOperations, type UndoOperation, undoOperations } from '../../src/runs/undoSteps.ts';

const shown = (operations: readonly UndoOperation[]) =>
  operations.map((one) => (isUndoMove(one) ? `${one.from} to ${one.to}` : `${one.at}: ${one.left} to ${one.to}`));

/** A run of calls that each made one change or move. */
function runOf(...done: (StoredFileChange | FileMove)[]): Pick<Run, 'calls'> {
  const calls = createDictionary<CallState>();
  for (const [at, one] of done.entries())
    calls[at] = { status: 'done', startSeq: at, ...('from' in one ? { moved: one } : { changes: [one] }) };
  return { calls };
}

const change = (path: string, before: string | null, after: string | null): StoredFileChange => ({
  path,
  before,
  after,
});

describe('operations of an undo', () => {
  const cases: [name: string, run: Pick<Run, 'calls'>, expected: string[]][] = [
    [
      'join the changes of one file',
      runOf(change('a', 'A', 'A1'), change('b', null, 'B'), change('a', 'A1', 'A2')),
      ['a: A2 to A', 'b: B to null'],
    ],
    [
      'join the changes of a file on both sides of a move',
      runOf(change('old/a', 'A', 'A1'), { from: 'old', to: 'new' }, change('new/a', 'A1', 'A2')),
      ['new/a: A2 to A', 'new to old'],
    ],
    [
      'keep apart what a move needs: the folder comes back, is moved, and its file goes',
      runOf(change('old/a', null, 'A'), { from: 'old', to: 'new' }, change('new/a', 'A', null)),
      ['new/a: null to A', 'new to old', 'old/a: A to null'],
    ],
    [
      'are none for a file that was made and deleted',
      runOf(change('a/b', null, 'B'), change('a/b', 'B', null), change('a', null, 'A')),
      ['a: A to null'],
    ],
    [
      'keep apart a name that was used again',
      runOf(change('a', 'A', null), { from: 'b', to: 'a' }, { from: 'a', to: 'c' }, change('a', null, 'A1')),
      ['a: A1 to null', 'c to a', 'a to b', 'a: null to A'],
    ],
  ];
  for (const [name, run, expected] of cases)
    it(name, () => assert.deepEqual(shown(undoOperations(run as Run, Object.keys(run.calls))), expected));

  it('go around moves that stay', () => {
    const run = runOf(change('a/b', 'B', 'B1'), { from: 'a', to: 'c' }) as Run;
    assert.deepEqual(shown(undoOperations(run, ['0'])), ['c/b: B1 to B']);
  });
});

describe('operations of a redo', () => {
  const moves = [{ from: 'new', to: 'old' }];

  it('are the opposites of what the undo did, the last first', () => {
    const changes = [
      { ...change('new/a', 'A', null), step: 2, at: 'old/a' },
      { ...change('new/a', null, 'A'), step: 0, at: 'new/a' },
    ];
    const undone = { seq: 1, toolCallIds: [], changes, moves: moves.map((one) => ({ ...one, step: 1 })), files: [] };
    assert.deepEqual(shown(redoOperations(undone)), ['old/a: null to A', 'old to new', 'new/a: A to null']);
  });

  it('follow the order that an older version had, which recorded none', () => {
    const changes = [{ ...change('new/a', 'A1', 'A'), place: 'old/a' }, change('new/b', 'B', null)];
    const undone = { seq: 1, toolCallIds: [], changes, moves, files: [] };
    assert.deepEqual(shown(redoOperations(undone)), ['old/a: A to A1', 'old to new', 'new/b: null to B']);
  });
});
