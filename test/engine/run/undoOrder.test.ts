import assert from 'node:assert/strict';
import type { ToolCall } from '../../../src/protocol/content/messages.ts';
import { undoableCallIds } from '../../../src/runs/undoSteps.ts';
import { call, type ScriptedReply } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

/** Undo goes by the order in which changes were made, whatever their calls are called and whenever they were allowed. */
describe('undo, in the order of the changes', () => {
  let talk: Conversation;
  afterEach(() => talk.end());

  const edit = (oldText: string, newText: string, id?: string): ToolCall =>
    call('fs.edit', { path: 'a.txt', edits: [{ oldText, newText }] }, id);
  const begin = async (files: Record<string, string>, ...replies: ScriptedReply[]) => {
    talk = new Conversation(await temporaryWorkspace(files), [...replies, { text: 'Done.' }]);
  };
  const undo = async (scope: 'turn' | 'run', changedSince: string[] = []) => {
    const toolCallIds = undoableCallIds(await talk.kept(), scope);
    return talk.engine.undo(talk.runId, { toolCallIds }, talk.workspace, async (question) => {
      assert.deepEqual(question.changedSince, changedSince);
      return 'all';
    });
  };

  const ids: [name: string, ids: [string, string, string]][] = [
    ['fall (LM Studio sends nine digits)', ['365174485', '265174485', '165174485']],
    ['rise and have other lengths', ['9', '10', '100']],
    ['are mixed', ['call_b', '7', 'call_a']],
    ['begin alike', ['functions.fs_edit:0', 'functions.fs_edit:10', 'functions.fs_edit:1']],
    ['are names of every object', ['constructor', '__proto__', 'toString']],
  ];
  for (const [name, [first, second, third]] of ids)
    it(`is right where ids ${name}`, async () => {
      await begin(
        { 'a.txt': 'one two three' },
        { calls: [edit('one', 'ONE', first)] },
        { calls: [edit('two', 'TWO', second)] },
        { calls: [edit('three', 'THREE', third)] },
      );
      await talk.start();
      assert.equal(talk.file('a.txt'), 'ONE TWO THREE');
      assert.deepEqual(await undo('turn'), { undone: ['a.txt'], left: [] });
      assert.equal(talk.file('a.txt'), 'ONE TWO three');
      assert.deepEqual(await undo('run'), { undone: ['a.txt'], left: [] });
      assert.equal(talk.file('a.txt'), 'one two three');
      assert.deepEqual(undoableCallIds(await talk.kept(), 'run'), []);
    });

  for (const order of [
    [1, 0, 2],
    [2, 1, 0],
    [2, 0, 1],
  ])
    it(`is right where calls of one reply were allowed in the order ${order}`, async () => {
      const calls = [
        call('fs.write', { path: 'a.txt', content: 'one two three' }, 'made'),
        call('fs.write', { path: 'a.txt', content: 'ONE two three' }, 'first'),
        call('fs.write', { path: 'a.txt', content: 'ONE TWO three' }, 'second'),
      ];
      await begin({}, { calls });
      const waiting = new Map<string, () => void>();
      const next = order.map((at) => calls[at]!.id);
      const answerNext = () => waiting.get(next.shift() ?? '')?.();
      talk.approve = ({ call: { id } }) =>
        new Promise((resolve) => {
          waiting.set(id, () => resolve({ decision: 'allow' }));
          if (waiting.size === calls.length) answerNext();
        });
      talk.told = ({ type }) => void (type === 'approval' && answerNext());
      await talk.start();
      const approved = talk.events.flatMap((event) => (event.type === 'approval' ? [event.toolCallId] : []));
      assert.deepEqual(
        approved,
        order.map((at) => calls[at]!.id),
      );
      assert.equal(talk.file('a.txt'), 'ONE TWO three');
      assert.deepEqual(await undo('run'), { undone: ['a.txt'], left: [] });
      assert.equal(talk.workspace.exists('a.txt'), false);
    });

  it('knows files that are called like what every object has', async () => {
    const names = ['__proto__', 'constructor', '7'];
    await begin(
      { constructor: 'before\n' },
      { calls: names.map((path) => call('fs.write', { path, content: 'new\n' })) },
    );
    await talk.start();
    const { files } = await talk.kept();
    assert.deepEqual(Object.keys(files!).sort(), ['7', '__proto__', 'constructor']);
    assert.deepEqual(await undo('run'), { undone: names, left: [] });
    assert.deepEqual(Object.keys((await talk.kept()).files!), []);
    assert.deepEqual(
      names.map((name) => talk.file(name)),
      [undefined, 'before\n', undefined],
    );
  });
});
