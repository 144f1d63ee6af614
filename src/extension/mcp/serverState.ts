import { localizedCount, t } from '../../protocol/text/l10n.ts';
import { localize } from '../../protocol/text/localized.ts';
import type { McpServer } from '../../tools/mcp/server.ts';
import type { McpServices } from './mcp.ts';
import { omittedMcpItemMessages } from './omittedTools.ts';

/** State of a server in its row: the tools, or the reason why it cannot be used. */
export function serverStateText({ servers }: Pick<McpServices, 'servers'>, server: McpServer): string {
  const { state } = server;
  if (server.signIn?.required) return t('Sign-in required');
  if (state.phase === 'failed')
    return t('Failed: {0}', server.ownError ?? localize(server.failure ?? state.problem).replace(/\.$/, ''));
  if (state.phase === 'starting') return t('Starting…');
  if (state.phase === 'stopped') return servers.isAllowed(server) ? t('Stopped') : t('Not started yet');
  if (server.isUnresponsive) return t('Not responding; skipped in this run');
  const waiting = servers.waitingTools(server).length;
  const selected = server.tools.length - servers.deselectedTools(server).length;
  return [
    selected === server.tools.length
      ? t(localizedCount(selected, 'tool'))
      : t('{0} of {1}', selected, localizedCount(server.tools.length, 'tool')),
    ...(waiting > 0 ? [t('{0} disabled until allowed', waiting)] : []),
    ...omittedMcpItemMessages(server),
    ...(servers.isSandboxed(server) ? [t('in the sandbox')] : []),
    ...(servers.isTrusted(server) ? [t('read-only tools are trusted')] : []),
  ].join(' · ');
}
