import { localizedCount, message } from '../../protocol/text/l10n.ts';
import type { McpServer } from '../../tools/mcp/server.ts';
import type { McpServers } from '../../tools/mcp/servers.ts';
import { createDoctorFinding, type DoctorFinding } from './doctorReport.ts';

/** Returns the state of each MCP server: approved servers are started, without approval requests. */
export async function doctorServerFindings(
  servers: McpServers,
  signal: AbortSignal,
  progress: (text: string) => void,
): Promise<DoctorFinding[]> {
  await servers.examine(signal, progress);
  const findings = [
    ...servers.servers.map((server) => findingOf(servers, server)),
    ...servers.problems.map((text) => createDoctorFinding('problem', text)),
  ];
  return findings.length > 0
    ? findings
    : [createDoctorFinding('fact', message('None is configured, or the workspace is not trusted'))];
}

function findingOf(servers: McpServers, server: McpServer): DoctorFinding {
  const { name, state, tools } = server;
  if (state.phase === 'failed') return createDoctorFinding('problem', server.failure ?? state.problem);
  const subject = `${name} (${server.definition.source})`;
  if (state.phase !== 'running') {
    return createDoctorFinding(
      'fact',
      servers.isAllowed(server)
        ? message('{0} is {1}', subject, message(state.phase))
        : message('{0} is not allowed yet; the next run asks', subject),
    );
  }
  const waiting = servers.waitingTools(server).length;
  const count = localizedCount(tools.length, 'tool');
  if (waiting === 0) return createDoctorFinding('ok', message('{0} runs, with {1}', subject, count));
  return createDoctorFinding(
    'warning',
    waiting === 1
      ? message('{0} runs, with {1}; 1 waits until you allow it', subject, count)
      : message('{0} runs, with {1}; {2} wait until you allow them', subject, count, waiting),
  );
}
