// Starts a server as the product does in a fresh process, approved before, and prints the CPU time in milliseconds until the tools with their
// schemas are there.
import type { Workspace } from '../../../src/tools/core/workspace.ts';
import { McpApprovalStore } from '../../../src/tools/mcp/approved.ts';
import { McpServers } from '../../../src/tools/mcp/servers.ts';

const memory = () => {
  let value: unknown;
  return {
    get: () => value,
    set: async (next: unknown) => {
      value = next;
    },
  };
};

void run();

async function run(): Promise<void> {
  const content = { servers: { fifteen: { command: process.execPath, args: [process.argv.at(-1)!] } } };
  const servers = new McpServers({
    workspace: { trusted: true, roots: [] as Workspace['roots'] } as Workspace,
    sources: async () => [{ name: 'settings', place: 'settings', content, folder: { path: process.cwd(), all: [] } }],
    approved: new McpApprovalStore(memory(), memory()),
    person: { approveServer: async () => 'allow', approveTools: async () => 'allow', input: async () => undefined },
    limits: () => ({ startMs: 30_000, callMs: 30_000 }),
    roots: () => [],
    log: (_, text) => console.error(text),
    changed: () => {},
  });
  const before = process.cpuUsage();
  await servers.prepare(new AbortController().signal, () => {});
  const tools = servers.tools();
  const { user, system } = process.cpuUsage(before);
  console.log((user + system) / 1000, tools.length);
  await servers.close();
  process.exit();
}
