import { randomUUID } from 'node:crypto';
import { open } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import type { ToolCall } from '../../protocol/messages.ts';
import { type ChatRequest, type ChatStreamChunk, collect, type LLMClient } from '../client.ts';
import { LLMError } from '../errors.ts';
import { fromWireNames, toWireName } from '../names.ts';
import { toHistory, toNative } from './history.ts';
import type { Job } from './ipc.ts';
import { type JobProgress, ModelProcess } from './modelProcess.ts';
import { stripNulls, toGrammarSchema } from './schema.ts';

export interface LocalClientOptions {
  /** The built `worker.ts`. It must lie where `node-llama-cpp` can be found from. */
  workerPath: string;
  modelPath: string;
  /** What people call the model; the file's name without its ending otherwise. */
  label?: string;
  /** Tokens in view, 8192 when not given; never more than the model was trained for or memory allows. */
  contextSize?: number;
  /** One less than the machine's cores when not given. */
  threads?: number;
  gpu?: 'auto' | false;
  onLog?: (line: string) => void;
}

export interface LocalClient extends LLMClient {
  /** Ends the model's process. */
  dispose(): Promise<void>;
  /** The model's process, while there is one. */
  pid(): number | undefined;
}

/**
 * A model file in a child process, started by the first request and again after it ended. Calls are proposed, never run
 * here; those that are complete are told while the reply is still being written.
 */
export function createLocalClient(options: LocalClientOptions): LocalClient {
  const label = options.label ?? path.basename(options.modelPath, '.gguf');
  let current: ModelProcess | undefined;
  let disposed = false;

  const running = async (): Promise<ModelProcess> => {
    if (disposed) throw new LLMError('UNKNOWN', `The local model ${label} has been closed. Pick a model again.`);
    if (current && !current.ended) return current;
    await checkModelFile(options.modelPath);
    if (current && !current.ended) return current; // another request was quicker
    current = new ModelProcess(
      options.workerPath,
      {
        modelPath: options.modelPath,
        contextSize: options.contextSize ?? 8192,
        threads: options.threads ?? Math.max(1, availableParallelism() - 1),
        gpu: options.gpu ?? 'auto',
      },
      options.onLog ?? (() => {}),
    );
    return current;
  };

  async function* chatStream(
    request: ChatRequest,
    signal?: AbortSignal,
  ): AsyncGenerator<ChatStreamChunk, void, unknown> {
    signal?.throwIfAborted();
    const model = await untilStopped(running(), signal);
    const toChunk = chunksOf(request, label);
    for await (const event of model.run(toJob(request), signal)) {
      const chunk = toChunk(event);
      if (chunk) yield chunk;
    }
  }

  return {
    chatStream,
    chat: (request, signal) => collect(chatStream(request, signal), request.model),
    listModels: async () => [
      { id: label, ...(current?.contextSize !== undefined && { contextWindow: current.contextSize }) },
    ],
    dispose: async () => {
      disposed = true;
      await current?.close();
    },
    pid: () => (current && !current.ended ? current.pid : undefined),
  };
}

function toJob(request: ChatRequest): Job {
  const functions = (request.tools ?? []).map((tool) => {
    const params = toGrammarSchema(tool.parameters);
    return [toWireName(tool.name), { description: tool.description, ...(params && { params }) }] as const;
  });
  return {
    history: toHistory(request.messages, request.systemPrompt),
    functions: Object.fromEntries(functions),
    key: request.cacheKey,
    maxTokens: request.maxTokens,
    temperature: request.temperature,
    topP: request.topP,
    stopSequences: request.stopSequences,
  };
}

/** Turns what the process tells into chunks. Remembers the calls, which get their ids here. */
function chunksOf(request: ChatRequest, label: string): (event: JobProgress) => ChatStreamChunk | undefined {
  const tools = request.tools ?? [];
  const nameOf = fromWireNames(tools);
  const ids: string[] = [];
  const raws: { id: string; raw: unknown }[] = [];
  const idOf = (index: number) => {
    ids[index] ??= `call_${randomUUID()}`;
    return ids[index];
  };

  return (event) => {
    switch (event.type) {
      case 'loading':
        return { progress: { text: `Loading ${label}`, ...withFraction(event.fraction) }, done: false };
      case 'reading':
        return {
          progress: { text: 'Reading the conversation', fraction: event.tokens / event.total },
          done: false,
        };
      case 'text':
        return { content: event.text, done: false };
      case 'thinking':
        return { thinking: event.text, done: false };
      case 'call-text': {
        const { index, text: argumentsText } = event;
        const first = ids[index] === undefined;
        const id = idOf(index);
        return {
          toolCallDelta: { index, ...(first && { id, name: nameOf(event.name) }), argumentsText },
          done: false,
        };
      }
      case 'call': {
        const id = idOf(event.index);
        const name = nameOf(event.name);
        raws.push({ id, raw: event.raw });
        const args = stripNulls(event.params, tools.find((tool) => tool.name === name)?.parameters);
        return { toolCall: { id, name, arguments: args as ToolCall['arguments'] }, done: false };
      }
      case 'bad-call':
        return {
          toolCall: { id: idOf(event.index), name: nameOf(event.name), arguments: {}, malformed: event.text },
          done: false,
        };
      case 'done': {
        const { prompt, cached, completion, thinking } = event.tokens;
        const native = toNative(event.spoken, raws);
        return {
          done: true,
          finishReason: event.finish,
          ...(native && { native }),
          usage: {
            promptTokens: prompt,
            completionTokens: completion,
            totalTokens: prompt + completion,
            cachedTokens: cached,
            ...(thinking > 0 && { thinkingTokens: thinking }),
          },
          model: request.model,
        };
      }
      default:
        return undefined;
    }
  };
}

function withFraction(fraction: number | undefined) {
  return fraction === undefined ? {} : { fraction };
}

/** The promise, or the signal's reason when that comes first: a file on a sleeping disk must not hold up Stop. */
async function untilStopped<Value>(promise: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (!signal) return promise;
  let stop = () => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  return Promise.race([promise, stopped]).finally(() => signal.removeEventListener('abort', stop));
}

/** Says what is wrong with the file before a process is started for it. */
async function checkModelFile(modelPath: string): Promise<void> {
  const details = { path: modelPath };
  const head = await readHead(modelPath).catch((error: NodeJS.ErrnoException) => {
    const message =
      error.code === 'ENOENT'
        ? `There is no model file at ${modelPath}. Choose another .gguf file, or put this one back.`
        : `The model file ${modelPath} cannot be read (${error.code}). Check its permissions or choose another .gguf file.`;
    throw new LLMError('UNKNOWN', message, { details, cause: error });
  });
  if (head !== 'GGUF')
    throw new LLMError('UNKNOWN', `${modelPath} is not a GGUF model file. Choose a .gguf file.`, { details });
}

async function readHead(modelPath: string): Promise<string> {
  const file = await open(modelPath);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await file.close();
  }
}
