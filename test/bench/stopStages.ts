import { createServer, type Socket } from 'node:net';
import type { Workflow } from '../../src/engine/core/workflow.ts';
import type { ExecutionEngine } from '../../src/engine/run/engine.ts';
import type { AdapterDependencies, AdapterLimits } from '../../src/llm/adapter/adapter.ts';
import { createRateLimiter } from '../../src/llm/adapter/rateLimit.ts';
import type { LLMClient } from '../../src/llm/core/client.ts';
import { createLocalModelClient } from '../../src/llm/local/host/client.ts';
import type { RunEvent } from '../../src/protocol/run/events.ts';
import type { ApprovalRequester } from '../../src/tools/core/tool.ts';
import { builtinTools } from '../../src/tools/host/builtinTools.ts';
import type { ToolHost } from '../../src/tools/host/host.ts';
import { loadWorkflow } from '../../src/workflows/read/validate.ts';
import { graphWorkflow } from '../../src/workflows/run/runGraph.ts';
import { localModel, tools } from '../llm/local/setup.ts';
import { clientFor } from '../llm/serve.ts';
import { faultyServer } from '../support/mcp/servers.ts';
import { type ProviderReply, reply, startProvider } from '../support/provider.ts';
import { testScript } from '../support/scripted.ts';
import { scriptedClient } from '../support/scriptedClient.ts';
import { node, talk } from '../tools/mcp/talk.ts';

/** Where a run is when it is stopped. */
export interface Stage {
  /** Of one run. */
  client(): LLMClient;
  userInput?(): string;
  approve?: ApprovalRequester;
  limits?: Partial<AdapterLimits>;
  parts?: AdapterDependencies;
  host?: ToolHost;
  workflow?: Workflow;
  /** Tokens, from this turn on. */
  contextWindow?: number;
  /** What was said in the run before. */
  before?(engine: ExecutionEngine, runId: string): Promise<void>;
  /** How often at most; what it leaves behind takes its time. */
  most?: number;
  /** When this has been told (or, without it, that it runs), and a moment later, Stop. */
  when?(event: RunEvent): boolean;
  close?(): Promise<void>;
}

const shown = (event: RunEvent) => event.type === 'chunk' && Boolean(event.content);
const progress = (words: RegExp) => (event: RunEvent) => event.type === 'progress' && words.test(event.text);
const retrying = (event: RunEvent) => event.type === 'progress' && event.attempt !== undefined;
const asking = (event: RunEvent) => event.type === 'question';
const never: ApprovalRequester = () => new Promise(() => {});
const write = reply.call('fs_write', { path: 'a.txt', content: 'two\n' });

export const stages: Record<string, () => Promise<Stage>> = {
  connecting: connecting,
  'waiting for headers': () => behind(reply.late(Number.POSITIVE_INFINITY)),
  'waiting for the first word': () => behind(reply.hang()),
  'in a slow stream': () => behind(reply.endless(), { when: shown }),
  'in a flood': () => behind(reply.endless('and on ', 0), { when: shown }),
  'in a hang': () => behind(reply.text('Half').hang(), { when: shown }),
  'waiting to ask again': () => behind(reply.status(429, {}, { 'retry-after': '50' }), { when: retrying }),
  'waiting for the rate limit': async () => {
    const limiter = createRateLimiter({ requestsPerMinute: 1, tokensPerMinute: 0 });
    limiter.reserve(1);
    return behind(reply.text('Never said.'), { parts: { limiter }, when: progress(/rate limit/) });
  },
  'making a summary': summary,
  'at a question': () => behind(write, { approve: never, when: asking }),
  'in a command': () => command('echo up; sleep 300 | sleep 301'),
  'in a command that ignores it': async () => ({
    ...(await command(`trap '' TERM; echo up; while :; do sleep 1; done`)),
    most: 5,
  }),
  'in a long output': () => command('seq 200000; sleep 300'),
  'starting an MCP server': () => mcp('hangs-at-initialize', progress(/Starting MCP server/)),
  'in an MCP call': () => mcp('hangs', (event) => event.type === 'tool-start'),
  'loading a local model': loading,
  'a local model reading': () =>
    local({ userInput: () => `${Math.random()} ${'along the canal '.repeat(900)}`, when: progress(/Reading/) }),
  'a local model writing': () => local({ userInput: () => '[[long]]', when: shown }),
  'a local model at a question': () => local({ userInput: () => '[[write]]', approve: never, when: asking }),
  'at a node: llm.call': () => atNode('llm.call', '', reply.hang(), (event) => event.type === 'node'),
  'at a node: llm.stream': () => atNode('llm.stream', '', reply.endless(), shown),
  'at a node: waiting in llm.retry': () =>
    atNode('llm.retry', 'base_delay: 600, max_delay: 600', reply.status(500), retrying),
  'at a node: llm.tools, in a command': () =>
    atNode('llm.tools', 'tools: [shell.run]', reply.call('shell_run', { command: 'echo up; sleep 300' }), isOutput),
};

function isOutput(event: RunEvent): boolean {
  return event.type === 'tool-output';
}

async function behind(script: ProviderReply, more: Partial<Stage> = {}): Promise<Stage> {
  const provider = await startProvider(() => script);
  return { client: () => clientFor(provider.url), close: () => provider.close(), ...more };
}

const command = (line: string) => behind(reply.call('shell_run', { command: line }), { when: isOutput });

/** A server that takes connections and never says a word: a TLS handshake with it does not end. */
async function connecting(): Promise<Stage> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    client: () => clientFor(`https://127.0.0.1:${port}/v1`),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function summary(): Promise<Stage> {
  const long = { text: 'some words of a file\n'.repeat(300), usage: null };
  return {
    client: () => scriptedClient([long, long, long, { text: 'They', endless: true }]),
    contextWindow: 6500,
    before: async (engine, runId) => {
      await engine.start({ runId, userInput: 'first' });
      for (const userInput of ['second', 'third']) await engine.continue({ runId, userInput });
    },
    when: progress(/summarizing/),
  };
}

async function mcp(fault: string, when: Stage['when']): Promise<Stage> {
  const t = await talk({ servers: { odd: node(faultyServer, fault) } });
  return { ...(await behind(reply.call('mcp_odd_work', {}))), host: t.host, when, close: () => t.close() };
}

async function loading(): Promise<Stage> {
  const { options, close } = await localModel(testScript(tools));
  const clients: { dispose(): Promise<void> }[] = [];
  return {
    client: () => {
      const client = createLocalModelClient(options);
      clients.push(client);
      return client;
    },
    when: progress(/Loading/),
    close: async () => {
      for (const client of clients) await client.dispose();
      await close();
    },
  };
}

async function local(more: Partial<Stage>): Promise<Stage> {
  const { client, close } = await localModel(testScript(tools));
  return { client: () => client, close, ...more };
}

async function atNode(uses: string, values: string, script: ProviderReply, when: Stage['when']): Promise<Stage> {
  const messages = 'messages: [{role: user, content: hi}]';
  const yaml = `nodes:\n  - {name: ask, uses: ${uses}, with: {${[messages, values].filter(Boolean).join(', ')}}}\n`;
  const names = builtinTools().map(({ definition }) => definition.name);
  const { value: file, problems } = loadWorkflow(yaml, { tools: names });
  if (!file) throw new Error(JSON.stringify(problems));
  return behind(script, { workflow: graphWorkflow({ id: 'bench', file, agents: new Map() }), when });
}
