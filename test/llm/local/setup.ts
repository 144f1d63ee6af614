import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { type ChatRequest, type ChatStreamChunk, ReplyAccumulator } from '../../../src/llm/core/client.ts';
import { LLMError } from '../../../src/llm/core/errors.ts';
import type { DemoAutomatonScript } from '../../../src/llm/local/demo/automaton.ts';
import { writeScriptedModel } from '../../../src/llm/local/demo/scriptedModel.ts';
import { createLocalModelClient, type LocalModelClient } from '../../../src/llm/local/host/client.ts';
import type { AssistantMessage, Message } from '../../../src/protocol/content/messages.ts';
import { type ToolOutcome, toToolResult } from '../../../src/protocol/content/tools.ts';
import { builtinTools } from '../../../src/tools/host/builtinTools.ts';

export const tools = builtinTools().map((tool) => tool.definition);

/** Inside the project, because llama.cpp's library is found from where the engine lies. */
const out = path.resolve(import.meta.dirname, '../../out');
const workerPath = path.join(out, 'local-worker.mjs');
const root = path.resolve(import.meta.dirname, '../../..');
const builds = new Map<string, Promise<unknown>>();

/**
 * Builds the model's process and says where it is. node-llama-cpp is beside it as one file, which is loaded in a third of
 * the time that its own hundreds take; as they are they run in the editor's tests.
 */
export async function buildWorker(entry = 'src/llm/local/worker/worker.ts'): Promise<string> {
  const file = path.join(out, `local-${path.parse(entry).name}.mjs`);
  const built =
    builds.get(entry) ??
    Promise.all([
      bundle(entry, file, [engineBeside, firstContextAsked]),
      bundle('node_modules/node-llama-cpp/dist/index.js', path.join(out, 'local-engine.mjs'), [untried, engineAtHome]),
    ]);
  builds.set(entry, built);
  await built;
  return file;
}

async function bundle(entry: string, file: string, plugins: Plugin[]): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: [path.join(root, entry)],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    mainFields: ['module', 'main'],
    external: ['@node-llama-cpp/*', '@reflink/*'],
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
    logLevel: 'error',
    plugins,
  });
  // Other files of tests, in processes of their own, may be loading it at this moment.
  const own = `${file}.${process.pid}`;
  mkdirSync(out, { recursive: true });
  writeFileSync(own, outputFiles[0]!.contents);
  renameSync(own, file);
}

const engineBeside: Plugin = {
  name: 'engine-beside',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^node-llama-cpp$/ }, () => ({ path: './local-engine.mjs', external: true })),
};

/**
 * What a context begins with, in tokens, for those that say it, and keeps free for a reply: half of that. To have it grow again and
 * again from what it is for people is to read for a minute.
 */
export const firstContextVariable = 'TOWPATH_TEST_FIRST_CONTEXT';
const firstContextAsked: Plugin = {
  name: 'first-context-asked',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[/\\]contextSize\.ts$/ }, ({ path: file }) => {
      const text = readFileSync(file, 'utf8');
      const asked = `initialContextTokens = Number(process.env.${firstContextVariable} ?? 8192);`;
      const first = text.replace('initialContextTokens = 8192;', asked);
      const contents = first.replace('reply = 4096;', 'reply = initialContextTokens / 2;');
      if (first === text || contents === first) throw new Error('What a context begins with is said otherwise now.');
      return { contents, loader: 'ts' };
    }),
};

/** It loads the engine in another process before it does so itself, which takes as long again. In the editor's tests it does. */
const untried: Plugin = {
  name: 'untried',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[/\\]testBindingBinary\.js$/ }, () => ({
      contents: 'export const testBindingBinary = async () => true;',
    })),
};

/** Each of its files believes to lie where it does. */
const engineAtHome: Plugin = {
  name: 'engine-at-home',
  setup: ({ onLoad }) =>
    onLoad({ filter: /node-llama-cpp[/\\]dist[/\\].*\.js$/ }, ({ path: file }) => {
      const home = JSON.stringify(pathToFileURL(file).href);
      return { contents: readFileSync(file, 'utf8').replaceAll('import.meta.url', home), loader: 'js' };
    }),
};

/**
 * A client of a model that plays the script (`options` make another one of the same file); `close` removes both. Finding out that its
 * template is Qwen's is a quarter of a start: whoever starts many says so.
 */
export async function localModel(script: DemoAutomatonScript, chatWrapper?: 'qwen') {
  await buildWorker();
  const folder = mkdtempSync(path.join(tmpdir(), 'towpath-model-'));
  const modelPath = path.join(folder, 'test.gguf');
  writeScriptedModel(script, modelPath);
  const options = { workerPath, modelPath, threads: 1, gpu: false, chatWrapper } as const;
  const client = createLocalModelClient(options);
  const close = async () => {
    await client.dispose();
    rmSync(folder, { recursive: true });
  };
  return { client, options, close };
}

/** One conversation with a client, told turn by turn. */
export class Talk {
  readonly messages: Message[] = [];
  last = new ReplyAccumulator();
  chunks: ChatStreamChunk[] = [];

  constructor(
    readonly client: LocalModelClient,
    readonly request: Partial<ChatRequest> = {},
  ) {}

  /** Sends what was said so far (and `text`) and keeps the reply. */
  async ask(text?: string, signal?: AbortSignal): Promise<AssistantMessage> {
    if (text !== undefined) this.messages.push({ role: 'user', content: text });
    this.last = new ReplyAccumulator();
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
