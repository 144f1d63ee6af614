import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as z from 'zod';
import { ExecutionEngine } from '../../src/engine/run/engine.ts';
import { createAdapter } from '../../src/llm/adapter/adapter.ts';
import { createRateLimiter } from '../../src/llm/adapter/rateLimit.ts';
import type { ChatStreamChunk, LLMClient } from '../../src/llm/core/client.ts';
import { collectChatStream } from '../../src/llm/core/client.ts';
import type { RunEvent, RunEventBody } from '../../src/protocol/run/events.ts';
import { applyEvent } from '../../src/protocol/run/fold.ts';
import { newRun, type Run } from '../../src/protocol/run/run.ts';
import { RunStore, type WritableRun } from '../../src/runs/store.ts';
import { createReadOnlyTool } from '../../src/tools/core/tool.ts';
import { builtinTools } from '../../src/tools/host/builtinTools.ts';
import { createToolHost } from '../../src/tools/host/host.ts';
import { defaultChatWorkflow } from '../../src/workflows/run/chatWorkflow.ts';
import { temporaryWorkspace } from '../support/workspace.ts';
import { inMs, line, median } from './measure.ts';

// What a turn costs this side, at the end of a run of so many: CPU time from one request to the next, of the whole process, with one
// call that does nothing. The client answers at once, so what is left is the engine, the adapter, the gate and the fold; with
// a record in memory, which has the budget, and on disk, which is for the operating system to answer. Medians of rounds in turns.

const lengths = [1, 100, 1000, 5000];
const rounds = Number(process.env.ROUNDS ?? 5);
const [warmUp, measured] = [100, 200];
const budgets = { ms: 1, growth: 1.5 };
const inMemory = { append: async () => {}, close: async () => {} };
const usage = { promptTokens: 1000, completionTokens: 20, totalTokens: 1020 };

const rows: Record<string, { counts: boolean; onDisk: boolean }> = {
  'in memory': { counts: true, onDisk: false },
  'in memory, tokens estimated': { counts: false, onDisk: false },
  'on disk': { counts: true, onDisk: true },
};

const folder = mkdtempSync(path.join(tmpdir(), 'towpath-turns-'));
const workspace = await temporaryWorkspace({});
try {
  for (const [name, row] of Object.entries(rows)) {
    const times = new Map<number, number[]>(lengths.map((length) => [length, []]));
    for (let round = -1; round < rounds; round++)
      for (const length of lengths) {
        const ms = await turnOf(length, row);
        if (round >= 0) times.get(length)!.push(ms);
      }
    console.log(`a turn of a run with its record ${name}`);
    const first = median(times.get(lengths[0]!)!);
    for (const [length, all] of times) {
      const [ms, growth] = [median(all), median(all) / first];
      const numbers = { CPU: inMs(ms), growth: `${growth.toFixed(2)} x` };
      const over = row.onDisk ? growth / budgets.growth : Math.max(ms / budgets.ms, growth / budgets.growth);
      line(`after ${length} turns`, numbers, over, 1);
    }
  }
} finally {
  workspace.cleanup();
  rmSync(folder, { recursive: true });
}

/** Milliseconds of CPU time of one turn after `length` others. */
async function turnOf(length: number, { counts, onDisk }: { counts: boolean; onDisk: boolean }): Promise<number> {
  const marks: NodeJS.CpuUsage[] = [];
  let requests = 0;
  async function* chatStream(): AsyncGenerator<ChatStreamChunk, void, unknown> {
    requests++;
    if (requests === warmUp || requests === warmUp + measured) marks.push(process.cpuUsage()); // asking for it costs, too
    yield { content: 'On it.', done: false };
    const call = { id: `new-${requests}`, name: 'nothing.do', arguments: { at: requests } };
    yield { toolCall: call, done: false };
    yield { done: true, finishReason: 'tool_calls', ...(counts && { usage }) };
  }
  const client: LLMClient = { chatStream, chat: (request) => collectChatStream(chatStream(), request.model) };
  const runId = RunStore.newId();
  const kept = onDisk ? await new RunStore(folder).create(runId) : inMemory;
  const nothing = createReadOnlyTool(
    { name: 'nothing.do', description: 'Does nothing.', arguments: { at: z.int() } },
    async () => 'done',
  );
  const engine = new ExecutionEngine({
    store: {
      open: async (): Promise<WritableRun> => ({ ...kept, run: runOf(runId, length, counts) }),
    } as unknown as RunStore,
    host: createToolHost({
      workspace,
      tools: [...builtinTools(), nothing],
      approve: async () => ({ decision: 'deny' }),
    }),
    workflow: async () => defaultChatWorkflow,
    model: async () => ({
      id: 'bench/turns',
      model: 'turns',
      adapter: createAdapter(client, {}, { limiter: createRateLimiter({ requestsPerMinute: 0, tokensPerMinute: 0 }) }),
      contextWindow: 100_000_000,
    }),
    workspace: async () => ({ names: ['sample'] }),
    instructions: {
      trusted: true,
      everywhere: async () => [{ path: 'AGENTS.md', text: 'Use tabs.\n'.repeat(100) }],
      near: async () => [],
    },
    maxTurns: () => warmUp + measured,
    onEvent: () => {},
  });
  const { error } = await engine.continue({ runId, userInput: 'Go on.' });
  if (error?.code !== 'ENGINE_MAX_TURNS_EXCEEDED') throw new Error(`It ended otherwise: ${error?.message}`);
  const [from, to] = [marks[0]!, marks[1]!];
  return (to.user + to.system - from.user - from.system) / 1000 / measured;
}

/** A run that has had so many turns with one read each. */
function runOf(runId: string, turns: number, counts: boolean): Run {
  const run = newRun(runId);
  const tell = (event: RunEventBody) => applyEvent(run, { runId, seq: run.seq + 1, at: 1, ...event } as RunEvent);
  tell({ type: 'run-start', workflowId: 'chat', agentId: 'towpath', model: 'bench/turns' });
  tell({ type: 'message', message: { role: 'user', content: 'Read everything.' } });
  for (let turn = 0; turn < turns; turn++) {
    const [id, name] = [`call-${turn}`, 'fs.read'];
    const toolCalls = [{ id, name, arguments: { path: `src/file${turn}.ts` } }];
    if (counts) tell({ type: 'usage', usage, attempts: 1, model: 'turns', ms: 1 });
    tell({ type: 'message', message: { role: 'assistant', content: `I read file ${turn}.`, toolCalls } });
    tell({ type: 'tool-start', toolCallId: id, name });
    tell({ type: 'tool-end', toolCallId: id, name, ok: true, ms: 1 });
    const content = JSON.stringify({
      ok: true,
      data: { path: `src/file${turn}.ts`, text: `export const x${turn} = ${turn};` },
    });
    tell({ type: 'message', message: { role: 'tool', content: '', toolResults: [{ toolCallId: id, content }] } });
  }
  tell({ type: 'phase', phase: 'WaitingUser' });
  return run;
}
