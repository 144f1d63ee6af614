import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ExecutionEngine } from '../../../src/engine/run/engine.ts';
import { createAdapter } from '../../../src/llm/adapter/adapter.ts';
import { toWireToolName } from '../../../src/llm/core/wireToolNames.ts';
import { toGoogleSchema } from '../../../src/llm/google/schema.ts';
import { toGrammarSchema } from '../../../src/llm/local/ipc/grammarSchema.ts';
import type { RunEvent } from '../../../src/protocol/run/events.ts';
import { RunStore } from '../../../src/runs/store.ts';
import { defaultChatWorkflow } from '../../../src/workflows/run/chatWorkflow.ts';
import { eventually } from '../../support/eventually.ts';
import { faultyServer, referenceServer, statelessServer } from '../../support/mcp/servers.ts';
import { call, type ScriptedReply, scriptedClient } from '../../support/scriptedClient.ts';
import { closeAll, inside, node, type Talk, talk } from './talk.ts';

/** A whole run in front of a configuration's servers. */
function engineOf(t: Talk, replies: ScriptedReply[]) {
  const folder = mkdtempSync(path.join(tmpdir(), 'mcp-run-'));
  const store = new RunStore(folder);
  const client = scriptedClient(replies);
  const events: RunEvent[] = [];
  const build = () =>
    new ExecutionEngine({
      store,
      host: t.host,
      workflow: async () => defaultChatWorkflow,
      model: async () => ({ id: 'scripted/one', model: 'one', adapter: createAdapter(client, { retries: 0 }) }),
      workspace: async () => ({ names: ['sample'] }),
      maxTurns: () => 20,
      onEvent: (event) => events.push(event),
    });
  const engine = build();
  const close = async () => {
    await engine.close();
    rmSync(folder, { recursive: true });
  };
  return { engine, client, events, store, runId: RunStore.newId(), again: build, close };
}

describe('MCP in a run', () => {
  afterEach(closeAll);

  it('the servers start, a tool is called, the beginning of the prompt stays the same though a tool changes meanwhile', async () => {
    const t = await talk({ servers: {} });
    t.configure({ servers: { odd: node(faultyServer, 'changes', inside(t.workspace, 'tools.json')) } });
    const lies = { name: 'look', description: 'Lies.', inputSchema: { type: 'object' } };
    const run = engineOf(t, [
      { text: 'One.', calls: [call('mcp.odd.change', { text: JSON.stringify([lies]) })] },
      { text: 'Two.', calls: [call('mcp.odd.look', {})] },
      { text: 'Done.' },
    ]);
    t.meanwhile = async () => {
      if (t.asked.calls.length < 2) return;
      await eventually('the list is read again', () => t.server('odd').tools[0]?.description === 'Lies.');
    };
    const ended = run.engine.start({ runId: run.runId, userInput: 'hi' });
    assert.deepEqual(await ended, { success: true, phase: 'WaitingUser', assistantText: 'Done.' });
    const sent = run.client.requests.map(({ messages: _, ...prefix }) => JSON.stringify(prefix));
    const titles = run.events.flatMap((event) =>
      event.type === 'question' || event.type === 'approval' || event.type === 'tool-start'
        ? [`${event.type}: ${event.title}`]
        : [],
    );
    const title = 'Change the list';
    assert.deepEqual(
      titles.slice(0, 3), // the second call is asked about as well, where that comes before the news of its change
      [`question: ${title}`, `approval: ${title}`, `tool-start: ${title}`],
      'what the server calls it for people is kept with the call from its question on',
    );
    assert.equal(sent.length, 3);
    assert.equal(new Set(sent).size, 1);
    assert.match(sent[0]!, /"mcp\.odd\.change".*"mcp\.odd\.look"/);
    assert.match(JSON.stringify(run.client.requests.at(-1)!.messages), /It is disabled until the person allows it/);
    await run.close();
  });

  it('a server asks the user during a call: the answer goes to the server, the result to the model', async () => {
    const t = await talk({ servers: { new: node(statelessServer) } });
    const run = engineOf(t, [{ calls: [call('mcp.new.ask', {}, 'call-1')] }, { text: 'Done.' }]);
    const ended = run.engine.start({ runId: run.runId, userInput: 'hi' });
    const asked = () => run.events.findLast((event) => event.type === 'ask');
    await eventually('the server asks', () => asked() !== undefined);
    const { by, questions } = asked()!;
    assert.equal(by, 'new');
    assert.equal(questions[0]!.question, 'The MCP server "new" asks: Which?\ncolor');
    const choices = [{ chosen: [1] }, { chosen: [0] }, { chosen: [0] }];
    assert.equal(
      await run.engine.say({ runId: run.runId, userInput: '', chosen: { toolCallId: 'call-1', choices } }),
      true,
    );
    assert.ok((await ended).success);
    assert.ok(!run.events.some((event) => event.type === 'tool-output'), 'no step of the client is shown');
    const result = JSON.stringify(run.client.requests.at(-1)!.messages.at(-1));
    assert.match(result, /color.{5,9}blue.*count.{3,5}3/);
    const { calls, asking } = await run.store.read(run.runId);
    const { status, ok, asked: open, answer } = calls['call-1']!;
    assert.deepEqual([status, ok, open, answer, asking], ['done', true, undefined, undefined, []]);
    await run.close();
  });

  it('a question of a server is not answered after its call ended with the window', async () => {
    const t = await talk({ servers: { new: node(statelessServer) } });
    const run = engineOf(t, [{ calls: [call('mcp.new.ask', {}, 'call-1')] }, { text: 'Done.' }]);
    void run.engine.start({ runId: run.runId, userInput: 'hi' });
    await eventually('the server asks', () => run.events.some((event) => event.type === 'ask'));
    await run.engine.close();
    const later = run.again();
    await later.continue({ runId: run.runId, userInput: 'go on' });
    const { calls, asking = [] } = await run.store.read(run.runId);
    assert.deepEqual([calls['call-1']!.code, asking], ['TOOL_INTERRUPTED', []]);
    await later.close();
    await run.close();
  });

  it('Stop while a server starts: the run ends at once', async () => {
    const t = await talk({ servers: { odd: node(faultyServer, 'hangs-at-initialize') } });
    const run = engineOf(t, [{ text: 'Never said.' }]);
    const ended = run.engine.start({ runId: run.runId, userInput: 'hi' });
    const starting = (event: RunEvent) => event.type === 'progress' && /Starting MCP server odd/.test(event.text);
    await eventually('it starts', () => run.events.some(starting));
    await run.engine.stop(run.runId);
    const result = await ended;
    assert.deepEqual([result.phase, result.error?.code], ['Failed', 'ENGINE_ABORTED']);
    assert.equal(run.client.requests.length, 0);
    assert.equal(t.server('odd').state.phase, 'starting');
    await run.close();
  });

  it('a server that fails is left out, and the run goes on', async () => {
    const t = await talk({ servers: { odd: node(faultyServer, 'exits'), good: node(faultyServer) } });
    const run = engineOf(t, [
      { text: 'One.', calls: [call('mcp.odd.work', {}), call('mcp.good.work', {})] },
      { text: 'Done.' },
    ]);
    const result = await run.engine.start({ runId: run.runId, userInput: 'hi' });
    assert.deepEqual(result, { success: true, phase: 'WaitingUser', assistantText: 'Done.' });
    const told = JSON.stringify(run.client.requests.at(-1)!.messages);
    assert.match(told, /TOOL_EXEC_FAILED/);
    assert.match(told, /work: \{\}/);
    await run.close();
  });
});

describe('MCP tools on providers', () => {
  afterEach(closeAll);

  it('every tool of the reference servers has a name and a schema that providers and the grammar take', async () => {
    const t = await talk({
      servers: {
        everything: node(referenceServer('everything')),
        files: node(referenceServer('filesystem'), '.'),
        memory: node(referenceServer('memory')),
      },
    });
    await t.prepare();
    const tools = t.servers.tools().filter((tool) => tool.definition.name.split('.').length === 3);
    assert.ok(tools.length > 30, `${tools.length}`);
    for (const { definition } of tools) {
      assert.match(toWireToolName(definition.name), /^[\w-]{1,64}$/);
      assert.equal(definition.parameters.type, 'object');
      toGoogleSchema(definition.parameters);
      toGrammarSchema(definition.parameters);
    }
  });
});
