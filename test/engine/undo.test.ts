import assert from 'node:assert/strict';
import type { UndoAnswer, UndoQuestion } from '../../src/engine/undo.ts';
import { undoable } from '../../src/runs/undo.ts';
import { call, type ScriptedReply } from '../support/scriptedClient.ts';
import { temporaryWorkspace } from '../support/workspace.ts';
import { Conversation } from './conversation.ts';

describe('undo', () => {
  let talk: Conversation;
  let asked: UndoQuestion[];
  afterEach(() => talk.end());

  const write = (name: string, content: string) => call('fs.write', { path: name, content });
  const begin = async (files: Record<string, string>, ...replies: ScriptedReply[]) => {
    talk = new Conversation(await temporaryWorkspace(files), [...replies, { text: 'Done.' }]);
    asked = [];
    await talk.start();
  };
  const undo = async (scope: 'turn' | 'run', answer: UndoAnswer = 'all', paths?: string[]) => {
    const toolCallIds = undoable(await talk.kept(), scope);
    return talk.engine.undo(talk.runId, { toolCallIds, ...(paths && { paths }) }, talk.workspace, async (question) => {
      asked.push(question);
      return answer;
    });
  };
  const files = (...names: string[]) => names.map((name) => talk.file(name));

  it('of the run puts every file back, made ones go, deleted ones return', async () => {
    await begin(
      { a: 'A', gone: 'G' },
      { calls: [write('a', 'A1'), write('new', 'N')] },
      { calls: [write('a', 'A2'), call('fs.delete', { path: 'gone' })] },
    );
    assert.deepEqual(files('a', 'new', 'gone'), ['A2', 'N', undefined]);
    assert.deepEqual(await undo('run'), { undone: ['a', 'new', 'gone'], left: [] });
    assert.deepEqual(files('a', 'new', 'gone'), ['A', undefined, 'G']);
    assert.deepEqual(asked, [{ paths: ['a', 'new', 'gone'], changedSince: [] }]);
  });

  it('of the turn takes back the newest changes only, then the ones before', async () => {
    await begin({ a: 'A' }, { calls: [write('a', 'A1')] }, { calls: [write('a', 'A2'), write('b', 'B')] });
    await undo('turn');
    assert.deepEqual(files('a', 'b'), ['A1', undefined]);
    await undo('turn');
    assert.deepEqual(files('a', 'b'), ['A', undefined]);
    assert.deepEqual(await undo('turn'), { undone: [], left: [] });
    assert.equal(asked.length, 2);
  });

  it('of one file leaves the others', async () => {
    await begin({ a: 'A', b: 'B' }, { calls: [write('a', '1'), write('b', '2')] });
    await undo('run', 'all', ['a']);
    assert.deepEqual(files('a', 'b'), ['A', '2']);
    await undo('run');
    assert.deepEqual(files('a', 'b'), ['A', 'B']);
  });

  it('never overwrites what the person changed since without asking', async () => {
    await begin({ a: 'A', b: 'B' }, { calls: [write('a', 'A1'), write('b', 'B1')] });
    talk.workspace.write('a', 'mine');
    assert.deepEqual(await undo('run', 'unchanged'), {
      undone: ['b'],
      left: [{ path: 'a', why: 'It was changed since.' }],
    });
    assert.deepEqual([files('a', 'b'), asked], [['mine', 'B'], [{ paths: ['a', 'b'], changedSince: ['a'] }]]);
    await undo('run', 'all');
    assert.deepEqual(files('a'), ['A']);
    const kept = (await talk.kept()).calls;
    const [change] = Object.values(kept)[0]!.changes!;
    assert.equal(await talk.store.contents.read(talk.runId, change!.before!), 'A');
  });

  it('counts unsaved text as changed, and what was put back by hand as undone', async () => {
    await begin({ a: 'A', b: 'B' }, { calls: [write('a', 'A1'), write('b', 'B1')] });
    talk.workspace.openInEditor('a', 'typing');
    talk.workspace.write('b', 'B');
    await undo('run', 'unchanged');
    assert.deepEqual(asked, [{ paths: ['a', 'b'], changedSince: ['a'] }]);
    assert.deepEqual(files('a', 'b'), ['A1', 'B']);
  });

  it('does nothing after a no, nor to a file that changes while the question is open', async () => {
    await begin({ a: 'A' }, { calls: [write('a', 'A1')] });
    assert.deepEqual(await undo('run', 'none'), { undone: [], left: [] });
    const toolCallIds = undoable(await talk.kept(), 'run');
    const result = await talk.engine.undo(talk.runId, { toolCallIds }, talk.workspace, async () => {
      talk.workspace.write('a', 'mine');
      return 'all';
    });
    assert.deepEqual(result, { undone: [], left: [{ path: 'a', why: 'It changed while you were asked.' }] });
    assert.deepEqual(files('a'), ['mine']);
  });

  it('is told to the model, and is there after a reload', async () => {
    await begin({ a: 'A' }, { calls: [write('a', 'A1')] }, { text: 'Done.' });
    await undo('run');
    assert.deepEqual((await talk.kept()).messages.at(-1), {
      role: 'system',
      content: 'The person has undone your changes of: a. Read again before you edit.',
    });
    assert.deepEqual(undoable(await talk.kept(), 'run'), []);
    await talk.continue('And now?');
    assert.ok(talk.client.requests.at(-1)!.messages.some((message) => /has undone/.test(message.content)));
  });

  it('is refused while the run is at work', async () => {
    await begin({ a: 'A' }, { calls: [write('a', 'A1')] }, { text: 'Done.' }, { calls: [write('a', 'A2')] });
    talk.events.length = 0;
    talk.answers = ['wait'];
    const working = talk.continue('more');
    await talk.seen('question');
    assert.deepEqual(await undo('run'), {
      code: 'ENGINE_BUSY',
      message: 'This run is at work. Stop it, then undo its changes.',
    });
    await talk.engine.stop(talk.runId);
    await working;
  });

  it('says what is no longer kept', async () => {
    await begin({ a: 'A', b: 'B' }, { calls: [write('a', 'A1')] }, { calls: [write('b', 'B1')] });
    await talk.store.contents.trim(0, new Set());
    assert.deepEqual(await undo('run'), {
      undone: [],
      left: ['a', 'b'].map((path) => ({ path, why: 'This content is no longer kept.' })),
    });
    assert.deepEqual([files('a', 'b'), asked], [['A1', 'B1'], []]);
  });
});
