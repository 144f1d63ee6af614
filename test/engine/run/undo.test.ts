import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import type { UndoConfirmationAnswer, UndoConfirmationRequest, UndoResult } from '../../../src/engine/run/undo.ts';
import { newestRedoableUndo } from '../../../src/protocol/run/runFiles.ts';
import { message } from '../../../src/protocol/text/l10n.ts';
import { undoableCallIds } from '../../../src/runs/undoSteps.ts';
import { sha256 } from '../../../src/tools/sandbox/fileText.ts';
import { call, type ScriptedReply } from '../../support/scriptedClient.ts';
import { unsaid } from '../../support/unsaid.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

describe('undo', () => {
  let talk: Conversation;
  let asked: UndoConfirmationRequest[];
  afterEach(() => talk.end());

  const write = (name: string, content: string) => call('fs.write', { path: name, content });
  const begin = async (files: Record<string, string>, ...replies: ScriptedReply[]) => {
    talk = new Conversation(await temporaryWorkspace(files), [...replies, { text: 'Done.' }]);
    asked = [];
    await talk.start();
  };
  const undo = async (
    scope: 'turn' | 'run',
    answer: UndoConfirmationAnswer = 'all',
    paths?: string[],
    meanwhile = () => {},
  ) => {
    const toolCallIds = undoableCallIds(await talk.kept(), scope);
    return talk.engine.undo(talk.runId, { toolCallIds, ...(paths && { paths }) }, talk.workspace, async (question) => {
      asked.push(question);
      meanwhile();
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
      left: [{ path: 'a', why: 'It has changed since.' }],
    });
    assert.deepEqual([files('a', 'b'), asked], [['mine', 'B'], [{ paths: ['a', 'b'], changedSince: ['a'] }]]);
    await undo('run', 'all');
    assert.deepEqual(files('a'), ['A']);
    const kept = (await talk.kept()).calls;
    const [change] = Object.values(kept)[0]!.changes!;
    assert.equal(await talk.store.contents.read(talk.runId, change!.before!), 'A');
  });

  it('takes what a killed undo left half written, in place, for no change of the person', async () => {
    await begin({ a: 'old grün text' }, { calls: [write('a', 'new')] });
    talk.workspace.write('a', Buffer.from('old grün').subarray(0, 7)); // in the middle of a letter
    assert.deepEqual(await undo('run', 'unchanged'), { undone: ['a'], left: [] });
    assert.deepEqual([files('a'), asked], [['old grün text'], [{ paths: ['a'], changedSince: [] }]]);
  });

  it('counts unsaved text as changed, and what was put back by hand as undone', async () => {
    await begin({ a: 'A', b: 'B' }, { calls: [write('a', 'A1'), write('b', 'B1')] });
    talk.workspace.openInEditor('a', 'typing');
    talk.workspace.write('b', 'B');
    await undo('run', 'unchanged');
    assert.deepEqual(asked, [{ paths: ['a', 'b'], changedSince: ['a'] }]);
    assert.deepEqual(files('a', 'b'), ['A1', 'B']);
  });

  it('asks about what somebody else changed between two of its changes', async () => {
    await begin(
      { a: 'A', b: 'B' },
      { calls: [write('a', 'A1'), write('b', 'B1')] },
      { text: 'Done.' },
      { calls: [write('a', 'mine, A2')] },
    );
    talk.workspace.write('a', 'mine');
    await talk.continue('more');
    assert.deepEqual(await undo('run', 'unchanged'), {
      undone: ['b'],
      left: [{ path: 'a', why: 'It has changed since.' }],
    });
    assert.deepEqual([files('a', 'b'), asked], [['mine, A2', 'B'], [{ paths: ['a', 'b'], changedSince: ['a'] }]]);
  });

  const nothing: [name: string, calls: Parameters<typeof begin>[1]][] = [
    ['made a file and deleted it', { calls: [write('tmp', 'T'), call('fs.delete', { path: 'tmp' })] }],
    ['changed a file and changed it back', { calls: [write('a', 'A2'), write('a', 'A1')] }],
  ];
  for (const [name, reply] of nothing)
    it(`of the turn goes on to the one before, where the newest ${name}`, async () => {
      await begin({ a: 'A' }, { calls: [write('a', 'A1')] }, reply);
      assert.deepEqual(await undo('turn'), { undone: ['a'], left: [] });
      assert.deepEqual([files('a'), undoableCallIds(await talk.kept(), 'run')], [['A'], []]);
    });

  it('after one that was killed takes away what that was writing beside a file it had put back', async () => {
    await begin({ 'in/a': 'A' }, { calls: [write('in/a', 'A1')] });
    talk.workspace.write('in/a', 'A');
    talk.workspace.write('in/.towpath-999999999-00000000-0000-0000-0000-000000000000.tmp', 'A');
    await undo('run');
    assert.deepEqual(readdirSync(path.join(talk.workspace.root, 'in')), ['a']);
  });

  it('does nothing after a no, nor to a file that changes while the question is open', async () => {
    await begin({ a: 'A' }, { calls: [write('a', 'A1')] });
    assert.deepEqual(await undo('run', 'none'), { undone: [], left: [] });
    const toolCallIds = undoableCallIds(await talk.kept(), 'run');
    const result = await talk.engine.undo(talk.runId, { toolCallIds }, talk.workspace, async () => {
      talk.workspace.write('a', 'mine');
      return 'all';
    });
    assert.deepEqual(result, { undone: [], left: [{ path: 'a', why: 'It changed while the approval was open.' }] });
    assert.deepEqual(files('a'), ['mine']);
  });

  it('is told to the model, and is there after a reload', async () => {
    await begin({ a: 'A' }, { calls: [write('a', 'A1')] }, { text: 'Done.' });
    await undo('run');
    assert.deepEqual((await talk.kept()).messages.at(-1), {
      role: 'system',
      content: 'The person has undone your changes of: a. Read again before you edit.',
      note: { line: message('You undid the changes in {0}', 'a'), whole: true },
    });
    assert.deepEqual(undoableCallIds(await talk.kept(), 'run'), []);
    await talk.continue('And now?');
    assert.ok(talk.client.requests.at(-1)!.messages.some((message) => /has undone/.test(message.content)));
  });

  it('is refused while the run is at work', async () => {
    await begin({ a: 'A' }, { calls: [write('a', 'A1')] }, { text: 'Done.' }, { calls: [write('a', 'A2')] });
    talk.events.length = 0;
    talk.answers = ['wait'];
    const working = talk.continue('more');
    await talk.seen('question');
    assert.deepEqual(unsaid(await undo('run')), {
      code: 'ENGINE_BUSY',
      message: 'This run is in progress. Stop it, then undo its changes.',
    });
    await talk.engine.stop(talk.runId);
    await working;
  });

  it('waits for an undo that is at work, and finds nothing more to do', async () => {
    await begin({ a: 'A' }, { calls: [write('a', 'A1')] });
    let second: ReturnType<typeof undo> | undefined;
    const first = undo('run', 'all', undefined, () => {
      second = undo('run');
    });
    assert.deepEqual(await first, { undone: ['a'], left: [] });
    assert.deepEqual(await second, { undone: [], left: [] });
    assert.deepEqual([files('a'), asked.length], [['A'], 1]);
  });

  it('is not in the way of the next message, which waits for it', async () => {
    await begin(
      { a: 'A' },
      { calls: [write('a', 'A1')] },
      { text: 'Done.' },
      { text: 'Seen.' },
      { text: 'Seen again.' },
    );
    const toldLast = () =>
      talk.client.requests
        .at(-1)!
        .messages.map(({ content }) => content)
        .join();
    let next: Promise<unknown> | undefined;
    await undo('run', 'all', undefined, () => {
      next = Promise.all([talk.say('And now?'), talk.say('And here?')]);
    });
    await next;
    assert.match(toldLast(), /has undone.*And now.*And here/s);
    const redone = newestRedoableUndo(await talk.kept(), () => true)!.seq;
    const redoing = talk.engine.undo(talk.runId, { undo: redone }, talk.workspace, async () => 'none');
    await talk.say('And then?'); // before the record is open
    await redoing;
    assert.match(toldLast(), /has redone.*And then/s);
    assert.deepEqual([(await talk.kept()).queued, files('a')], [[], ['A1']]);
  });

  it('does not keep a message that is stopped while it waits', async () => {
    await begin({ a: 'A' }, { calls: [write('a', 'A1')] }, { text: 'Done.' });
    const asked = talk.client.requests.length;
    let next: ReturnType<typeof talk.continue> | undefined;
    let stopping: Promise<void> | undefined;
    await undo('run', 'all', undefined, () => {
      next = talk.continue('And now?');
      stopping = talk.engine.stop(talk.runId);
    });
    await stopping;
    const { error, isUnheard } = (await next)!;
    assert.deepEqual([error?.code, isUnheard, talk.client.requests.length - asked], ['ENGINE_ABORTED', true, 0]);
    assert.deepEqual(files('a'), ['A']);
  });

  it('is waited for by a compaction', async () => {
    await begin({ a: 'A' }, { calls: [write('a', 'A1')] }, { text: 'Done.' });
    let compacted: Promise<unknown> | undefined;
    await undo('run', 'all', undefined, () => {
      compacted = talk.engine.compact(talk.runId);
    });
    assert.notEqual(await compacted, 'later');
    assert.deepEqual(files('a'), ['A']);
  });

  it('can be asked for again right after a no, while its record is still being closed', async () => {
    await begin({ a: 'A' }, { calls: [write('a', 'A1')] });
    const again = new Promise((resolve) => {
      void undo('run', 'none', undefined, () => setImmediate(() => resolve(undo('run'))));
    });
    assert.deepEqual(await again, { undone: ['a'], left: [] });
    assert.deepEqual(files('a'), ['A']);
  });

  it('says what is no longer kept', async () => {
    await begin({ a: 'A', b: 'B' }, { calls: [write('a', 'A1')] }, { calls: [write('b', 'B1')] });
    await talk.store.contents.trim(0, new Set());
    assert.deepEqual(await undo('run'), {
      undone: [],
      left: ['a', 'b'].map((path) => ({ path, why: 'This content is no longer stored.' })),
    });
    assert.deepEqual([files('a', 'b'), asked], [['A1', 'B1'], []]);
  });

  const ways: [name: string, ...calls: ReturnType<typeof call>[]][] = [
    ['was deleted', call('fs.delete', { path: 'old/a' })],
    ['was edited and deleted', write('old/a', 'changed'), call('fs.delete', { path: 'old/a' })],
    ['was edited and deleted with its folder', write('old/a', 'changed'), call('fs.delete', { path: 'old' })],
    ['was moved twice', call('fs.move', { from: 'old/a', to: 'b' }), call('fs.move', { from: 'b', to: 'c' })],
    [
      'was moved, edited and moved',
      call('fs.move', { from: 'old/a', to: 'b' }),
      write('b', 'changed'),
      call('fs.move', { from: 'b', to: 'c' }),
    ],
  ];
  const forms: [name: string, bytes: Buffer][] = [
    ['plain', Buffer.from('grün\n')],
    ['with a byte order mark', Buffer.from('\ufeffgrün\n')],
    ['in UTF-16', Buffer.from('\ufeffgrün\n', 'utf16le')],
    ['in UTF-16 the other way round', Buffer.from('\ufeffgrün\n', 'utf16le').swap16()],
  ];
  for (const [name, ...calls] of ways)
    for (const [form, bytes] of forms)
      it(`of a text that ${name} gives its very bytes and mode back: ${form}`, async () => {
        const workspace = await temporaryWorkspace({ 'old/a': bytes });
        chmodSync(path.join(workspace.root, 'old/a'), 0o750);
        talk = new Conversation(workspace, [{ calls }, { text: 'Done.' }]);
        asked = [];
        await talk.start();
        await undo('run', 'unchanged');
        const file = path.join(workspace.root, 'old/a');
        assert.deepEqual([readFileSync(file), statSync(file).mode & 0o777], [bytes, 0o750]);
        assert.deepEqual(readdirSync(workspace.root, { recursive: true }).sort(), ['old', 'old/a']);
      });

  describe('of a deletion', () => {
    const remove = (name: string) => call('fs.delete', { path: name });
    const bytes = (content: Buffer) => content as unknown as string;
    const picture = Buffer.from([0x89, 0, 255, 1]);
    const utf16 = Buffer.from('\ufeffgrün', 'utf16le');
    const at = (name: string) => path.join(talk.workspace.root, name);
    const old = { 'old/a.txt': 'A', 'old/b/picture.png': bytes(picture), 'old/b/wide.txt': bytes(utf16), other: 'O' };
    const prepare = () => {
      chmodSync(at('old/a.txt'), 0o755);
      mkdirSync(at('old/empty'));
      symlinkSync('../other', at('old/link'));
    };
    /** The folder is got ready before the model deletes it. */
    const beginPrepared = async (...replies: ScriptedReply[]) => {
      talk = new Conversation(await temporaryWorkspace(old), [...replies, { text: 'Done.' }]);
      asked = [];
      prepare();
      await talk.start();
    };
    const standing = () => [
      files('old/a.txt', 'other'),
      statSync(at('old/a.txt')).mode & 0o777,
      readFileSync(at('old/b/picture.png')),
      readFileSync(at('old/b/wide.txt')),
      readdirSync(at('old/empty')),
      readlinkSync(at('old/link')),
    ];
    const whole = [['A', 'O'], 0o755, picture, utf16, [], '../other'];

    it('of a folder brings back its files to the byte, their modes, links and empty folders', async () => {
      await beginPrepared({ calls: [remove('old')] });
      assert.deepEqual(files('old/a.txt', 'other'), [undefined, 'O']);
      const paths = ['old/a.txt', 'old/b/picture.png', 'old/b/wide.txt', 'old/empty', 'old/link'];
      assert.deepEqual(await undo('turn'), { undone: paths, left: [] });
      assert.deepEqual(asked, [{ paths, changedSince: [] }]);
      assert.deepEqual(standing(), whole);
      assert.deepEqual(undoableCallIds(await talk.kept(), 'run'), []);
    });

    it('is there after a reload, and with the edits around it in one go', async () => {
      await beginPrepared(
        { calls: [write('old/a.txt', 'A1'), write('old/new', 'N'), remove('old')] },
        { calls: [write('old/b/wide.txt', 'again')] },
      );
      await undo('run');
      assert.deepEqual(files('old/new'), [undefined]);
      assert.deepEqual(standing().slice(2), whole.slice(2));
      assert.deepEqual(files('old/a.txt'), ['A']);
    });

    it('never replaces what is there by now, and says so', async () => {
      await beginPrepared({ calls: [remove('old')] });
      talk.workspace.write('old/a.txt', 'mine');
      talk.workspace.write('old/b/wide.txt', 'mine');
      const { left } = (await undo('run')) as UndoResult;
      assert.deepEqual(
        left,
        ['old/a.txt', 'old/b/wide.txt'].map((path) => ({ path, why: 'Something else is there now.' })),
      );
      assert.deepEqual(asked[0]!.changedSince, []);
      assert.deepEqual(
        [files('old/a.txt', 'old/b/wide.txt'), readFileSync(at('old/b/picture.png'))],
        [['mine', 'mine'], picture],
      );
    });

    it('of one file of it brings back that one', async () => {
      await beginPrepared({ calls: [remove('old')] });
      await undo('run', 'all', ['old/b/picture.png']);
      assert.deepEqual([readFileSync(at('old/b/picture.png')), talk.workspace.exists('old/a.txt')], [picture, false]);
    });

    it('goes where it was and nowhere else: not through a link that is there now', async () => {
      await beginPrepared({ calls: [remove('old')] });
      const outside = await temporaryWorkspace();
      symlinkSync(outside.root, at('old'));
      const { undone } = (await undo('run')) as UndoResult;
      assert.deepEqual([undone, readdirSync(outside.root)], [[], []]);
      outside.cleanup();
    });

    it('says what the quota has not kept', async () => {
      await beginPrepared({ calls: [remove('old/b/picture.png')] });
      await talk.store.contents.trim(0, new Set());
      const left = [{ path: 'old/b/picture.png', why: 'This content is no longer stored.' }];
      assert.deepEqual(await undo('run'), { undone: [], left });
    });
  });

  describe('of a move', () => {
    const move = (from: string, to: string) => call('fs.move', { from, to });
    const bytes = (content: Buffer) => content as unknown as string;

    it('puts a text back where it was, with its mode and what was edited since undone', async () => {
      await begin({ 'run.sh': 'A' }, { calls: [move('run.sh', 'bin/go.sh')] }, { calls: [write('bin/go.sh', 'A1')] });
      const [moved] = Object.values((await talk.kept()).calls);
      const id = sha256('A');
      assert.deepEqual(moved!.changes, [
        { path: 'run.sh', before: id, after: null, mode: 0o644 },
        { path: 'bin/go.sh', before: null, after: id },
      ]);
      await undo('turn');
      assert.deepEqual(files('run.sh', 'bin/go.sh'), [undefined, 'A']);
      chmodSync(path.join(talk.workspace.root, 'bin/go.sh'), 0o755);
      assert.deepEqual(await undo('turn'), { undone: ['run.sh', 'bin/go.sh'], left: [] });
      assert.deepEqual(files('run.sh', 'bin/go.sh'), ['A', undefined]);
      assert.equal(statSync(path.join(talk.workspace.root, 'run.sh')).mode & 0o777, 0o755);
      assert.deepEqual(undoableCallIds(await talk.kept(), 'run'), []);
    });

    it('and of the edits before and after it, in one go', async () => {
      await begin({ a: 'A' }, { calls: [write('a', 'A1'), move('a', 'b'), write('b', 'A2')] });
      await undo('run');
      assert.deepEqual(files('a', 'b'), ['A', undefined]);
    });

    it('of a text that the person edited since asks first', async () => {
      await begin({ a: 'A' }, { calls: [move('a', 'b')] });
      talk.workspace.write('b', 'mine');
      assert.deepEqual(await undo('run', 'unchanged'), {
        undone: ['a'],
        left: [{ path: 'b', why: 'It has changed since.' }],
      });
      assert.deepEqual([files('a', 'b'), asked], [['A', 'mine'], [{ paths: ['a', 'b'], changedSince: ['b'] }]]);
    });

    it('of a folder moves it back, with its files as they were', async () => {
      await begin(
        { 'old/x': 'X', 'old/y': 'Y' },
        { calls: [write('old/x', 'X1'), move('old', 'new'), write('new/x', 'X2'), write('new/z', 'Z')] },
      );
      const moved = Object.values((await talk.kept()).calls).map((one) => one.moved);
      assert.deepEqual(moved, [undefined, { from: 'old', to: 'new' }, undefined, undefined]);
      assert.deepEqual(await undo('run'), { undone: ['new/x', 'new/z', 'new'], left: [] });
      assert.deepEqual(files('old/x', 'old/y', 'new/x', 'old/z'), ['X', 'Y', undefined, undefined]);
      assert.deepEqual(asked, [{ paths: ['new/x', 'new/z', 'new'], changedSince: [] }]);
      assert.deepEqual(undoableCallIds(await talk.kept(), 'run'), []);
    });

    it('of a file that is no text moves it back, unless something is there', async () => {
      await begin({ 'a.bin': bytes(Buffer.from([0, 255, 1])) }, { calls: [move('a.bin', 'b.bin')] });
      talk.workspace.write('a.bin', 'mine');
      const { left } = (await undo('run')) as UndoResult;
      assert.deepEqual(left, [{ path: 'b.bin', why: '"a.bin" exists already.' }]);
      rmSync(path.join(talk.workspace.root, 'a.bin'));
      assert.deepEqual(await undo('run'), { undone: ['b.bin'], left: [] });
      assert.deepEqual([talk.workspace.exists('a.bin'), talk.workspace.exists('b.bin')], [true, false]);
    });

    it('is not made after a no', async () => {
      await begin({ 'old/x': 'X' }, { calls: [move('old', 'new')] });
      await undo('run', 'none');
      assert.deepEqual(files('new/x'), ['X']);
    });
  });
});
