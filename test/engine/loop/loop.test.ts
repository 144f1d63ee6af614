import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ExecutionEngine } from '../../../src/engine/run/engine.ts';
import { LLMError } from '../../../src/llm/core/errors.ts';
import { pendingCalls } from '../../../src/protocol/run/pending.ts';
import type { Run } from '../../../src/protocol/run/run.ts';
import { RunStore } from '../../../src/runs/store.ts';
import { createToolHost } from '../../../src/tools/host/host.ts';
import { defaultChatWorkflow } from '../../../src/workflows/run/chatWorkflow.ts';
import { call, type ScriptedReply } from '../../support/scriptedClient.ts';
import { transcript } from '../../support/transcript.ts';
import { unsaid } from '../../support/unsaid.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

const waitingIn = ({ queued }: Run) => queued.map(({ text }) => text);

describe('the loop', () => {
  let talk: Conversation;
  afterEach(() => talk.end());
  const begin = async (files: Record<string, string>, ...replies: ScriptedReply[]) => {
    talk = new Conversation(await temporaryWorkspace(files), replies);
  };
  const write = (name: string, content: string) => call('fs.write', { path: name, content });

  it('ends its work without a word: it is asked twice, and then it is the user’s turn', async () => {
    await begin({ a: 'A' }, { calls: [call('fs.read', { path: 'a' })] }, { text: '' }, { text: ' ' });
    const { phase, error, success } = await talk.start();
    assert.deepEqual([phase, error, success], ['WaitingUser', undefined, true]);
    assert.equal(talk.client.requests.length, 3);
  });

  it('says nothing at all: that is a failure', async () => {
    await begin({}, { text: '' }, { text: '' });
    assert.equal((await talk.start()).error?.code, 'LLM_BAD_RESPONSE');
  });

  it('hands back to the person when the model asks for nothing', async () => {
    await begin({}, { thinking: 'A greeting.', text: 'Hello.' });
    assert.deepEqual(await talk.start(), { success: true, phase: 'WaitingUser', assistantText: 'Hello.' });
    await talk.reads(`
user       hi
assistant  Hello.
WaitingUser`);
  });

  const unreadable = '<tool_call>\n{"name": "no_such_tool", "arguments": {}}\n</tool_call>';

  it('tells the model of a written call that nobody can read, and goes on', async () => {
    await begin({}, { text: unreadable }, { text: 'It is four.' });
    const { success, assistantText } = await talk.start();
    assert.deepEqual({ success, assistantText }, { success: true, assistantText: 'It is four.' });
    assert.match(JSON.stringify((await talk.kept()).messages), /could not be read, so nothing was run/);
  });

  it('ends without success when the model writes such a call again', async () => {
    await begin({}, { text: unreadable }, { text: unreadable });
    const { success, phase, error } = await talk.start();
    assert.deepEqual([success, phase, error?.code], [false, 'WaitingUser', 'LLM_BAD_RESPONSE']);
  });

  it('is completed when the workflow says so, and can still be continued', async () => {
    await begin({}, { text: 'Half.' }, { text: 'Done.' });
    talk.workflow = {
      ...defaultChatWorkflow,
      advance: (context) =>
        context.turns({
          agent: defaultChatWorkflow.agent,
          isComplete: () => context.run.messages.at(-1)?.content === 'Done.',
        }),
    };
    talk.build();
    assert.equal((await talk.start()).phase, 'WaitingUser');
    assert.equal((await talk.continue('and the rest')).phase, 'Completed');
    assert.equal((await talk.kept()).phase, 'Completed');
    assert.equal((await talk.continue('more')).phase, 'WaitingUser');
  });

  it('reads freely, asks before a change, and tells the model each outcome', async () => {
    await begin(
      { 'a.txt': 'one\n' },
      { text: 'I look.', calls: [call('fs.delete', { path: 'a.txt' })] },
      { text: 'Gone.' },
    );
    await talk.start('delete a');
    assert.deepEqual(talk.questions, ['Delete a.txt']);
    assert.equal(talk.file('a.txt'), undefined);
    const run = await talk.kept();
    assert.equal(run.phase, 'WaitingUser');
    assert.deepEqual(
      JSON.parse((run.messages[2] as { toolResults: { content: string }[] }).toolResults[0]!.content).ok,
      true,
    );
  });

  it('answers every call in the order asked, each with its id', async () => {
    const calls = [
      call('fs.read', { path: 'a' }),
      write('b', 'B'),
      call('fs.read', { path: 'b' }),
      call('fs.read', { path: 'none' }),
    ];
    await begin({ a: 'A' }, { calls }, { text: 'Done.' });
    await talk.start();
    const results = (await talk.kept()).messages.flatMap((message) =>
      message.role === 'tool' ? message.toolResults : [],
    );
    assert.deepEqual(
      results.map((result) => result.toolCallId),
      calls.map((one) => one.id),
    );
    const outcomes = results.map((result) => JSON.parse(result.content));
    assert.deepEqual(
      outcomes.map((outcome) => outcome.data?.text ?? outcome.error?.code ?? 'written'),
      ['A', 'written', 'B', 'ENOENT'],
    );
  });

  it('a denied call is told to the model, which goes on', async () => {
    await begin({}, { calls: [write('x', 'X')] }, { text: 'Then not.' });
    talk.answers = [{ decision: 'deny' }];
    await talk.start();
    assert.equal(talk.file('x'), undefined);
    assert.match(transcript(await talk.kept()), /"code":"TOOL_DENIED"[^\n]*\nassistant {2}Then not\.\nWaitingUser$/);
  });

  it('a second turn that is denied whole is the person’s turn', async () => {
    await begin({}, { calls: [write('x', 'X')] }, { calls: [write('y', 'Y')] }, { calls: [write('z', 'Z')] });
    talk.answers = [{ decision: 'deny' }, { decision: 'deny' }];
    await talk.start();
    assert.equal(talk.client.requests.length, 2);
    assert.equal((await talk.kept()).phase, 'WaitingUser');
  });

  it('what is allowed for the run is not asked again', async () => {
    await begin({}, { calls: [write('x', '1'), write('y', '2')] }, { calls: [write('x', '3')] }, { text: 'Done.' });
    talk.answers = [{ decision: 'allow-run' }, 'wait']; // the second question is open, too, and goes
    await talk.start();
    assert.deepEqual([talk.questions.length, talk.file('x'), talk.file('y')], [2, '3', '2']);
  });

  it('is asked about again in a run that was deleted and came back', async () => {
    await begin({}, { calls: [write('x', '1')] }, { text: 'Once.' }, { calls: [write('x', '2')] }, { text: 'Twice.' });
    talk.answers = [{ decision: 'allow-run' }];
    await talk.start();
    await talk.store.deleted.restore(await talk.store.delete(talk.runId));
    talk.engine.forget(talk.runId);
    assert.equal((await talk.continue('again')).assistantText, 'Twice.');
    assert.deepEqual([talk.questions.length, talk.file('x')], [2, '2']);
  });

  it('asks about 64 of 500 calls at once, and one "no" to all of them runs nothing', async () => {
    const calls = Array.from({ length: 500 }, (_, index) => write(`${index}`, 'x'));
    await begin({}, { calls }, { text: 'Then not.' });
    talk.answers = Array(64).fill({ decision: 'deny' });
    await talk.start();
    const results = (await talk.kept()).messages.flatMap((message) =>
      message.role === 'tool' ? message.toolResults : [],
    );
    assert.deepEqual(
      [talk.questions.length, talk.workspace.effects, results.map(({ error }) => error)],
      [64, [], Array(500).fill('TOOL_DENIED')],
    );
    assert.match(results.at(-1)!.content, /Too many calls in one answer/);
  });

  it('stops after the turns it may take, and goes on when told to', async () => {
    await begin({ a: 'A' }, ...['a', 'b', 'c'].map((id) => ({ calls: [call('fs.list', { path: '.' }, id)] })), {
      text: 'At last.',
    });
    talk.maxTurns = 2;
    assert.equal((await talk.start()).error?.code, 'ENGINE_MAX_TURNS_EXCEEDED');
    assert.equal((await talk.kept()).phase, 'Failed');
    assert.deepEqual(await talk.continue(), { success: true, phase: 'WaitingUser', assistantText: 'At last.' });
  });

  it('takes twenty turns unless it is told otherwise, and twenty more each time', async () => {
    const looks = Array.from({ length: 45 }, (_, at) => ({ calls: [call('fs.find', { pattern: `${at}` })] }));
    await begin({}, ...looks);
    talk.maxTurns = undefined;
    talk.build();
    for (const requests of [20, 40]) {
      const { phase, error } = await (requests === 20 ? talk.start() : talk.continue());
      assert.deepEqual([phase, error?.code], ['Failed', 'ENGINE_MAX_TURNS_EXCEEDED']);
      assert.equal(talk.client.requests.length, requests);
    }
  });

  const miss = (name: string) => ({ calls: [call('fs.read', { path: name })] });

  it('lets a model mend what was wrong', async () => {
    const malformed = { ...call('fs.read', {}), malformed: '{"path": ' };
    await begin(
      { a: 'A' },
      { calls: [malformed] },
      { calls: [call('fs.reed', { path: 'a' })] },
      { calls: [call('fs.read', { paht: 'a' })] },
      miss('a'),
      {
        text: 'Read.',
      },
    );
    await talk.start();
    const codes = (await talk.kept()).messages.flatMap((message) =>
      message.role === 'tool' ? [message.toolResults[0]!.error] : [],
    );
    assert.deepEqual(codes, ['TOOL_ARGS_INVALID_JSON', 'TOOL_NOT_AVAILABLE', 'TOOL_ARGS_INVALID', undefined]);
  });

  it('sends the same beginning every turn, and everything said after it', async () => {
    await begin({ a: 'A' }, miss('a'), { text: 'Done.' }, { text: 'Again.' });
    await talk.start();
    await talk.continue('more');
    const [first, second, third] = talk.client.requests;
    assert.deepEqual(
      [second, third].map((request) => [request!.systemPrompt, request!.tools]),
      [first, first].map((request) => [request!.systemPrompt, request!.tools]),
    );
    assert.deepEqual(second!.messages.slice(0, 1), first!.messages);
    assert.deepEqual(third!.messages.slice(0, 3), second!.messages);
    assert.match(first!.systemPrompt!, /You are Towpath/);
  });

  it('what is said while it works is given at the next turn', async () => {
    await begin({ a: 'A' }, { calls: [call('fs.read', { path: 'a' }), write('b', 'B')] }, { text: 'Both.' });
    talk.answers = ['wait'];
    const done = talk.start();
    await talk.seen('question');
    assert.equal(await talk.engine.say({ runId: talk.runId, userInput: 'also this' }), true);
    assert.deepEqual(waitingIn(await talk.kept()), ['also this']);
    await talk.engine.stop(talk.runId);
    await done;
    await talk.continue();
    assert.deepEqual((await talk.kept()).queued, []);
    assert.equal(talk.client.requests.at(-1)!.messages.at(-1)!.content, 'also this');
  });

  it('what is said at any moment is heard, however near the end', async () => {
    const script = [{ calls: [call('fs.read', { path: 'a' })] }, { text: 'Read.' }, { text: 'More.' }];
    await begin({ a: 'A' }, ...script);
    await talk.start();
    const moments = talk.events.map(({ type }) => type);
    for (const [moment, type] of moments.entries()) {
      await talk.end();
      await begin({ a: 'A' }, ...script);
      let said: Promise<void> | undefined;
      let told = 0;
      talk.told = () => {
        if (told++ === moment) said = talk.say('and more');
      };
      await talk.start();
      await said;
      while (talk.engine.liveIds.length > 0) await new Promise((resolve) => setTimeout(resolve, 1));
      const run = await talk.kept();
      const words = run.messages.flatMap(({ role, content }) => (role === 'user' ? [content] : []));
      const at = `at event ${moment}, ${type}`;
      assert.deepEqual([words, run.queued, run.phase], [['hi', 'and more'], [], 'WaitingUser'], at);
      assert.equal(run.messages.at(-1)!.role, 'assistant', at);
    }
  });

  it('replaces call ids that cannot be used twice or at all', async () => {
    const ids = ['same', 'same', '', '__proto__', 'x'.repeat(10_000)];
    await begin({ a: 'A' }, { calls: ids.map((id) => call('fs.read', { path: 'a' }, id)) }, { text: 'Done.' });
    await talk.start();
    const run = await talk.kept();
    const asked = run.messages
      .flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
      .map(({ id }) => id);
    assert.equal(new Set(asked).size, 5);
    assert.deepEqual(
      asked.map((id) => run.calls[id]?.ok),
      Array(5).fill(true),
    );
    await talk.reads(transcript(run));
  });

  it('answers every call of one reply, runs at most 64 of them, and goes on', async () => {
    await begin(
      { a: 'A' },
      { calls: Array.from({ length: 70 }, (_, at) => call('fs.read', { path: 'a' }, `c${at}`)) },
      { text: 'Done.' },
    );
    assert.deepEqual(await talk.start(), { success: true, phase: 'WaitingUser', assistantText: 'Done.' });
    const results = (await talk.kept()).messages.flatMap((message) =>
      message.role === 'tool' ? message.toolResults : [],
    );
    const told = results.map(({ toolCallId, error = 'read' }) => `${toolCallId} ${error}`);
    const expected = Array.from({ length: 70 }, (_, at) => `c${at} ${at < 64 ? 'read' : 'TOOL_DENIED'}`);
    assert.deepEqual(told, expected);
    assert.equal(talk.events.filter(({ type }) => type === 'tool-start').length, 64);
  });

  it('the same for reads and changes in turn, and a call like one beyond the limit is free to fail once more', async () => {
    const missing = call('fs.read', { path: 'none' });
    const mixed = Array.from({ length: 64 }, (_, at) =>
      at % 16 ? call('fs.list', { path: '.' }) : write(`${at}`, 'x'),
    );
    await begin({}, { calls: [...mixed, missing, missing, missing] }, { calls: [missing] }, { text: 'Done.' });
    assert.equal((await talk.start()).assistantText, 'Done.');
    assert.deepEqual([talk.questions.length, talk.workspace.effects.length], [4, 4]);
    const last = (await talk.kept()).messages.at(-2);
    assert.doesNotMatch(JSON.stringify(last), /Too many|repeats calls/);
  });

  describe('when it is paused', () => {
    it('finishes the turn, question and all, rests, and goes on when told to', async () => {
      await begin({}, { calls: [write('x', 'X')] }, { text: 'Written.' });
      talk.answers = ['wait'];
      const done = talk.start();
      await talk.seen('question');
      talk.engine.pause(talk.runId);
      await talk.seen('pausing');
      await talk.engine.say({ runId: talk.runId, userInput: 'and y' });
      talk.allowWaiting();
      assert.deepEqual(await done, { success: true, phase: 'WaitingUser', assistantText: null });
      assert.deepEqual([talk.file('x'), talk.client.requests.length], ['X', 1]);
      const run = await talk.kept();
      assert.deepEqual([run.phase, run.error, waitingIn(run)], ['WaitingUser', undefined, ['and y']]);
      assert.equal((await talk.continue()).assistantText, 'Written.');
      assert.equal(talk.client.requests.at(-1)!.messages.at(-1)!.content, 'and y');
    });

    it('a run that rests, or is not there, is left alone', async () => {
      await begin({}, { text: 'Hello.' }, { calls: [call('fs.list', { path: '.' })] }, { text: 'Listed.' });
      talk.engine.pause('run-none');
      await talk.start();
      talk.engine.pause(talk.runId);
      assert.equal((await talk.continue('list')).assistantText, 'Listed.');
    });
  });

  describe('when it is stopped', () => {
    it('while the model writes: what was shown is kept, and the next message goes on', async () => {
      await begin({}, { text: 'I begin', endless: true }, { text: 'Yes?' });
      const done = talk.start();
      await talk.seen('chunk');
      await talk.engine.stop(talk.runId);
      assert.equal((await done).error?.code, 'ENGINE_ABORTED');
      const told = talk.events.length;
      await new Promise((resolve) => setTimeout(resolve, 30));
      assert.equal(talk.events.length, told, 'nothing arrives later');
      const run = await talk.kept();
      assert.equal(run.phase, 'Failed');
      assert.equal(run.messages[1]!.role === 'assistant' && run.messages[1]!.incomplete, true);
      assert.equal((await talk.continue('go on')).assistantText, 'Yes?');
    });

    it('while a question is open: a late yes runs nothing', async () => {
      await begin({}, { calls: [write('x', 'X'), write('y', 'Y')] }, { text: 'Fine.' });
      talk.answers = ['wait', 'wait'];
      const done = talk.start();
      await talk.seen('question');
      await talk.engine.stop(talk.runId);
      await done;
      assert.deepEqual([talk.file('x'), talk.file('y')], [undefined, undefined]);
      const codes = (await talk.kept()).messages.flatMap((message) =>
        message.role === 'tool' ? [message.toolResults[0]!.error] : [],
      );
      assert.deepEqual(codes, ['TOOL_INTERRUPTED', 'TOOL_INTERRUPTED']);
      assert.equal((await talk.continue('well?')).assistantText, 'Fine.');
    });

    it('while a command runs: it ends with its children', async () => {
      const command = 'sleep 300 & echo $! > pid; wait';
      await begin({}, { calls: [call('shell.run', { command })] }, { text: 'Fine.' });
      const done = talk.start();
      while (!talk.file('pid')?.trim()) await new Promise((resolve) => setTimeout(resolve, 5));
      await talk.engine.stop(talk.runId);
      assert.equal((await done).error?.code, 'ENGINE_ABORTED');
      const pid = Number(talk.file('pid'));
      const alive = () => {
        try {
          return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
        } catch {
          return false;
        }
      };
      while (alive()) await new Promise((resolve) => setTimeout(resolve, 10));
      assert.equal((await talk.continue('well?')).assistantText, 'Fine.');
    });

    it('twice, after its end, or a run that is not there: nothing happens', async () => {
      await begin({}, { text: 'Hello.' });
      await talk.engine.stop('run-none');
      await talk.start();
      await talk.engine.stop(talk.runId);
      assert.equal((await talk.kept()).phase, 'WaitingUser');
    });
  });

  describe('when the model fails', () => {
    it('keeps what was shown and runs nothing of the broken answer', async () => {
      const error = new LLMError('LLM_INCOMPLETE', 'The stream ended early.');
      await begin({}, { text: 'I will write.', calls: [write('x', 'X')], error });
      assert.equal((await talk.start()).error?.code, 'LLM_INCOMPLETE');
      assert.equal(talk.file('x'), undefined);
      await talk.reads(`
user       hi
assistant  I will write. …
Failed LLM_INCOMPLETE`);
    });

    it('runs nothing of an answer that was cut by its length', async () => {
      await begin({}, { text: 'I will write.', calls: [write('x', 'X')], finishReason: 'length' }, { text: 'Whole.' });
      assert.equal((await talk.start()).error?.code, 'LLM_INCOMPLETE');
      assert.equal(talk.file('x'), undefined);
      await talk.reads(`
user       hi
assistant  I will write. …
WaitingUser LLM_INCOMPLETE`);
      assert.equal((await talk.continue()).assistantText, 'Whole.');
    });

    it('keeps the reads that had begun, with their results', async () => {
      const error = new LLMError('LLM_INCOMPLETE', 'The stream ended early.');
      await begin({ a: 'A' }, { text: 'I read.', calls: [call('fs.list', { path: '.' })], error }, { text: 'Whole.' });
      await talk.start();
      await talk.reads(transcript(await talk.kept()));
      assert.equal((await talk.continue()).assistantText, 'Whole.');
    });

    const none: [code: string, error: Error][] = [
      ['UNKNOWN', new Error('No endpoint is set.')],
      ['LLM_AUTH_FAILED', new LLMError('LLM_AUTH_FAILED', 'No endpoint is set.')],
    ];
    for (const [code, error] of none)
      it(`says so when there is no model to talk to (${code}), and keeps the person’s words`, async () => {
        await begin({});
        const engine = new ExecutionEngine({
          store: talk.store,
          host: createToolHost({ workspace: talk.workspace, tools: [], approve: async () => ({ decision: 'deny' }) }),
          workflow: async () => defaultChatWorkflow,
          model: () => Promise.reject(error),
          workspace: async () => ({ names: [] }),
          maxTurns: () => 1,
          onEvent: () => {},
        });
        const result = await engine.start({ runId: talk.runId, userInput: 'hi' });
        assert.deepEqual(result.error, { code, message: 'No endpoint is set.' });
        await talk.reads(`
user       hi
Failed ${code}`);
      });
  });

  it('when its tools cannot be loaded it says so and keeps the person’s words, and goes on once they can', async () => {
    await begin({ a: 'A' }, { calls: [call('fs.read', { path: 'a' })] }, { text: 'It is an A.' });
    talk.unloaded = new Error('Reload the window.');
    assert.deepEqual((await talk.start()).error, { code: 'UNKNOWN', message: 'Reload the window.' });
    talk.unloaded = undefined;
    assert.equal((await talk.continue()).assistantText, 'It is an A.');
    assert.match(transcript(await talk.kept()), /^user {7}hi\n/);
  });

  it('calls without an end wait for the tools that know how the files stand', async () => {
    await begin({}, { calls: [write('x', 'X')] }, { text: 'It is there.' });
    const journal = path.join(talk.folder, 'runs', talk.runId, 'journal.jsonl');
    let before = '';
    talk.told = ({ type }) => {
      if (type === 'tool-end') before = readFileSync(journal, 'utf8');
    };
    await talk.start();
    const lines = before.split('\n');
    writeFileSync(
      journal,
      `${lines
        .slice(
          0,
          lines.findIndex((line) => line.includes('"tool-end"')),
        )
        .join('\n')}\n`,
    );
    talk.build();
    talk.unloaded = new Error('Reload the window.');
    assert.equal((await talk.continue('go on')).error?.message, 'Reload the window.');
    assert.equal(pendingCalls((await talk.kept()).messages).length, 1, 'nothing is made up about it');
    talk.unloaded = undefined;
    await talk.continue();
    assert.match(transcript(await talk.kept()), /it was done: x\. Do not repeat it\..*\nuser {7}go on\n/);
  });

  it('T19 a reload in mid-question: nothing ran, the question counts as a no, and the run goes on', async () => {
    await begin({}, { calls: [write('x', 'X')] }, { text: 'As you like.' });
    talk.answers = ['wait'];
    void talk.start();
    await talk.seen('question');
    const journal = path.join(talk.folder, 'runs', talk.runId, 'journal.jsonl');
    const before = readFileSync(journal);
    // Another window's view of the same record, from the moment the editor went away.
    await talk.engine.stop(talk.runId);
    writeFileSync(journal, before);
    const reopened = await talk.kept();
    assert.equal(reopened.phase, 'Running');
    assert.equal(pendingCalls(reopened.messages).length, 1);
    talk.build();
    assert.equal((await talk.continue('go on')).assistantText, 'As you like.');
    assert.equal(talk.file('x'), undefined);
    assert.match(transcript(await talk.kept()), /TOOL_DENIED/);
  });

  it('a call that was running when the editor went away is told as interrupted and not repeated', async () => {
    await begin({}, { calls: [call('shell.run', { command: 'echo ran >> log; sleep 300' })] }, { text: 'I see.' });
    void talk.start();
    while (!talk.file('log')) await new Promise((resolve) => setTimeout(resolve, 5));
    const journal = path.join(talk.folder, 'runs', talk.runId, 'journal.jsonl');
    const before = readFileSync(journal);
    await talk.engine.stop(talk.runId);
    writeFileSync(journal, before);
    talk.build();
    await talk.continue('go on');
    assert.equal(talk.file('log'), 'ran\n');
    assert.match(transcript(await talk.kept()), /TOOL_INTERRUPTED/);
  });

  it('two runs side by side do not mix', async () => {
    await begin({ a: 'A' }, { text: 'one' }, { text: 'two' });
    const other = RunStore.newId();
    await Promise.all([talk.start('first'), talk.engine.start({ runId: other, userInput: 'second' })]);
    const words = async (id: string) => (await talk.store.read(id)).messages.map((message) => message.content);
    assert.deepEqual([(await words(talk.runId))[0], (await words(other))[0]], ['first', 'second']);
  });

  it('a run that is not there is said to be none, and nothing is made for it', async () => {
    await begin({}, { text: 'Hello.' });
    const none = RunStore.newId();
    const entered = await talk.engine.continue({ runId: none, userInput: 'hi' });
    const undone = await talk.engine.undo(none, { toolCallIds: [] }, talk.workspace, async () => 'all');
    const error = { code: 'ENGINE_RUN_NOT_FOUND', message: 'This run does not exist, or no longer exists.' };
    assert.deepEqual(unsaid([entered, undone]), [{ success: false, phase: 'Failed', error, isUnheard: true }, error]);
    assert.deepEqual([await talk.store.list(), talk.events, talk.client.requests], [[], [], []]);
  });

  it('a run is started once: its id is not taken a second time, and it stays as it is', async () => {
    await begin({}, { text: 'Hello.' }, { text: 'Still here.' });
    await talk.start();
    const { success, phase, error } = await talk.start('again');
    assert.deepEqual([success, phase, error?.code], [false, 'Failed', 'ENGINE_RUN_EXISTS']);
    await talk.reads(`
user       hi
assistant  Hello.
WaitingUser`);
    assert.equal((await talk.continue('on')).assistantText, 'Still here.');
  });

  it('its record names the model it began with, before that was asked', async () => {
    await begin({}, { error: new LLMError('LLM_AUTH_FAILED', 'No.') });
    await talk.start();
    assert.equal((await talk.kept()).model, 'scripted/one');
    assert.deepEqual(
      talk.events.flatMap((event) => (event.type === 'run-start' ? [event.model] : [])),
      ['scripted/one'],
    );
  });

  it('a run that is at work cannot be entered twice', async () => {
    await begin({}, { endless: true, text: 'x' });
    const done = talk.start();
    await talk.seen('chunk');
    assert.equal((await talk.continue('again')).error?.code, 'ENGINE_BUSY');
    await talk.engine.stop(talk.runId);
    await done;
  });
});
