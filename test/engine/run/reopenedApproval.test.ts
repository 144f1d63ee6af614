import assert from 'node:assert/strict';
import { cpSync, existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { untrustedWorkspaceMessage } from '../../../src/engine/core/runResult.ts';
import { createLocalModelClient } from '../../../src/llm/local/host/client.ts';
import type { Message, ToolCall } from '../../../src/protocol/content/messages.ts';
import type { RunEvent } from '../../../src/protocol/run/events.ts';
import { pendingApprovalIds } from '../../../src/protocol/run/pending.ts';
import { builtinTools } from '../../../src/tools/host/builtinTools.ts';
import { eventually } from '../../support/eventually.ts';
import { call, type ScriptedReply, scriptedClient } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

const edit = (file: string, id: string, oldText = 'one') =>
  call('fs.edit', { path: file, edits: [{ oldText, newText: 'two' }] }, id);

// Holds pending-is-derived.
describe('a call that waited for an approval when its window ended', () => {
  let before: Conversation;
  const later: Conversation[] = [];
  afterEach(async () => {
    for (const one of later.splice(0)) {
      await one.engine.close();
      rmSync(one.folder, { recursive: true, force: true });
    }
    await before.end();
  });

  /** A run whose calls wait for the user; `answers` are for those before them. */
  const begin = async (calls: ToolCall[], answers: Conversation['answers'] = []) => {
    before = new Conversation(await temporaryWorkspace({ a: 'one\n', b: 'one\n', c: 'one\n' }), [{ calls }]);
    before.answers = [...answers, ...calls.map(() => 'wait' as const)];
    const done = before.start();
    await eventually('all are asked', () => before.questions.length === calls.length);
    return { done };
  };
  /** The next window has what is on disk in this moment, as after a kill. */
  const nextWindow = (...replies: ScriptedReply[]) => {
    const next = new Conversation(before.workspace, replies.length > 0 ? replies : [{ text: 'I see.' }]);
    cpSync(before.folder, next.folder, { recursive: true });
    rmSync(path.join(next.folder, 'runs', before.runId, 'lock'), { force: true });
    later.push(Object.assign(next, { runId: before.runId }));
    return next;
  };
  const resume = ({ engine, runId }: Conversation) => engine.continue({ runId, onlyApprovals: true });
  const told = ({ client }: Conversation) =>
    client.requests[0]!.messages.flatMap((message: Message) =>
      message.role === 'tool'
        ? message.toolResults.map(({ toolCallId, content }) => [toolCallId, JSON.parse(content)])
        : [],
    );
  const notes = ({ events }: Conversation) =>
    events.flatMap((event: RunEvent) => (event.type === 'question' ? [event.question.note] : []));
  const requests = ({ client }: Conversation) => client.requests.length;

  it('an orderly end leaves it open: no result, no end, nobody is told that the user stopped it', async () => {
    const { done } = await begin([edit('a', 'e')]);
    await before.engine.close();
    assert.equal((await done).phase, 'WaitingUser');
    const run = await before.kept();
    assert.deepEqual(pendingApprovalIds(run), ['e']);
    assert.deepEqual([run.messages.length, run.calls.e?.code, run.error?.code], [2, undefined, 'ENGINE_ABORTED']);
  });

  for (const how of ['closed', 'killed'] as const)
    it(`${how}: it is asked again without a request to the model, done once, and the run goes on`, async () => {
      await begin([edit('a', 'e')]);
      if (how === 'closed') await before.engine.close();
      const next = nextWindow();
      next.answers = ['wait'];
      const done = resume(next);
      await eventually('it is asked', () => next.questions.length === 1);
      assert.deepEqual([requests(next), next.file('a'), notes(next)], [0, 'one\n', [undefined]]);
      next.allowWaiting();
      await done;
      assert.deepEqual([next.questions, next.file('a'), requests(next)], [['Edit a'], 'two\n', 1]);
      await next.reads(`
user       hi
assistant  → fs.edit {"path":"a","edits":[{"oldText":"one","newText":"two"}]}
tool       {"ok":true,"data":{"path":"a","sha256":"(sha256)","matched":"exact","added":1,"removed":1}}
assistant  I see.
WaitingUser`);
    });

  it('allowed, and killed before it started: it is asked again', async () => {
    await begin([edit('a', 'e')]);
    const { engine } = before;
    const next = nextWindow();
    const log = await next.store.open(next.runId);
    await log.append({
      type: 'approval',
      runId: next.runId,
      seq: log.run.seq + 1,
      at: 1,
      toolCallId: 'e',
      decision: 'allow',
      waitedMs: 1,
    });
    await log.close();
    await resume(next);
    assert.deepEqual([next.questions, next.file('a')], [['Edit a'], 'two\n']);
    await engine.close();
  });

  it('a denial is told to the model, and the run goes on', async () => {
    await begin([edit('a', 'e')]);
    const next = nextWindow();
    next.answers = [{ decision: 'deny' }];
    await resume(next);
    assert.deepEqual([next.file('a'), requests(next)], ['one\n', 1]);
    assert.equal(told(next)[0]![1].error.code, 'TOOL_DENIED');
  });

  it('autopilot that was turned on in between does not answer it', async () => {
    await begin([call('shell.run', { command: 'touch made' }, 'r')]);
    const next = nextWindow();
    next.preset = 'autopilot';
    next.answers = ['wait'];
    const done = resume(next);
    await eventually('it is asked', () => next.questions.length === 1);
    assert.equal(next.file('made'), undefined);
    next.allowWaiting();
    await done;
    assert.equal(next.file('made'), '');
  });

  it('a rule that denies it came in between: it is denied without a question, and the run rests', async () => {
    await begin([call('shell.run', { command: 'touch made' }, 'r')]);
    const next = nextWindow();
    next.rules = [{ effect: 'deny', tool: 'shell.run', scope: 'user' }];
    assert.equal((await resume(next)).phase, 'WaitingUser');
    assert.deepEqual([next.questions, requests(next), pendingApprovalIds(await next.kept())], [[], 0, []]);
    await next.continue();
    assert.equal(told(next)[0]![1].error.code, 'TOOL_DENIED');
    assert.equal(next.file('made'), undefined);
  });

  for (const [how, proceed] of [
    ['Answer…', resume],
    ['Continue', (next: Conversation) => next.continue()],
  ] as const)
    it(`a window that is not trusted says so after ${how} and leaves it open; a trusted one asks it`, async () => {
      await begin([edit('a', 'e'), edit('b', 'f')]);
      const next = nextWindow();
      next.workspace.trusted = false;
      const { success, error } = await proceed(next);
      assert.deepEqual([success, error?.code, error?.message], [false, 'ENGINE_UNTRUSTED', untrustedWorkspaceMessage]);
      assert.deepEqual([next.questions, requests(next), next.file('a')], [[], 0, 'one\n']);
      const run = await next.kept();
      assert.deepEqual([pendingApprovalIds(run), run.calls.e?.code], [['e', 'f'], undefined]);
      next.workspace.trusted = true;
      await resume(next);
      assert.deepEqual([next.questions, requests(next)], [['Edit a', 'Edit b'], 1]);
      assert.deepEqual([next.file('a'), next.file('b')], ['two\n', 'two\n']);
    });

  for (const [what, gone] of [
    ['an edit', edit('a', 'e')],
    ['a command', call('shell.run', { command: 'touch made' }, 'e')],
  ] as const)
    it(`${what} in a worktree that is gone: nothing is run or created, the run rests, and the model hears of it`, async () => {
      await begin([gone]);
      rmSync(before.workspace.root, { recursive: true });
      const next = nextWindow();
      await resume(next);
      assert.deepEqual([requests(next), pendingApprovalIds(await next.kept())], [0, []]);
      assert.equal(existsSync(before.workspace.root), false);
      await next.continue();
      assert.equal(told(next)[0]![1].ok, false);
      assert.equal(existsSync(before.workspace.root), false);
    });

  it('no model on this machine is loaded before it is answered', async () => {
    await begin([edit('a', 'e')]);
    const next = nextWindow();
    const asked: string[] = [];
    const client = createLocalModelClient({
      workerPath: path.join(next.folder, 'worker.mjs'),
      get modelPath() {
        asked.push(next.events.some(({ type }) => type === 'approval') ? 'after' : 'before');
        return path.join(next.folder, 'none.gguf');
      },
      label: 'a model of this machine',
    });
    next.model = client;
    next.answers = ['wait'];
    const done = resume(next);
    await eventually('it is asked', () => next.questions.length === 1);
    assert.deepEqual([asked, client.pid()], [[], undefined]);
    next.allowWaiting();
    await done;
    assert.ok(asked.length > 0 && !asked.includes('before'), 'then its file is looked for');
    await client.dispose();
  });

  it('a file that changed elsewhere: the user is told, and sees the change as it is now', async () => {
    await begin([edit('a', 'e')]);
    before.workspace.write('a', 'zero\none\n');
    const next = nextWindow();
    await resume(next);
    assert.deepEqual(notes(next), ['The file has changed since the proposal; the edit still applies.']);
    assert.equal(next.file('a'), 'zero\ntwo\n');
  });

  it('an edit that no longer applies: nothing is asked, the run rests, and the model hears of it when it goes on', async () => {
    await begin([edit('a', 'e')]);
    before.workspace.write('a', 'other\n');
    const next = nextWindow();
    assert.equal((await resume(next)).phase, 'WaitingUser');
    assert.deepEqual([next.questions, requests(next), pendingApprovalIds(await next.kept())], [[], 0, []]);
    await next.continue();
    const [[, { error }]] = told(next) as [[string, { error: { message: string; details: object } }]];
    assert.match(error.message, /^The file has changed; the edit no longer applies\. /);
    assert.equal((error.details as { stale?: boolean }).stale, true);
    assert.equal(next.file('a'), 'other\n');
  });

  it('Continue asks it again, too, and goes on whatever becomes of it', async () => {
    await begin([edit('a', 'e')]);
    before.workspace.write('a', 'other\n');
    const next = nextWindow();
    await next.continue();
    assert.deepEqual([next.questions, requests(next)], [[], 1]);
  });

  it('a tool that is gone by now: the model is told, nothing is run', async () => {
    await begin([edit('a', 'e')]);
    const next = nextWindow();
    next.tools = builtinTools().filter(({ definition }) => definition.name !== 'fs.edit');
    next.build();
    await next.continue();
    assert.equal(told(next)[0]![1].error.code, 'TOOL_NOT_AVAILABLE');
    assert.equal(next.file('a'), 'one\n');
  });

  it('of a batch of which some were answered only the others are asked, in order, each once', async () => {
    const calls = [edit('a', 'x'), edit('b', 'y'), edit('c', 'z')];
    before = new Conversation(await temporaryWorkspace({ a: 'one\n', b: 'one\n', c: 'one\n' }), [{ calls }]);
    before.answers = [{ decision: 'allow' }, 'wait', 'wait'];
    void before.start();
    await eventually('the first is done', () => before.engine.live(before.runId)?.calls.x?.ok === true);
    before.workspace.write('a', 'touched since\n');
    const next = nextWindow();
    next.answers = [{ decision: 'deny' }, { decision: 'allow' }];
    await resume(next);
    assert.deepEqual(
      [next.questions, next.file('a'), next.file('b'), next.file('c')],
      [['Edit b', 'Edit c'], 'touched since\n', 'one\n', 'two\n'],
    );
    assert.deepEqual(
      told(next).map(([id, { ok }]) => [id, ok]),
      [
        ['x', true],
        ['y', false],
        ['z', true],
      ],
    );
  });

  it('words in its place are heard as ever: it did not run, and nothing is asked', async () => {
    await begin([edit('a', 'e')]);
    const next = nextWindow();
    await next.continue('Leave it.');
    assert.deepEqual([next.questions, next.file('a'), requests(next)], [[], 'one\n', 1]);
    assert.deepEqual(told(next)[0]![1].error.details, { reason: 'RUN_ENDED' });
    assert.deepEqual(pendingApprovalIds(await next.kept()), []);
  });

  it('it survives a second window that ended, too', async () => {
    await begin([edit('a', 'e')]);
    const second = nextWindow();
    second.answers = ['wait'];
    void resume(second);
    await eventually('it is asked', () => second.questions.length === 1);
    await second.engine.close();
    assert.deepEqual(pendingApprovalIds(await second.kept()), ['e']);
    const third = new Conversation(before.workspace, [{ text: 'Done.' }]);
    cpSync(second.folder, third.folder, { recursive: true });
    later.push(Object.assign(third, { runId: before.runId }));
    await resume(third);
    assert.deepEqual([third.file('a'), requests(third)], ['two\n', 1]);
  });

  it('another window that has the run open neither answers nor repeats it', async () => {
    await begin([edit('a', 'e')]);
    await before.engine.close();
    const next = nextWindow();
    next.answers = ['wait'];
    const done = resume(next);
    await eventually('it is asked', () => next.questions.length === 1);
    await assert.rejects(next.store.open(next.runId), { code: 'STORE_LOCKED' });
    next.allowWaiting();
    await done;
    const again = await resume(next); // a window that shows it as it was presses Answer… late
    assert.deepEqual([next.questions.length, requests(next), again.error?.code], [1, 1, 'ENGINE_NOT_ASKED']);
  });

  it('a branch of the run has no approval to answer', async () => {
    await begin([edit('a', 'e')]);
    const next = nextWindow();
    const { seq } = await next.kept();
    const branch = await next.store.fork(next.runId, seq);
    assert.deepEqual(pendingApprovalIds(await next.store.read(branch)), []);
  });

  it('nothing names the run before it is answered', async () => {
    await begin([edit('a', 'e')]);
    const next = nextWindow();
    const naming = scriptedClient([{ text: 'A name' }]);
    next.naming = naming;
    next.answers = ['wait'];
    const done = resume(next);
    await eventually('it is asked', () => next.questions.length === 1);
    assert.equal(naming.requests.length, 0);
    next.allowWaiting();
    await done;
  });
});
