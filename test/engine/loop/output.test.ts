import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ExecutionEngine } from '../../../src/engine/run/engine.ts';
import { createAdapter } from '../../../src/llm/adapter/adapter.ts';
import type { LLMClient } from '../../../src/llm/core/client.ts';
import { RunStore } from '../../../src/runs/store.ts';
import { builtinTools } from '../../../src/tools/host/builtinTools.ts';
import { createToolHost } from '../../../src/tools/host/host.ts';
import { defaultChatWorkflow } from '../../../src/workflows/run/chatWorkflow.ts';
import { call, scriptedClient } from '../../support/scriptedClient.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';

describe('a long output', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'engine-'));
  const store = new RunStore(folder);
  let workspace: TemporaryWorkspace;
  before(async () => {
    workspace = await temporaryWorkspace();
  });
  after(() => {
    rmSync(folder, { recursive: true });
    workspace.cleanup();
  });

  it('is kept with its run, can be read by that run after a reload, and by no other', async () => {
    const runId = RunStore.newId();
    await engine(scriptedClient([{ calls: [call('shell.run', { command: 'seq 1 100000' })] }])).start({
      runId,
      userInput: 'hi',
    });
    const [ran] = Object.values((await store.read(runId)).calls);
    assert.equal((await store.contents.read(runId, ran!.outputId!)).length, 588_895);

    const id = ran!.outputId!.slice(0, 12);
    const own = scriptedClient([{ calls: [call('output.read', { id, offset: 100_000 })] }]);
    const other = scriptedClient([{ calls: [call('output.read', { id, offset: 100_000 })] }]);
    await engine(own).continue({ runId, userInput: 'read it' });
    await engine(other).start({ runId: RunStore.newId(), userInput: 'read it' });
    const told = [own, other].map(({ requests }) => {
      const newest = requests[1]!.messages.at(-1)!;
      return newest.role === 'tool' && JSON.parse(newest.toolResults[0]!.content);
    });
    const message = `No call of this run gave an output with the id ${id}.`;
    assert.deepEqual(told, [
      { ok: true, data: { text: '100000', startLine: 100_000, endLine: 100_000, totalLines: 100_000 } },
      { ok: false, error: { code: 'ENOENT', message } },
    ]);
  });

  function engine(client: LLMClient): ExecutionEngine {
    return new ExecutionEngine({
      store,
      host: createToolHost({ workspace, tools: builtinTools(), approve: async () => ({ decision: 'allow' }) }),
      workflow: async () => defaultChatWorkflow,
      model: async () => ({ id: 'scripted/one', model: 'one', adapter: createAdapter(client) }),
      workspace: async () => ({ names: ['sample'] }),
      maxTurns: () => 20,
      onEvent: () => {},
    });
  }
});
