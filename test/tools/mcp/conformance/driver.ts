// The client that the conformance suite runs, with the address of its server as the last argument: the product's own servers, which call all
// that the scenario offers.

import type { Workspace } from '../../../../src/tools/core/workspace.ts';
import { McpApprovalStore } from '../../../../src/tools/mcp/approved.ts';
import type { ElicitationHandler } from '../../../../src/tools/mcp/elicitation/elicitationForm.ts';
import type { McpServer } from '../../../../src/tools/mcp/server.ts';
import { McpServers } from '../../../../src/tools/mcp/servers.ts';

type Json = Record<string, unknown>;

const url = process.argv.at(-1)!;
const { toolCalls } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') as {
  toolCalls?: { name: string; arguments: Json }[];
};
const memory = () => {
  let value: unknown;
  return {
    get: () => value,
    set: async (next: unknown) => {
      value = next;
    },
  };
};

const servers = new McpServers({
  workspace: { trusted: true, roots: [] as Workspace['roots'] } as Workspace,
  sources: async () => [
    {
      name: 'suite',
      place: 'settings',
      content: JSON.stringify({ servers: { suite: { type: 'http', url } } }),
      folder: { path: undefined, all: [] },
    },
  ],
  approved: new McpApprovalStore(memory(), memory()),
  person: {
    approveServer: async () => 'allow',
    approveTools: async () => 'allow',
    input: async () => undefined,
  },
  limits: () => ({ startMs: 20_000, callMs: 20_000 }),
  roots: () => [],
  log: (_, text) => console.error(text),
  changed: () => {},
  elicits: true,
});

const { signal } = new AbortController();
const elicit: ElicitationHandler = async () => ({ action: 'accept', content: { confirmed: true } });

void run();

async function run(): Promise<void> {
  await servers.prepare(signal, () => {});
  const [server] = servers.servers as [McpServer];
  const { state } = server;
  if (state.phase === 'failed') console.error(state.problem);
  else await useAll(server);
  await servers.close();
  process.exit(state.phase === 'failed' ? 1 : 0);
}

async function useAll(server: McpServer): Promise<void> {
  const calls = toolCalls ?? server.tools.map(({ name, inputSchema }) => ({ name, arguments: exampleOf(inputSchema) }));
  for (const { name, arguments: args } of calls) await attempt(name, () => server.call(name, args, { signal, elicit }));
  if (server.hasResources)
    for (const { uri } of await server.resources({ signal }))
      await attempt(uri, () => server.readResource(uri, { signal, elicit }));
  if (server.hasPrompts)
    for (const { name } of await server.prompts({ signal }))
      await attempt(name, () => server.prompt(name, {}, { signal, elicit }));
}

async function attempt(what: string, work: () => Promise<unknown>): Promise<void> {
  try {
    console.log(what, JSON.stringify(await work()));
  } catch (error) {
    console.error(what, String(error));
  }
}

function exampleOf({ properties = {} }: { properties?: Record<string, object> }): Json {
  const examples: Json = { number: 2, integer: 2, boolean: true, array: [], object: {} };
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      name,
      examples[(schema as { type?: string }).type ?? ''] ?? 'x',
    ]),
  );
}
