import path from 'node:path';
import type { EngineResult } from '../../src/engine/core/runResult.ts';
import { ExecutionEngine } from '../../src/engine/run/engine.ts';
import { createAdapter } from '../../src/llm/adapter/adapter.ts';
import {
  type ChatRequest,
  type ChatStreamChunk,
  collectChatStream,
  type LLMClient,
} from '../../src/llm/core/client.ts';
import type { Message } from '../../src/protocol/content/messages.ts';
import { RunStore } from '../../src/runs/store.ts';
import { undoableCallIds } from '../../src/runs/undoSteps.ts';
import { builtinTools } from '../../src/tools/host/builtinTools.ts';
import { createToolHost } from '../../src/tools/host/host.ts';
import { OrphanedCommands } from '../../src/tools/shell/orphanedCommands.ts';
import { compareSnapshot } from '../../src/tools/snapshot/compareSnapshot.ts';
import { createFileRecorder } from '../../src/tools/snapshot/fileRecorder.ts';
import { removeSnapshot } from '../../src/tools/snapshot/snapshotFile.ts';
import { takeSnapshot } from '../../src/tools/snapshot/takeSnapshot.ts';
import { defaultChatWorkflow } from '../../src/workflows/run/chatWorkflow.ts';
import { workspaceIn } from '../support/workspace.ts';
import { lastWords, task, toldOf } from './script.ts';

/** `run`: a run of one command, or what is left of it; `undo`: all of it is taken back. */
export type CommandJob = 'run' | 'undo';

export interface LeftByUndo {
  left: { path: string; why: string }[];
}

/** A window without its editor, which records what a command does to the folder `ws` of a case as the extension does in its worker. */
export function openCommandWindow(folder: string, command: string) {
  const workspace = workspaceIn(folder, { ripgrep: undefined });
  const store = new RunStore(path.join(folder, 'store'));
  const left = new OrphanedCommands();
  const recorder = createFileRecorder({
    workspace,
    store: store.snapshotsFolder,
    isOn: () => true,
    budget: () => 200_000_000,
    take: async (request) => takeSnapshot(request),
    compare: compareSnapshot,
    discard: async (request) => removeSnapshot(request.store, request.id),
  });
  const engine = new ExecutionEngine({
    store,
    left,
    host: createToolHost({
      workspace,
      recorder,
      tools: builtinTools({ shell: { left, covers: (files) => recorder.covers(files) } }),
      approve: async () => ({ decision: 'allow' }),
    }),
    workflow: async () => defaultChatWorkflow,
    model: async () => ({
      id: 'scripted/one',
      model: 'one',
      adapter: createAdapter(modelOf(command), { retries: 1, baseDelayMs: 1, maxDelayMs: 1 }),
    }),
    workspace: async () => ({ names: ['ws'] }),
    onEvent: () => {},
  });
  const runId = async () => (await store.list())[0]?.id;

  return {
    store,
    async run(): Promise<EngineResult> {
      const id = await runId();
      const known = id && (await store.read(id).catch(() => undefined));
      if (known) {
        const words = known.messages.length > 0 ? {} : { userInput: task };
        const result = await engine.continue({ runId: known.id, ...words });
        if (result.error?.code !== 'ENGINE_RUN_NOT_FOUND') return result;
      }
      return engine.start({ runId: RunStore.newId(), userInput: task });
    },
    /** Takes back what can be taken back, whatever else is there now. */
    async undo(): Promise<LeftByUndo> {
      const id = (await runId())!;
      const toolCallIds = undoableCallIds(await store.read(id), 'run');
      if (toolCallIds.length === 0) return { left: [] };
      const result = await engine.undo(id, { toolCallIds }, workspace, async () => 'all');
      if ('left' in result) return result;
      throw new Error(JSON.stringify(result));
    },
    async read() {
      const id = await runId();
      return id === undefined ? undefined : store.read(id).catch(() => undefined);
    },
    close: () => engine.close(),
  };
}

/** A model that wants one command, and again only if it is told that it did not run. */
function modelOf(command: string): LLMClient {
  async function* chatStream({ messages }: ChatRequest): AsyncGenerator<ChatStreamChunk, void, unknown> {
    const calls = messages.flatMap((message: Message) =>
      message.role === 'assistant' ? (message.toolCalls ?? []) : [],
    );
    const results = messages.flatMap((message) => (message.role === 'tool' ? message.toolResults : []));
    const last = results.at(-1);
    if (!last || toldOf(last.content, last.error) === 'did not run') {
      const toolCall = { id: `command.${calls.length}.${process.pid}`, name: 'shell.run', arguments: { command } };
      yield { toolCall, done: false };
      yield { done: true, finishReason: 'tool_calls' };
    } else {
      yield { content: lastWords, done: false };
      yield { done: true, finishReason: 'stop' };
    }
  }
  return { chatStream, chat: (request) => collectChatStream(chatStream(request), request.model) };
}
