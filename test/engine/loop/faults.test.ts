import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ExecutionEngine } from '../../../src/engine/run/engine.ts';
import { type AdapterLimits, createAdapter } from '../../../src/llm/adapter/adapter.ts';
import { LLMError } from '../../../src/llm/core/errors.ts';
import type { RunEvent } from '../../../src/protocol/run/events.ts';
import { pendingCalls } from '../../../src/protocol/run/pending.ts';
import type { Run } from '../../../src/protocol/run/run.ts';
import { RunStore } from '../../../src/runs/store.ts';
import type { ApprovalRequester } from '../../../src/tools/core/tool.ts';
import { builtinTools } from '../../../src/tools/host/builtinTools.ts';
import { createToolHost } from '../../../src/tools/host/host.ts';
import { defaultChatWorkflow } from '../../../src/workflows/run/chatWorkflow.ts';
import { clientFor } from '../../llm/serve.ts';
import { eventually } from '../../support/eventually.ts';
import { longText } from '../../support/longText.ts';
import { type ProviderReply, reply, startProvider } from '../../support/provider.ts';
import { call, type ScriptedReply, scriptedClient } from '../../support/scriptedClient.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';

let workspace: TemporaryWorkspace;
let folder: string;
beforeEach(async () => {
  workspace = await temporaryWorkspace({ 'a.txt': 'one\n', b: 'B' });
  folder = mkdtempSync(path.join(tmpdir(), 'towpath-faults-'));
});
afterEach(() => {
  workspace.cleanup();
  rmSync(folder, { recursive: true });
});

interface Ran {
  run: Run;
  events: RunEvent[];
  asked: string[];
  engine: ExecutionEngine;
}

const allow: ApprovalRequester = async () => ({ decision: 'allow' });
const hasty: Partial<AdapterLimits> = { retries: 1, baseDelayMs: 1, maxDelayMs: 1 };

/** An engine on real tools and a real store, and what it told. */
function engineOf(client: Parameters<typeof createAdapter>[0], approve: ApprovalRequester = allow) {
  const events: RunEvent[] = [];
  const asked: string[] = [];
  const store = new RunStore(folder);
  const engine = new ExecutionEngine({
    store,
    host: createToolHost({
      workspace,
      tools: builtinTools(),
      approve: (request, signal) => {
        asked.push(request.plan.what);
        return approve(request, signal);
      },
    }),
    workflow: async () => defaultChatWorkflow,
    model: async () => ({ id: 'test/one', model: 'one', adapter: createAdapter(client, hasty) }),
    workspace: async () => ({ names: ['sample'] }),
    maxTurns: () => 20,
    onEvent: (event) => events.push(event),
  });
  return { engine, store, events, asked };
}

/** One run with these replies, to its end; afterwards every call has its one result. */
async function play(replies: ScriptedReply[], approve?: ApprovalRequester): Promise<Ran> {
  const client = scriptedClient(replies);
  const { engine, store, events, asked } = engineOf(client, approve);
  const runId = RunStore.newId();
  await engine.start({ runId, userInput: 'hi' });
  const run = await store.read(runId);
  assert.deepEqual(pendingCalls(run.messages), []);
  return { run, events, asked, engine };
}

/** The result of each call, in order: its error code, or `ok`. */
function results(run: Run): string[] {
  return run.messages.flatMap((message) =>
    message.role === 'tool' ? message.toolResults.map(({ error }) => error ?? 'ok') : [],
  );
}

const write = (content: string) => call('fs.write', { path: 'a.txt', content });
describe('calls in trouble', () => {
  const wires: [id: string, says: string, gives: ProviderReply, codes: string[]][] = [
    ['T01', 'arguments that are not a JSON object', reply.call('fs_write', '{"path": "a.txt", "content"'), ['TOOL_ARGS_INVALID_JSON']],
    ['T02', 'a key twice', reply.call('fs_write', '{"path":"a.txt","path":"../b","content":""}'), ['TOOL_ARGS_INVALID_JSON']],
    ['T03', '__proto__ as a key', reply.call('fs_write', '{"path":"a.txt","content":"","__proto__":{"a":1}}'), ['TOOL_ARGS_INVALID_JSON']],
    ['T03', 'constructor as a key', reply.call('fs_write', '{"path":"a.txt","content":"","constructor":{"a":1}}'), ['TOOL_ARGS_INVALID']],
    ['T03', 'prototype as a key', reply.call('fs_write', '{"path":"a.txt","content":"","prototype":{}}'), ['TOOL_ARGS_INVALID']],
    ['T04', 'a wrong type', reply.call('fs_write', '{"path":7,"content":""}'), ['TOOL_ARGS_INVALID']],
    ['T04', 'nothing', reply.call('fs_write', ''), ['TOOL_ARGS_INVALID']],
    ['T04', 'one too many', reply.call('fs_write', '{"path":"a.txt","content":"","force":true}'), ['TOOL_ARGS_INVALID']],
    ['T04', 'a megabyte for a path', reply.call('fs_write', { path: longText('a long path ', 84_000), content: '' }, { size: 9999 }), ['E_SANDBOX_VIOLATION']],
    ['T04', 'NaN', reply.call('fs_read', '{"path":"a.txt","offset":NaN}'), ['TOOL_ARGS_INVALID_JSON']],
    ['T04', 'a number without end', reply.call('fs_read', '{"path":"a.txt","offset":1e400}'), ['TOOL_ARGS_INVALID_JSON']],
    ...['teleport', 'constructor', '__proto__', 'toString'].map(
      (name): [string, string, ProviderReply, string[]] => ['T05', `a tool ${name}`, reply.call(name, {}), ['TOOL_NOT_AVAILABLE']],
    ),
    ['T06', 'one id for two calls', reply.call('fs_read', { path: 'b' }, { id: 'c' }).call('fs_read', { path: 'a.txt' }, { id: 'c' }), ['ok', 'ok']],
    ['T07', 'no id', reply.call('fs_read', { path: 'b' }, { id: '' }), ['ok']],
    ['T07', 'an id of 10 KB', reply.call('fs_read', { path: 'b' }, { id: 'x'.repeat(10_240) }), ['ok']],
  ]; // biome-ignore format: a table
  for (const [id, says, gives, codes] of wires) {
    it(`${id} ${says}: answered to the model, nobody is asked, nothing changes`, async () => {
      const provider = await startProvider([gives, reply.text('I see.')]);
      try {
        const { engine, store, asked } = engineOf(clientFor(provider.url));
        const runId = RunStore.newId();
        const { phase } = await engine.start({ runId, userInput: 'hi' });
        const run = await store.read(runId);
        assert.deepEqual([phase, results(run), asked, workspace.effects], ['WaitingUser', codes, [], []]);
        assert.deepEqual(pendingCalls(run.messages), []);
        const [, second] = provider.requests;
        const ids = second!.body.messages.flatMap(({ tool_calls: calls = [] }) =>
          calls.map((one) => (one as { id: string }).id),
        );
        const answered = second!.body.messages.flatMap(({ tool_call_id: one }) => one ?? []);
        assert.equal(new Set(ids).size, codes.length);
        assert.deepEqual(answered, ids);
      } finally {
        await provider.close();
      }
    });
  }

  it('T08 a call numbered four billion: no list of that length, and the run ends', async () => {
    const huge = {
      index: 4_000_000_000,
      id: 'c',
      type: 'function',
      function: { name: 'fs_read', arguments: '{"path":"b"}' },
    };
    const provider = await startProvider([
      reply.event({ choices: [{ index: 0, delta: { tool_calls: [huge] } }] }).finish('tool_calls'),
      reply.text('I see.'),
    ]);
    try {
      const { engine, store } = engineOf(clientFor(provider.url));
      const runId = RunStore.newId();
      const { phase, error } = await engine.start({ runId, userInput: 'hi' });
      assert.deepEqual([phase, error?.code, results(await store.read(runId))], ['Failed', 'LLM_BAD_RESPONSE', []]);
    } finally {
      await provider.close();
    }
  });

  it('T10 the same failing call three times: it stops and it is the person’s turn', async () => {
    const { run } = await play(Array.from({ length: 9 }, () => ({ calls: [call('fs.read', { path: 'none' })] })));
    assert.deepEqual([run.phase, run.error?.code, results(run).length], ['WaitingUser', 'ENGINE_LOOP_DETECTED', 3]);
  });

  const rounds = (names: string[], count: number): ScriptedReply[] =>
    Array.from({ length: count }, (_, at) => ({ calls: [call('fs.read', { path: names[at % names.length]! })] }));
  it('T11 two failing calls in turn: the same, when one of them comes the third time', async () => {
    const { run } = await play(rounds(['x', 'y'], 30));
    assert.deepEqual([run.error?.code, results(run).length], ['ENGINE_LOOP_DETECTED', 5]);
  });
  it('T11 another failing call each time: it stops at the limit of turns', async () => {
    const others = Array.from({ length: 30 }, (_, at) => `${at}`);
    const { run } = await play(rounds(others, 30));
    assert.deepEqual([run.phase, run.error?.code, results(run).length], ['Failed', 'ENGINE_MAX_TURNS_EXCEEDED', 20]);
  });

  it('T18 a no: told to the model, nothing ran, and nothing is left open in what is kept', async () => {
    const { run } = await play([{ calls: [write('two\n')] }, { text: 'I see.' }], async () => ({ decision: 'deny' }));
    assert.deepEqual([results(run), workspace.read('a.txt'), run.phase], [['TOOL_DENIED'], 'one\n', 'WaitingUser']);
    const journal = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.jsonl'))
      .map((entry) => readFileSync(path.join(entry.parentPath, entry.name), 'utf8'))
      .join('');
    assert.ok(journal.includes('TOOL_DENIED') && !journal.includes('"pending"'));
  });

  it('T23 two writes to one file in one answer: in order, each with what the file held before it', async () => {
    const { run, asked } = await play([{ calls: [write('two\n'), write('three\n')] }, { text: 'Done.' }]);
    const kept = new RunStore(folder);
    const changes = await Promise.all(
      Object.values(run.calls).map(async ({ changes: [change] = [] }) => [
        await kept.contents.read(run.id, change!.before!),
        await kept.contents.read(run.id, change!.after!),
      ]),
    );
    assert.deepEqual(changes, [
      ['one\n', 'two\n'],
      ['two\n', 'three\n'],
    ]);
    assert.deepEqual([results(run), workspace.read('a.txt'), asked.length], [['ok', 'ok'], 'three\n', 2]);
  });

  it('T28 a read, a change and a read in one answer, stopped at the question: nothing else runs, no result is made up', async () => {
    const client = scriptedClient([
      { calls: [call('fs.read', { path: 'b' }), write('two\n'), call('fs.read', { path: 'a.txt' })] },
      { text: 'I see.' },
    ]);
    const { engine, store, events, asked } = engineOf(client, () => new Promise(() => {}));
    const runId = RunStore.newId();
    const done = engine.start({ runId, userInput: 'hi' });
    await eventually('the question', () => asked.length > 0);
    await engine.stop(runId);
    assert.equal((await done).error?.code, 'ENGINE_ABORTED');
    const run = await store.read(runId);
    assert.deepEqual(results(run), ['ok', 'TOOL_INTERRUPTED', 'TOOL_INTERRUPTED']);
    assert.equal(events.filter((event) => event.type === 'tool-start').length, 1);
    assert.deepEqual([workspace.effects, client.requests.length], [[], 1]);
    await engine.continue({ runId, userInput: 'go on' });
    const told = client.requests[1]!.messages.flatMap((message) =>
      message.role === 'tool' ? message.toolResults : [],
    );
    assert.deepEqual(
      told.map(({ content }) => (JSON.parse(content) as { ok: boolean }).ok),
      [true, false, false],
    );
  });
});

describe('a model in trouble, as a run has it', () => {
  it('N23 429 for ever: it is the person’s turn, and the run can go on', async () => {
    const limited = new LLMError('LLM_RATE_LIMITED', 'Slow down.', { retryable: true });
    const client = scriptedClient([{ error: limited }, { error: limited }, { text: 'Back.' }]);
    const { engine } = engineOf(client);
    const runId = RunStore.newId();
    const refused = await engine.start({ runId, userInput: 'hi' });
    assert.deepEqual([refused.phase, refused.error?.code], ['WaitingUser', 'LLM_RATE_LIMITED']);
    assert.equal((await engine.continue({ runId })).assistantText, 'Back.');
  });

  it('N25 500, then well: the person sees one note of it', async () => {
    const provider = await startProvider([reply.status(500), reply.text('Hello')]);
    try {
      const { engine, events } = engineOf(clientFor(provider.url));
      const { assistantText } = await engine.start({ runId: RunStore.newId(), userInput: 'hi' });
      const notes = events.flatMap((event) => (event.type === 'progress' ? [event.text] : []));
      assert.deepEqual([assistantText, notes.length], ['Hello', 1]);
      assert.match(notes[0]!, /answered 500$/);
    } finally {
      await provider.close();
    }
  });

  it('N09 a stream that breaks after a change was asked for: the text stays, the change does not run', async () => {
    const provider = await startProvider([
      reply.text('I write.').call('fs_write', { path: 'a.txt', content: 'two\n' }).cut(),
    ]);
    try {
      const { engine, store, asked } = engineOf(clientFor(provider.url));
      const runId = RunStore.newId();
      const { error, assistantText } = await engine.start({ runId, userInput: 'hi' });
      const run = await store.read(runId);
      assert.deepEqual([error?.code, assistantText, asked, results(run)], ['LLM_INCOMPLETE', 'I write.', [], []]);
      assert.deepEqual([workspace.effects, run.messages.at(-1)?.role], [[], 'assistant']);
    } finally {
      await provider.close();
    }
  });
});
