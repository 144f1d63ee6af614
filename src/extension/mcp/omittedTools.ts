import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';
import { truncateWithEllipsis } from '../../protocol/text/shorten.ts';
import type { McpServer } from '../../tools/mcp/server.ts';

/** Returns a message for each server list with omitted items. */
export const omittedMcpItemMessages = ({ leftOut }: Pick<McpServer, 'leftOut'>): string[] =>
  leftOut.map(({ kind, names, of }) => {
    const more = names.length - shownNames;
    const shown = names
      .slice(0, shownNames)
      .map((name) => truncateWithEllipsis(escapeInvisibleInLine(name), longestName));
    const list = [...shown, ...(more > 0 ? [t('and {0} more', more)] : [])].join(', ');
    return t(leftOutSentences[kind], names.length, of, list);
  });

const leftOutSentences = {
  tools: '{0} of {1} tools left out: invalid schema ({2})',
  resources: '{0} of {1} resources left out: invalid entry ({2})',
  prompts: '{0} of {1} prompts left out: invalid entry ({2})',
} as const;

const [shownNames, longestName] = [5, 40];
