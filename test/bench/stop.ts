import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ExecutionEngine } from '../../src/engine/engine.ts';
import { createAdapter } from '../../src/llm/adapter.ts';
import type { LLMClient } from '../../src/llm/client.ts';
import { createLocalClient } from '../../src/llm/local/client.ts';
import type { RunEvent } from '../../src/protocol/run.ts';
import { RunStore } from '../../src/runs/store.ts';
import { defaultTools } from '../../src/tools/default.ts';
import { createToolHost } from '../../src/tools/host.ts';
import type { Approve } from '../../src/tools/tool.ts';
import { chat } from '../../src/workflows/chat.ts';
import { localModel, tools } from '../llm/local/setup.ts';
import { clientFor } from '../llm/serve.ts';
import { type ProviderReply, reply, startProvider } from '../support/provider.ts';
import { testScript } from '../support/scripted.ts';
import { temporaryWorkspace } from '../support/workspace.ts';
import { inMs, line, median } from './measure.ts';

// Stop in every stage of a run, from the click to the end of the run, with all that is kept of it on disk.

const budgetMs = 100;
const rounds = 15;

interface Stage {
  client: LLMClient;
  userInput?: string;
  approve?: Approve;
  /** When this has been told (or, without it, a moment after the start), Stop. */
  when?: (event: RunEvent) => boolean;
}

const shown = (event: RunEvent) => event.type === 'chunk' && Boolean(event.content);
const progress = (words: RegExp) => (event: RunEvent) => event.type === 'progress' && words.test(event.text);
const allow: Approve = async () => ({ decision: 'allow' });

const folder = mkdtempSync(path.join(tmpdir(), 'towpath-stop-'));
const workspace = await temporaryWorkspace({ 'a.txt': 'one\n' });
const silent = await startSilent();
const local = await localModel(testScript(tools));
const closing: (() => Promise<void>)[] = [() => local.close(), silent.close];
try {
  console.log(`from Stop to the end of the run, ${rounds} times, each within ${budgetMs} ms`);
  await measure('connecting', async () => ({ client: clientFor(silent.url) }));
  await measure('waiting for headers', () => behind(reply.late(Number.POSITIVE_INFINITY)));
  await measure('waiting for the first word', () => behind(reply.hang()));
  await measure('in a slow stream', async () => ({ ...(await behind(reply.endless())), when: shown }));
  await measure('in a flood', async () => ({ ...(await behind(reply.endless('and on ', 0))), when: shown }));
  await measure('in a hang', async () => ({ ...(await behind(reply.text('Half').hang())), when: shown }));
  await measure('waiting to ask again', async () => ({
    ...(await behind(reply.status(429, {}, { 'retry-after': '50' }))),
    when: progress(/Trying again/),
  }));
  const write = reply.call('fs_write', { path: 'a.txt', content: 'two\n' });
  await measure('at a question', async () => ({
    ...(await behind(write)),
    approve: () => new Promise(() => {}),
    when: (event) => event.type === 'question',
  }));
  await measure('in a command', async () => ({
    ...(await behind(reply.call('shell_run', { command: 'echo up; sleep 300 | sleep 301' }))),
    when: (event) => event.type === 'tool-output',
  }));
  await measure('loading a local model', async () => {
    const client = createLocalClient(local.options);
    closing.push(() => client.dispose());
    return { client, when: progress(/Loading/) };
  });
  await measure('a local model reading', async () => ({
    client: local.client,
    userInput: `${Math.random()} ${'along the canal '.repeat(900)}`,
    when: progress(/Reading/),
  }));
  await measure('a local model writing', async () => ({ client: local.client, userInput: '[[long]]', when: shown }));
} finally {
  for (const close of closing) await close();
  workspace.cleanup();
  rmSync(folder, { recursive: true });
}
process.exit();

async function behind(script: ProviderReply): Promise<Stage> {
  const provider = await startProvider(() => script);
  closing.push(() => provider.close());
  return { client: clientFor(provider.url) };
}

async function measure(what: string, prepare: () => Promise<Stage>): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) times.push(await stopOnce(await prepare()));
  const most = Math.max(...times);
  line(what, { median: inMs(median(times)), most: inMs(most) }, most, budgetMs);
}

async function stopOnce({ client, userInput = 'hi', approve = allow, when }: Stage): Promise<number> {
  let there = () => {};
  const reached = when
    ? new Promise<void>((resolve) => {
        there = resolve;
      })
    : undefined;
  let stopped = false;
  let after = 0;
  const engine = new ExecutionEngine({
    store: new RunStore(folder),
    host: createToolHost({ workspace, tools: defaultTools(), approve }),
    workflow: async () => chat,
    model: async () => ({ id: 'bench/stop', model: 'stop', adapter: createAdapter(client) }),
    workspace: async () => ({ names: ['sample'] }),
    maxTurns: () => 2,
    tell: (event) => {
      if (stopped && event.type === 'chunk') after++;
      if (when?.(event)) there();
    },
  });
  const runId = RunStore.newId();
  const done = engine.start({ runId, userInput });
  const early = done.then((result) => {
    if (!stopped) throw new Error(`The run ended by itself: ${JSON.stringify(result)}`);
  });
  await Promise.race([reached, early]);
  await Promise.race([new Promise((resolve) => setTimeout(resolve, 30)), early]);
  const began = performance.now();
  stopped = true;
  await engine.stop(runId);
  const ms = performance.now() - began;
  await early;
  const { error } = await done;
  if (error?.code !== 'ENGINE_ABORTED' || after > 0) throw new Error(`${error?.code}, and ${after} chunks after it`);
  return ms;
}

/** Takes connections and never says a word: a TLS handshake with it does not end. */
async function startSilent(): Promise<{ url: string; close: () => Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `https://127.0.0.1:${port}/v1`,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
