import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { type ChatRequest, type ChatStreamChunk, Reply } from '../../../src/llm/client.ts';
import { LLMError } from '../../../src/llm/errors.ts';
import { createLocalClient, type LocalClient } from '../../../src/llm/local/client.ts';
import type { Script } from '../../../src/llm/local/demo/automaton.ts';
import { writeScriptedModel } from '../../../src/llm/local/demo/scriptedModel.ts';
import type { AssistantMessage, Message } from '../../../src/protocol/messages.ts';
import { type ToolOutcome, toToolResult } from '../../../src/protocol/tools.ts';
import { defaultTools } from '../../../src/tools/default.ts';

export const tools = defaultTools().map((tool) => tool.definition);

/** Inside the project, because the worker finds node-llama-cpp from where it lies. */
const workerPath = path.resolve(import.meta.dirname, '../../out/local-worker.mjs');
let built: Promise<unknown> | undefined;

/** Builds the model's process and says where it is. */
export async function buildWorker(): Promise<string> {
  built ??= build({
    entryPoints: [path.resolve(import.meta.dirname, '../../../src/llm/local/worker.ts')],
    outfile: workerPath,
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['node-llama-cpp'],
    logLevel: 'error',
  });
  await built;
  return workerPath;
}

/** A client of a model that plays the script (`options` make another one of the same file); `close` removes both. */
export async function localModel(script: Script) {
  await buildWorker();
  const folder = mkdtempSync(path.join(tmpdir(), 'towpath-model-'));
  const modelPath = path.join(folder, 'test.gguf');
  writeScriptedModel(script, modelPath);
  const options = { workerPath, modelPath, threads: 1, gpu: false } as const;
  const client = createLocalClient(options);
  const close = async () => {
    await client.dispose();
    rmSync(folder, { recursive: true });
  };
  return { client, options, close };
}

/** One conversation with a client, told turn by turn. */
export class Talk {
  readonly messages: Message[] = [];
  last = new Reply();
  chunks: ChatStreamChunk[] = [];

  constructor(
    readonly client: LocalClient,
    readonly request: Partial<ChatRequest> = {},
  ) {}

  /** Sends what was said so far (and `text`) and keeps the reply. */
  async ask(text?: string, signal?: AbortSignal): Promise<AssistantMessage> {
    if (text !== undefined) this.messages.push({ role: 'user', content: text });
    this.last = new Reply();
    this.chunks = [];
    for await (const chunk of this.client.chatStream(this.next(), signal)) {
      this.chunks.push(chunk);
      this.last.add(chunk);
    }
    const message = this.last.toMessage();
    this.messages.push(message);
    return message;
  }

  /** Answers the calls of the newest reply, in order. */
  answer(...outcomes: ToolOutcome[]): this {
    this.last.toolCalls.forEach((call, index) => {
      this.messages.push({ role: 'tool', content: '', toolResults: [toToolResult(call.id, outcomes[index]!)] });
    });
    return this;
  }

  next(): ChatRequest {
    return {
      model: 'test',
      systemPrompt: 'You are Towpath, a coding agent. Work on the open workspace with the tools you are given.',
      messages: [...this.messages],
      tools,
      cacheKey: 'run-1',
      ...this.request,
    };
  }
}

/** Stops at the first such chunk: the reason comes back, and nothing after it. */
export async function stopAt(talk: Talk, text: string, when: (chunk: ChatStreamChunk) => boolean): Promise<void> {
  talk.messages.push({ role: 'user', content: text });
  const stop = new AbortController();
  const reason = new Error('stopped by the person');
  let after = 0;
  const reading = (async () => {
    for await (const chunk of talk.client.chatStream(talk.next(), stop.signal)) {
      if (stop.signal.aborted) after++;
      else if (when(chunk)) stop.abort(reason);
    }
  })();
  await assert.rejects(reading, (error) => error === reason);
  assert.equal(after, 0, 'nothing arrives after Stop');
}

export async function rejection(promise: Promise<unknown>): Promise<LLMError> {
  const error = await promise.then(
    () => assert.fail('It should have failed.'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof LLMError, String(error));
  return error;
}
