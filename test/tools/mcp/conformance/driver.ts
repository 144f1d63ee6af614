// The client that the conformance suite runs, with the address of its server as the last argument: the product's own servers, which call all
// that the scenario offers, and a user who signs in wherever that is required.

import type { Workspace } from '../../../../src/tools/core/workspace.ts';
import { McpApprovalStore } from '../../../../src/tools/mcp/approved.ts';
import type { ElicitationHandler } from '../../../../src/tools/mcp/elicitation/elicitationForm.ts';
import type { McpServer } from '../../../../src/tools/mcp/server.ts';
import { McpServers } from '../../../../src/tools/mcp/servers.ts';
import { SignInWindow } from '../../../support/mcp/signIn.ts';

type Json = Record<string, unknown>;

const url = process.argv.at(-1)!;
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') as {
  toolCalls?: { name: string; arguments: Json }[];
  client_id?: string;
  client_secret?: string;
};
const { toolCalls, client_id: clientId, client_secret: secret } = context;
// biome-ignore lint/suspicious/noTemplateCurlyInString: an input of a configuration
const oauth = clientId && { clientId, clientSecret: '${input:secret}' };
const window = new SignInWindow();
window.dependencies.clientMetadata = () => 'https://conformance-test.local/client-metadata.json';
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
      content: JSON.stringify({
        inputs: [{ type: 'promptString', id: 'secret' }],
        servers: { suite: { type: 'http', url, oauth } },
      }),
      folder: { path: undefined, all: [] },
    },
  ],
  approved: new McpApprovalStore(memory(), memory()),
  person: {
    approveServer: async () => 'allow',
    approveTools: async () => 'allow',
    input: async () => secret,
  },
  limits: () => ({ startMs: 20_000, callMs: 20_000 }),
  roots: () => [],
  log: (_, text) => console.error(text),
  changed: () => {},
  elicits: true,
  signIn: ({ url, ...client }) => window.signInOf(url, client),
});

const { signal } = new AbortController();
const elicit: ElicitationHandler = async () => ({ action: 'accept', content: { confirmed: true } });

void run();

async function run(): Promise<void> {
  await servers.prepare(signal, () => {});
  const [server] = servers.servers as [McpServer];
  while (server.state.phase === 'failed' && (await signIn(server))) await servers.restart(server);
  const { state } = server;
  if (state.phase === 'failed') console.error(state.problem);
  else await useAll(server);
  await servers.close();
  window.remove();
  process.exit(state.phase === 'failed' ? 1 : 0);
}

async function useAll(server: McpServer): Promise<void> {
  const calls = toolCalls ?? server.tools.map(({ name, inputSchema }) => ({ name, arguments: exampleOf(inputSchema) }));
  for (const { name, arguments: args } of calls)
    await attempt(name, () => server.call(name, args, { signal, elicit }), server);
  if (server.hasResources)
    for (const { uri } of await server.resources({ signal }))
      await attempt(uri, () => server.readResource(uri, { signal, elicit }), server);
  if (server.hasPrompts)
    for (const { name } of await server.prompts({ signal }))
      await attempt(name, () => server.prompt(name, {}, { signal, elicit }), server);
}

/** Does the work again after each sign-in that it requires. */
async function attempt(what: string, work: () => Promise<unknown>, server: McpServer): Promise<void> {
  try {
    console.log(what, JSON.stringify(await work()));
  } catch (error) {
    console.error(what, String(error));
    if (!(await signIn(server))) return;
    if (server.state.phase === 'failed') await servers.restart(server);
    await attempt(what, work, server);
  }
}

/** Returns false if no sign-in is required, or none is possible. */
async function signIn(server: McpServer): Promise<boolean> {
  if (!server.signIn?.required) return false;
  return server.signIn.signIn().catch((error) => {
    console.error(String(error));
    return false;
  });
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
