import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { currentFileVersion, fileVersionOfRun } from '../../../src/engine/run/runFileVersion.ts';
import type { UndoConfirmationRequest, UndoResult } from '../../../src/engine/run/undo.ts';
import { newestRedoableUndo } from '../../../src/protocol/run/runFiles.ts';
import { undoableCallIds } from '../../../src/runs/undoSteps.ts';
import { type FileHunk, fileHunks } from '../../../src/tools/changes/fileHunks.ts';
import { sha256 } from '../../../src/tools/sandbox/fileText.ts';
import { call, type ScriptedReply } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

describe('the undo of one hunk of a run', () => {
  let talk: Conversation;
  afterEach(() => talk.end());

  const text = (...lines: string[]) => lines.map((line) => `${line}\n`).join('');
  const before = text('a', 'b', 'c', 'd', 'e');
  const write = (content: string, name = 'a.txt') => call('fs.write', { path: name, content });
  const begin = async (files: Record<string, string>, ...replies: ScriptedReply[]) => {
    talk = new Conversation(await temporaryWorkspace(files), [...replies, { text: 'Done.' }]);
    await talk.start();
  };
  const hunks = async (name = 'a.txt'): Promise<FileHunk[]> => {
    const run = await talk.kept();
    const left = await fileVersionOfRun(run, name, (id) => talk.store.contents.read(run.id, id));
    const now = talk.file(name)!;
    return left ? fileHunks(currentFileVersion(left, now, sha256(now))) : [];
  };
  const undo = async (nth: number, name = 'a.txt') => {
    const { key } = (await hunks(name))[nth]!;
    return undoKey(key, name);
  };
  const undoKey = async (key: string, name = 'a.txt') =>
    (await talk.engine.undo(
      talk.runId,
      { hunk: { path: name, key } },
      talk.workspace,
      async () => 'all',
    )) as UndoResult;
  const undoRun = async () => {
    const asked: UndoConfirmationRequest[] = [];
    const toolCallIds = undoableCallIds(await talk.kept(), 'run');
    await talk.engine.undo(talk.runId, { toolCallIds }, talk.workspace, async (question) => {
      asked.push(question);
      return 'all';
    });
    return asked;
  };
  const edit = (content: string) => writeFileSync(path.join(talk.workspace.root, 'a.txt'), content);

  it('restores its lines; the others stay, the model is informed, and it can be redone', async () => {
    await begin({ 'a.txt': before }, { calls: [write(text('A', 'b', 'C', 'd', 'E'))] });
    assert.equal((await hunks()).length, 3);
    assert.deepEqual(await undo(1), { undone: ['a.txt'], left: [] });
    assert.equal(talk.file('a.txt'), text('A', 'b', 'c', 'd', 'E'));
    assert.equal((await hunks()).length, 2);
    const run = await talk.kept();
    const told = run.messages.at(-1)!;
    assert.equal(told.role, 'system');
    assert.equal(told.content, 'The person has undone your change of line 3 in: a.txt. Read again before you edit.');
    const undone = newestRedoableUndo(run, () => true)!;
    await talk.engine.undo(talk.runId, { undo: undone.seq }, talk.workspace, async () => 'all');
    assert.equal(talk.file('a.txt'), text('A', 'b', 'C', 'd', 'E'));
    assert.equal((await hunks()).length, 3);
  });

  it('does not count as an edit of the user: Undo Run asks about nothing, and restores the file', async () => {
    await begin({ 'a.txt': before }, { calls: [write(text('A', 'b', 'C', 'd', 'E'))] });
    await undo(1);
    await undo(0);
    const [asked] = await undoRun();
    assert.deepEqual(asked, { paths: ['a.txt'], changedSince: [] });
    assert.equal(talk.file('a.txt'), before);
    assert.deepEqual(undoableCallIds(await talk.kept(), 'run'), []);
  });

  it('of the last hunk leaves the file as it was before the run', async () => {
    await begin({ 'a.txt': before }, { calls: [write(text('A', 'b', 'c', 'd', 'e'))] });
    await undo(0);
    assert.equal(talk.file('a.txt'), before);
    assert.deepEqual(Object.keys((await talk.kept()).files!), []);
  });

  it('keeps later edits of the user, also over several undos, and Undo Run names them', async () => {
    await begin({ 'a.txt': before }, { calls: [write(text('A', 'b', 'C', 'd', 'E'))] });
    edit(text('own', 'A', 'b', 'C', 'd', 'E'));
    await undo(2);
    assert.equal(talk.file('a.txt'), text('own', 'A', 'b', 'C', 'd', 'e'));
    await undo(0);
    assert.equal(talk.file('a.txt'), text('own', 'a', 'b', 'C', 'd', 'e'));
    assert.equal((await hunks()).length, 1);
    assert.deepEqual((await undoRun())[0]?.changedSince, ['a.txt']);
  });

  it('is refused for lines that the user has changed since, and for a hunk that is gone', async () => {
    await begin({ 'a.txt': before }, { calls: [write(text('A', 'b', 'C1', 'C2', 'd', 'E'))] });
    const [first] = await hunks();
    edit(text('A', 'b', 'C1', 'own', 'C2', 'd', 'E'));
    const refused = await undo(1);
    assert.deepEqual(refused.undone, []);
    assert.equal(refused.left[0]?.why, 'These lines were also changed by you. Undo would lose your change.');
    edit(before);
    assert.equal((await undoKey(first!.key)).left[0]?.why, 'This change is no longer in the file.');
    assert.equal(talk.file('a.txt'), before);
  });

  it('knows what the user has allowed one by one', async () => {
    for (const preset of ['edits-free', 'reads-free'] as const) {
      talk = new Conversation(await temporaryWorkspace({ 'a.txt': before }), [
        { calls: [write(text('A', 'b', 'c', 'd', 'e'))] },
        { text: 'Done.' },
      ]);
      talk.preset = preset;
      await talk.start();
      assert.deepEqual(
        (await hunks()).map(({ automatic }) => automatic),
        [preset === 'edits-free'],
      );
      if (preset === 'edits-free') await talk.end();
    }
  });

  it('follows a file that the run has renamed', async () => {
    await begin(
      { 'old.txt': before },
      { calls: [write(text('a', 'B', 'c', 'd', 'e'), 'old.txt')] },
      { calls: [call('fs.move', { from: 'old.txt', to: 'new.txt' })] },
      { calls: [write(text('a', 'B', 'c', 'D', 'e'), 'new.txt')] },
    );
    assert.deepEqual(
      (await hunks('new.txt')).map(({ start }) => start),
      [1, 3],
    );
    await undo(0, 'new.txt');
    assert.equal(talk.file('new.txt'), text('a', 'b', 'c', 'D', 'e'));
    await undoRun();
    assert.equal(talk.file('old.txt'), before);
  });

  it('deletes a new file; line ends and a byte order mark stay', async () => {
    await begin(
      { 'b.txt': '\uFEFFa\r\nb\r\n' },
      { calls: [write('one\n', 'new.txt'), write('a\r\nB\r\nc\r\n', 'b.txt')] },
    );
    await undo(0, 'new.txt');
    assert.equal(talk.workspace.exists('new.txt'), false);
    await undo(0, 'b.txt');
    assert.equal(talk.file('b.txt'), '\uFEFFa\r\nb\r\n');
  });
});
