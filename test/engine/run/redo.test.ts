import assert from 'node:assert/strict';
import { readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { UndoConfirmationRequest, UndoResult } from '../../../src/engine/run/undo.ts';
import { newestRedoableUndo } from '../../../src/protocol/run/runFiles.ts';
import { restorableRunBranchFiles } from '../../../src/runs/branchFiles.ts';
import { undoableCallIds } from '../../../src/runs/undoSteps.ts';
import { call, type ScriptedReply } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

describe('undo, of what is there already', () => {
  let talk: Conversation;
  afterEach(() => talk.end());

  it('takes binary files and links that were put back by hand for undone', async () => {
    const [one, two] = [Buffer.from([0, 255, 1]), Buffer.from('caf\xe9', 'latin1')];
    const workspace = await temporaryWorkspace({ 'a.txt': 'A', 'one.bin': one, 'two.bin': two });
    const at = (name: string) => path.join(workspace.root, name);
    symlinkSync('a.txt', at('link'));
    const names = ['one.bin', 'two.bin', 'link'];
    talk = new Conversation(workspace, [
      { calls: names.map((name) => call('fs.delete', { path: name })) },
      { text: 'Done.' },
    ]);
    await talk.start();
    assert.deepEqual(readdirSync(workspace.root), ['a.txt']);
    writeFileSync(at('one.bin'), one);
    writeFileSync(at('two.bin'), two);
    symlinkSync('a.txt', at('link'));
    const toolCallIds = undoableCallIds(await talk.kept(), 'run');
    const questions: UndoConfirmationRequest[] = [];
    const undo = () =>
      talk.engine.undo(talk.runId, { toolCallIds }, workspace, async (question) => {
        questions.push(question);
        return 'unchanged';
      });
    assert.deepEqual(await undo(), { undone: names, left: [] });
    assert.deepEqual(questions, [{ paths: names, changedSince: [] }]);
    assert.deepEqual([readFileSync(at('two.bin')), readlinkSync(at('link'))], [two, 'a.txt']);
    assert.deepEqual(undoableCallIds(await talk.kept(), 'run'), [], 'it is on record');
    assert.deepEqual(await undo(), { undone: [], left: [] });
  });

  it('takes a folder that was moved back by hand for undone', async () => {
    talk = new Conversation(await temporaryWorkspace({ 'old/a': 'A' }), [
      { calls: [call('fs.move', { from: 'old', to: 'new' }), call('fs.write', { path: 'new/a', content: 'A1' })] },
      { text: 'Done.' },
    ]);
    await talk.start();
    await talk.workspace.move(path.join(talk.workspace.root, 'new'), path.join(talk.workspace.root, 'old'));
    const toolCallIds = undoableCallIds(await talk.kept(), 'run');
    const result = await talk.engine.undo(talk.runId, { toolCallIds }, talk.workspace, async () => 'unchanged');
    assert.deepEqual(result, { undone: ['new/a', 'new'], left: [] });
    assert.deepEqual([talk.file('old/a'), talk.workspace.exists('new')], ['A', false]);
  });
});

describe('redo', () => {
  let talk: Conversation;
  afterEach(() => talk.end());

  const write = (name: string, content: string) => call('fs.write', { path: name, content });
  const begin = async (files: Record<string, string>, ...replies: ScriptedReply[]) => {
    talk = new Conversation(await temporaryWorkspace(files), [...replies, { text: 'Done.' }]);
    await talk.start();
  };
  const undo = async (scope: 'turn' | 'run') => {
    const toolCallIds = undoableCallIds(await talk.kept(), scope);
    await talk.engine.undo(talk.runId, { toolCallIds }, talk.workspace, async () => 'all');
  };
  const redo = async () => {
    const undone = newestRedoableUndo(await talk.kept(), () => true);
    if (!undone) return undefined;
    const nobody = () => assert.fail('nobody is asked');
    return (await talk.engine.undo(talk.runId, { undo: undone.seq }, talk.workspace, nobody)) as UndoResult;
  };
  const files = (...names: string[]) => names.map((name) => talk.file(name));

  it('gives back what an undo took, and that can be undone again', async () => {
    await begin(
      { a: 'A', gone: 'G' },
      { calls: [write('a', 'A1'), write('new', 'N'), call('fs.delete', { path: 'gone' })] },
    );
    const before = await talk.kept();
    await undo('run');
    assert.deepEqual(files('a', 'new', 'gone'), ['A', undefined, 'G']);
    assert.deepEqual(await redo(), { undone: ['gone', 'new', 'a'], left: [] });
    assert.deepEqual(files('a', 'new', 'gone'), ['A1', 'N', undefined]);
    const after = await talk.kept();
    assert.deepEqual([after.calls, after.files, after.undos], [before.calls, before.files, []]);
    assert.equal(await redo(), undefined, 'there is nothing more to redo');
    assert.deepEqual(after.messages.at(-1), {
      role: 'system',
      content: 'The user has redone your changes of: gone, new, a. Read again before you edit.',
      note: { line: { english: 'You redid the changes in {0}', values: ['gone, new, a'] }, whole: true },
    });
    await undo('run');
    assert.deepEqual(files('a', 'new', 'gone'), ['A', undefined, 'G']);
  });

  it('pressed twice redoes once', async () => {
    await begin({ a: 'A' }, { calls: [write('a', 'A1')] });
    await undo('run');
    const both = (await Promise.all([redo(), redo()])).flatMap((result) => [...result!.undone, ...result!.left]);
    assert.deepEqual(both, ['a']);
    assert.deepEqual(files('a'), ['A1']);
  });

  it('goes back step by step, the newest undo first', async () => {
    await begin({ a: 'A' }, { calls: [write('a', 'A1')] }, { calls: [write('a', 'A2')] });
    const [first, second] = Object.keys((await talk.kept()).calls);
    await undo('turn');
    await undo('turn');
    const run = await talk.kept();
    const of = (id: string) => newestRedoableUndo(run, ({ toolCallIds }) => toolCallIds.includes(id))?.seq;
    assert.deepEqual([of(first!), of(second!)], [run.undos![1]!.seq, undefined]);
    await redo();
    assert.deepEqual(files('a'), ['A1']);
    await redo();
    assert.deepEqual(files('a'), ['A2']);
  });

  it('changes nothing when somebody has changed one of the files since, and says which', async () => {
    await begin({ a: 'A', b: 'B' }, { calls: [write('a', 'A1'), write('b', 'B1')] });
    await undo('run');
    talk.workspace.write('b', 'mine');
    const left = [{ path: 'b', why: 'It has changed since.' }];
    assert.deepEqual(await redo(), { undone: [], left });
    assert.deepEqual(files('a', 'b'), ['A', 'mine']);
    talk.workspace.write('b', 'B');
    assert.deepEqual((await redo())?.left, []);
    assert.deepEqual(files('a', 'b'), ['A1', 'B1']);
  });

  it('is over when the run itself changes one of the files', async () => {
    await begin({ a: 'A' }, { calls: [write('a', 'A1')] }, { text: 'Done.' }, { calls: [write('a', 'A2')] });
    await undo('run');
    assert.equal((await talk.kept()).undos?.length, 1);
    await talk.continue('more');
    assert.equal(await redo(), undefined);
  });

  it('takes files back that were restored as a branch left them', async () => {
    await begin({ a: 'A' }, { calls: [write('a', 'A1')] });
    talk.workspace.write('a', 'of another branch');
    const all = restorableRunBranchFiles(await talk.kept(), []);
    await talk.engine.undo(talk.runId, all, talk.workspace, async () => 'all');
    assert.deepEqual(files('a'), ['A1']);
    assert.deepEqual(await redo(), { undone: ['a'], left: [] });
    assert.deepEqual(files('a'), ['of another branch']);
    assert.equal(
      (await talk.kept()).files!.a!.after,
      (await talk.kept()).calls[undoableCallIds(await talk.kept(), 'run')[0]!]!.changes![0]!.after,
    );
  });

  it('says what is no longer kept, and cannot be done for an undo of an older version', async () => {
    await begin({ a: 'A' }, { calls: [write('a', 'A1')] });
    await undo('run');
    rmSync(path.join(talk.folder, 'runs', talk.runId, 'contents'), { recursive: true });
    assert.deepEqual(await redo(), { undone: [], left: [{ path: 'a', why: 'This content is no longer stored.' }] });
    assert.deepEqual(files('a'), ['A']);
  });
});
