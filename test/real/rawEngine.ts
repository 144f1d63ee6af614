import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { ChatRequest } from '../../src/llm/core/client.ts';
import type { LocalModelClient } from '../../src/llm/local/host/client.ts';
import { buildWorker } from '../llm/local/setup.ts';
import { cpuSeconds } from '../support/cpuSeconds.ts';
import { projectRoot } from '../support/editor/project.ts';
import type { TrainedModel } from './trained.ts';

export interface Asked {
  systemPrompt: string;
  text: string;
  maxTokens: number;
  after?: string;
}

/**
 * Seconds of CPU until the first token and until the end of the reply; `total`: until the first token, since the start of the process.
 * `written`: tokens of the reply. `gap`: difference between the two best logits after a beginning of the reply.
 */
export interface Answered {
  text: string;
  promptTokens: number;
  written: number;
  first: number;
  all: number;
  total: number;
  gap: number;
}

interface RawEngine {
  ask(asked: Asked): Promise<Answered>;
  process: ChildProcess;
}

/** Starts the engine alone, with the model and the chat format that Towpath finds for it. */
export async function startRawEngine({ name, file }: TrainedModel): Promise<RawEngine> {
  await buildWorker();
  const wrapper = name.startsWith('gemma') ? 'gemma' : name.startsWith('SmolLM2') ? 'chatML' : 'auto';
  const [program, bundle] = ['test/real/rawChat.mjs', 'test/out/local-engine.mjs'].map((one) =>
    path.join(projectRoot, one),
  );
  const child = spawn(process.execPath, [program!, bundle!, file, wrapper], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, UV_THREADPOOL_SIZE: '1' },
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    process: child,
    async ask(asked) {
      child.stdin.write(`${JSON.stringify(asked)}\n`);
      return JSON.parse((await lines.next()).value);
    },
  };
}

/** Asks Towpath the same. */
export async function askTowpath(
  client: LocalModelClient,
  { systemPrompt, text, maxTokens }: Asked,
  further: Partial<ChatRequest> = {},
): Promise<Omit<Answered, 'gap'>> {
  const messages = [{ role: 'user' as const, content: text }];
  const startedAt = cpuSeconds(client.pid());
  let first: number | undefined;
  const answer = { text: '', promptTokens: 0, written: 0 };
  const request = { model: 'test', systemPrompt, messages, maxTokens, temperature: 0, cacheKey: systemPrompt };
  for await (const chunk of client.chatStream({ ...request, ...further })) {
    if (chunk.content || chunk.toolCallDelta) first ??= cpuSeconds(client.pid());
    answer.text += chunk.content ?? chunk.toolCallDelta?.argumentsText ?? '';
    answer.promptTokens = chunk.usage?.promptTokens ?? answer.promptTokens;
    answer.written = chunk.usage?.completionTokens ?? answer.written;
  }
  return { ...answer, first: first! - startedAt, all: cpuSeconds(client.pid()) - startedAt, total: first! };
}
