import { randomUUID } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { ExecutionEngine } from '../../src/engine/run/engine.ts';
import type { TaskAgent } from '../../src/engine/tasks/taskOptions.ts';
import { createAdapter } from '../../src/llm/adapter/adapter.ts';
import {
  type ChatRequest,
  type ChatStreamChunk,
  collectChatStream,
  type LLMClient,
} from '../../src/llm/core/client.ts';
import type { ToolCall } from '../../src/protocol/content/messages.ts';
import type { RunEvent } from '../../src/protocol/run/events.ts';
import { pendingCalls } from '../../src/protocol/run/pending.ts';
import type { Run } from '../../src/protocol/run/run.ts';
import { RunStore } from '../../src/runs/store.ts';
import { undoableCallIds } from '../../src/runs/undoSteps.ts';
import { builtinTools } from '../../src/tools/host/builtinTools.ts';
import { createToolHost } from '../../src/tools/host/host.ts';
import { defaultChatWorkflow } from '../../src/workflows/run/chatWorkflow.ts';
import { workspaceIn } from '../support/workspace.ts';
import { toldOf } from './script.ts';

/** What a window with tasks says while it is at work. */
export interface TaskReportLine {
  told?: RunEvent;
  /** This path was changed by a tool. */
  effect?: string;
  unpaired?: string[];
  harmed?: string;
  operations?: string[];
  ended?: object;
}

interface ScriptedCall {
  step: string;
  tool: string;
  args: Record<string, unknown>;
}

const write = (file: string): ScriptedCall => ({
  step: `write-${path.parse(file).name}`,
  tool: 'fs.write',
  args: { path: file, content: `${file}\n` },
});
const look: ScriptedCall = { step: 'look', tool: 'fs.read', args: { path: 'there.txt' } };

/** The tasks of the run: what each does, call by call, and its last words. */
export const tasks: Record<string, { agent?: string; calls: ScriptedCall[]; says: string }> = {
  'write two files': { agent: 'worker', calls: [write('one.txt'), write('two.txt')], says: 'Both are written.' },
  'look around': { calls: [look], says: 'It is there.' },
  'write a third': { agent: 'worker', calls: [look, write('three.txt')], says: 'The third is written.' },
};
export const writtenFiles = ['one.txt', 'two.txt', 'three.txt'];
export const firstWords = 'Give it to three.';
export const lastWords = 'All three are done.';

const delegations = (): ScriptedCall[] =>
  Object.entries(tasks).map(([prompt, { agent }]) => ({
    step: prompt.replaceAll(' ', '-'),
    tool: 'task.run',
    args: { title: prompt, prompt, ...(agent !== undefined && { agent }) },
  }));

/** A model that asks for what it was not told the result of, and again for what did not run. */
function scriptedModel(unpaired: (callIds: string[]) => void): LLMClient {
  async function* chatStream({ messages }: ChatRequest): AsyncGenerator<ChatStreamChunk, void, unknown> {
    const missing = pendingCalls(messages).map(({ id }) => id);
    if (missing.length > 0) unpaired(missing);
    const first = messages.find(({ role }) => role === 'user')!.content;
    const isTask = Object.hasOwn(tasks, first);
    const results = messages.flatMap((one) => (one.role === 'tool' ? one.toolResults : []));
    const settled = new Set(
      results.flatMap(({ toolCallId, content, error }) =>
        toldOf(content, error) === 'did not run' ? [] : [toolCallId.split('.')[0]],
      ),
    );
    const open = (isTask ? tasks[first]!.calls : delegations()).filter(({ step }) => !settled.has(step));
    const next = isTask ? open.slice(0, 1) : open;
    await new Promise((resolve) => setImmediate(resolve));
    yield { content: next.length > 0 ? 'Next.' : isTask ? tasks[first]!.says : lastWords, done: false };
    for (const { step, tool, args } of next) {
      const toolCall: ToolCall = { id: `${step}.${randomUUID()}`, name: tool, arguments: args };
      yield { toolCall, done: false };
    }
    const usage = { promptTokens: 10, completionTokens: 5, totalTokens: 15, cost: 1 };
    yield { done: true, finishReason: next.length > 0 ? 'tool_calls' : 'stop', usage };
  }
  return { chatStream, chat: (request) => collectChatStream(chatStream(request), request.model) };
}

const agent = (id: string, mayChange: boolean): TaskAgent => ({
  id,
  name: id,
  mayChange,
  turnOptions: (run) => ({
    agent: { id, name: id, instructions: 'Do the task.' },
    ...(!mayChange && { allows: ({ name }) => run.onlyReads(name) }),
  }),
});

/** A window without its editor, whose run gives tasks. */
export function openTaskWindow(folder: string, report: (line: TaskReportLine) => void) {
  const workspace = workspaceIn(folder, { ripgrep: undefined });
  const { writeText } = workspace;
  workspace.writeText = async (...args) => {
    const written = await writeText.apply(workspace, args);
    report({ effect: path.relative(workspace.root, String(args[0])) });
    return written;
  };
  const store = new RunStore(path.join(folder, 'store'));
  const model = scriptedModel((unpaired) => report({ unpaired }));
  const engine = new ExecutionEngine({
    store,
    host: createToolHost({ workspace, tools: builtinTools(), approve: async () => ({ decision: 'allow' }) }),
    workflow: async () => defaultChatWorkflow,
    model: async () => ({
      id: 'scripted/one',
      model: 'one',
      adapter: createAdapter(model, { retries: 1, baseDelayMs: 1, maxDelayMs: 1 }),
    }),
    workspace: async () => ({ names: ['ws'] }),
    maxTurns: () => 100,
    tasks: {
      parallel: () => 4,
      agent: async (id = 'explorer') => agent(id, id === 'worker'),
      confirmSpending: async () => true,
    },
    onEvent: (told) => report({ told }),
  });
  const runOf = async (): Promise<Run | undefined> => {
    for (const { id } of await store.list()) {
      const run = await store.read(id).catch(() => undefined);
      if (run) return run;
    }
    return undefined;
  };

  return {
    run: runOf,
    /** Goes on with the run that is there, with the words again where they are lost. */
    async work() {
      const run = await runOf();
      if (!run) return engine.start({ runId: RunStore.newId(), userInput: firstWords });
      return engine.continue({ runId: run.id, ...(run.messages.length === 0 && { userInput: firstWords }) });
    },
    async undo() {
      const run = (await runOf())!;
      return engine.undo(run.id, { toolCallIds: undoableCallIds(run, 'run') }, workspace, async () => 'all');
    },
    file(name: string): string | undefined {
      const file = path.join(workspace.root, name);
      return statSync(file, { throwIfNoEntry: false }) ? readFileSync(file, 'utf8') : undefined;
    },
  };
}
