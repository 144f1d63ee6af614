import { escapeInvisible, escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';
import type { AddressRequest } from '../../tools/mcp/elicitation/callElicitation.ts';
import type { ApprovalText } from '../dialogs/approvalText.ts';
import { excerptForDialog } from '../dialogs/dialogExcerpt.ts';
import { shownServerName } from './signInText.ts';

/** Returns the text of the dialog before a server's page opens. The host is in its ASCII form, so that no other letters imitate one. */
export function addressText(server: string, { message, url }: AddressRequest): ApprovalText {
  const { host, href } = new URL(url);
  const says = excerptForDialog(escapeInvisible(message)).text;
  const address = excerptForDialog(escapeInvisibleInLine(href)).text;
  return {
    message: t('Open a page on {0} for “{1}”?', host, shownServerName(server)),
    detail: [t('The server says: {0}', says), address, t('Towpath does not see what you enter there.')].join('\n\n'),
  };
}
