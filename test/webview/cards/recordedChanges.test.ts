import assert from 'node:assert/strict';
import { nothing, type TemplateResult } from 'lit-html';
import type { CallState } from '../../../src/protocol/run/run.ts';
import { pieceText } from '../../../webview/cards/cardText.ts';
import { hasRecordedChanges, lostFilesView, recordedChangePieces } from '../../../webview/cards/recordedChanges.ts';

const [created, deleted, changed] = [
  { path: 'a', before: null, after: '1', afterMode: 0o644 },
  { path: 'b', before: '1', after: null, kind: 'file', mode: 0o644 },
  { path: 'c', before: '1', after: '2', mode: 0o644, afterMode: 0o644 },
] as const;
const folder = { path: 'd', before: null, after: '0', afterKind: 'folder', afterMode: 0o755 } as const;
const repository = { path: '.git', head: { before: '1', after: '2' }, refs: [], files: [] };

describe('What a command changed', () => {
  const shown = (state: Partial<CallState>) =>
    recordedChangePieces({ status: 'done', ...state })
      .map(pieceText)
      .join(' ');

  it('is counted by kind on its card, with the sum of the lines, and without folders', () => {
    const lines = { added: 1200, removed: 3 };
    const changes = [changed, { ...changed, path: 'e' }, { ...changed, path: 'f' }, created, { ...created, path: 'g' }];
    assert.equal(shown({ changes, lines }), '3 files changed, 2 created +1,200 −3');
    assert.equal(shown({ changes: [created] }), '1 file created');
    assert.equal(shown({ changes: [deleted, created, folder] }), '1 file created, 1 deleted');
    assert.equal(shown({ changes: [folder] }), '');
    assert.equal(shown({ changes: [], repositories: [repository] }), 'Git changed');
    assert.equal(shown({ changes: [created], repositories: [repository] }), '1 file created, Git changed');
  });

  it('counts a file once that a background command has changed several times', () => {
    const [later, gone] = [
      { ...changed, path: 'a', before: '1', after: '3' },
      { path: 'c', before: '2', after: null, kind: 'file' as const, mode: 0o644 },
    ];
    assert.equal(shown({ changes: [created, changed, later] }), '1 file changed, 1 created');
    assert.equal(shown({ changes: [created, changed, later, gone] }), '1 file created, 1 deleted');
    const removed = { ...gone, path: 'a', before: '1' };
    assert.equal(shown({ changes: [created, removed] }), '', 'as before');
  });

  it('is told from the changes of a file tool by its record', () => {
    assert.equal(hasRecordedChanges({ status: 'done', changes: [changed] }), false);
    assert.equal(hasRecordedChanges({ status: 'done', changes: [changed], snapshot: 's' }), true);
    assert.equal(hasRecordedChanges({ status: 'done', changes: [], snapshot: 's' }), false);
    assert.equal(hasRecordedChanges({ status: 'done', repositories: [repository], snapshot: 's' }), true);
  });

  it('and cannot be restored is named, three at most and the number of the others', () => {
    const named = (state: Partial<CallState>) =>
      (lostFilesView({ status: 'done', ...state }) as TemplateResult).values[0];
    assert.equal(lostFilesView({ status: 'done' }), nothing);
    assert.equal(named({ lost: ['big.bin'] }), 'Cannot be restored: big.bin');
    assert.equal(named({ lost: ['a', 'b', 'c', 'd'], lostCount: 250 }), 'Cannot be restored: a, b, c and 247 more');
  });
});
