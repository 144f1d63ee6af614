import assert from 'node:assert/strict';
import type { UndoConfirmationRequest } from '../../../src/engine/run/undo.ts';
import {
  notUndoneNotes,
  restoreTexts,
  toCallName,
  type UndoSubject,
  undoneCallName,
  undoQuestion,
  undoTexts,
} from '../../../src/extension/dialogs/undoQuestion.ts';
import { applyEvent } from '../../../src/protocol/run/fold.ts';
import { newRun } from '../../../src/protocol/run/run.ts';

const paths = (count: number) => Array.from({ length: count }, (_, index) => `src/f${index}.ts`);

function shown(request: UndoConfirmationRequest, subject: Partial<UndoSubject> = {}): string | undefined {
  const question = undoQuestion(request, { texts: undoTexts(), isNamed: true, notes: [], ...subject });
  if (!question) return undefined;
  const { text, detail, buttons } = question;
  return `${text}\n${detail}\n${buttons.map(({ label, paths }) => `[${label}: ${paths.length}]`).join(' ')}`;
}

describe('the question before an undo', () => {
  const format = { call: 'npm run format' };

  it('names a command, how many files it restores, and what the user edited since', () => {
    const all = [...paths(38), 'src/a.ts', 'src/b.ts'];
    assert.equal(
      shown({ paths: all, changedSince: ['src/a.ts', 'src/b.ts'] }, format),
      `Undo the changes of “npm run format”?
Restores 40 files. You edited 2 of them since: src/a.ts, src/b.ts.
[Restore 38 Files: 38] [Restore All 40: 40]`,
    );
  });

  it('names all that the user edited, up to twelve', () => {
    assert.equal(
      shown({ paths: paths(6), changedSince: paths(5) }),
      `Undo what Towpath changed in 6 files?
Restores 6 files. You edited 5 of them since: src/f0.ts, src/f1.ts, src/f2.ts and 2 more.

${paths(5).join('\n')}
[Restore 1 File: 1] [Restore All 6: 6]`,
    );
  });

  it('lists the files if nothing would be lost', () => {
    assert.equal(
      shown({ paths: paths(2), changedSince: [] }),
      'Undo what Towpath changed in 2 files?\nsrc/f0.ts\nsrc/f1.ts\n[Undo: 2]',
    );
    assert.equal(
      shown({ paths: paths(1), changedSince: paths(1) }, { texts: restoreTexts() }),
      'Restore src/f0.ts as this branch left it?\nsrc/f0.ts\nhas changed since. Restoring it discards the current contents.\n[Restore: 1]',
    );
    assert.equal(
      shown({ paths: paths(1), changedSince: [] }, format),
      'Undo the changes of “npm run format”?\nsrc/f0.ts\n[Undo: 1]',
    );
  });

  it('of one call names what something else may have changed, and restores it by the second button only', () => {
    assert.equal(
      shown({ paths: paths(4), changedSince: ['src/f0.ts'], sameTime: ['src/f1.ts'] }, format),
      `Undo the changes of “npm run format”?
Restores 4 files. You edited 1 of them since: src/f0.ts. Something else may have changed 1 of them at the same time: src/f1.ts.
[Restore 2 Files: 2] [Restore All 4: 4]`,
    );
    assert.equal(
      shown({ paths: paths(1), changedSince: [], sameTime: paths(1) }, format),
      'Undo the changes of “npm run format”?\nsrc/f0.ts\nmay have been changed by something else at the same time.\n[Undo: 1]',
    );
  });

  it('of a run never includes what something else may have changed: each of these files is asked about by itself', () => {
    const isNamed = false;
    assert.equal(
      shown({ paths: paths(4), changedSince: ['src/f0.ts'], sameTime: ['src/f1.ts', 'src/f3.ts'] }, { isNamed }),
      `Undo what Towpath changed in 2 files?
Restores 2 files. You edited 1 of them since: src/f0.ts.

Next, you select from 2 files that something else may have changed at the same time.
[Restore 1 File: 1] [Restore All 2: 2]`,
    );
    assert.equal(shown({ paths: paths(2), changedSince: [], sameTime: paths(2) }, { isNamed }), undefined);
  });

  it('ends with what stays', () => {
    assert.equal(
      shown({ paths: paths(2), changedSince: [] }, { notes: ['One.', 'Two.'] }),
      'Undo what Towpath changed in 2 files?\nsrc/f0.ts\nsrc/f1.ts\n\nOne.\n\nTwo.\n[Undo: 2]',
    );
  });
});

describe('what an undo leaves', () => {
  type Call = { name?: string; command?: string; snapshot?: string; unrecorded?: 'off'; lost?: string[]; ends?: false };
  const runOf = (...calls: Call[]) => {
    const run = newRun('run-1');
    let seq = 0;
    for (const [index, { name = 'shell.run', command, snapshot, ends, ...end }] of calls.entries()) {
      const at = { runId: 'run-1', toolCallId: `c${index}`, name };
      const line = command !== undefined && { command: { line: command, folder: '', marker: '' } };
      const start = { type: 'tool-start' as const, ...at, ...line, ...(snapshot && { snapshot }) };
      applyEvent(run, { ...start, seq: ++seq, at: seq });
      if (ends !== false) applyEvent(run, { type: 'tool-end', ...at, ok: true, ms: 1, ...end, seq: ++seq, at: seq });
    }
    return run;
  };
  const beforeUpdate = 'Commands of this run before the update were not recorded.';

  it('are commands from before the update, and not those of a version that records', () => {
    assert.deepEqual(notUndoneNotes(runOf({ command: 'make' }), 0), [beforeUpdate]);
    assert.deepEqual(notUndoneNotes(runOf({ command: 'make' }, { command: 'make', snapshot: 's' }), 0), [beforeUpdate]);
    assert.deepEqual(notUndoneNotes(runOf({ name: 'fs.write' }), 0), []);
    assert.deepEqual(notUndoneNotes(runOf({ command: 'make', ends: false }), 0), []);
    assert.deepEqual(notUndoneNotes(runOf({ command: 'make', snapshot: 's' }, { command: 'make' }), 0), []);
  });

  it('are commands without a record and lost files, in this part of the run', () => {
    const off = runOf({ command: 'make', unrecorded: 'off' }, { command: 'make', snapshot: 's', lost: ['big.bin'] });
    const given = 'Commands may have changed other files. See Source Control.';
    assert.deepEqual(notUndoneNotes(off, 0), ['Cannot be restored: big.bin', given]);
    assert.deepEqual(notUndoneNotes(off, 3), ['Cannot be restored: big.bin']);
    assert.deepEqual(notUndoneNotes(runOf({ command: 'make' }), 2), []);
  });

  it('a call is named by its command, on one line', () => {
    assert.equal(undoneCallName(runOf({ command: 'a\nb' }), 'c0'), 'a ⏎ b');
    assert.equal(undoneCallName(runOf(), 'c0'), undefined);
    assert.equal(toCallName({ name: 'mcp.odd.work' }), 'odd: work');
    assert.equal(toCallName({ name: 'vscode.table_note' }), 'table_note');
    assert.equal(toCallName({ line: 'mcp.odd.work', name: 'shell.run' }), 'mcp.odd.work');
  });
});
