import { counted } from '../../protocol/counted.ts';
import type { McpServer } from '../../tools/mcp/server.ts';
import type { McpServers } from '../../tools/mcp/servers.ts';
import type { Finding } from './doctorReport.ts';

/** How each MCP server is, for Doctor: what is allowed is started, and nobody is asked. */
export async function serverFindings(
  servers: McpServers,
  signal: AbortSignal,
  progress: (text: string) => void,
): Promise<Finding[]> {
  await servers.examine(signal, progress);
  const findings = [
    ...servers.servers.map((server) => findingOf(servers, server)),
    ...servers.problems.map((text): Finding => ({ level: 'problem', text })),
  ];
  return findings.length > 0
    ? findings
    : [{ level: 'fact', text: 'None is configured, or the workspace is not trusted' }];
}

function findingOf(servers: McpServers, server: McpServer): Finding {
  const { name, state, tools } = server;
  if (state.phase === 'failed') return { level: 'problem', text: state.problem };
  const place = `${name} (${server.definition.source})`;
  if (state.phase !== 'running') {
    const why = servers.isAllowed(server) ? `is ${state.phase}` : 'was not allowed yet: the next run asks about it';
    return { level: 'fact', text: `${place} ${why}` };
  }
  const waiting = servers.waitingTools(server).length;
  const count = counted(tools.length, 'tool');
  if (waiting === 0) return { level: 'ok', text: `${place} runs, with ${count}` };
  return {
    level: 'warning',
    text: `${place} runs, with ${count}; ${waiting === 1 ? '1 waits until you allow it' : `${waiting} wait until you allow them`}`,
  };
}
