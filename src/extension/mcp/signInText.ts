import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';
import type { SignInRequest } from '../../tools/mcp/oauth/authorize.ts';
import type { SignInChallenge } from '../../tools/mcp/oauth/signInErrors.ts';
import type { ApprovalText } from '../dialogs/approvalText.ts';
import { excerptForDialog, excerptLineForDialog } from '../dialogs/dialogExcerpt.ts';

const longestName = 60;

/** Returns the name of a server for a sentence: one line without hidden characters. */
export const shownServerName = (name: string): string =>
  excerptLineForDialog(escapeInvisibleInLine(name), longestName).text;

/** Returns the text of the dialog before a browser opens. Hosts are in their ASCII form, so that no other letters imitate one. */
export function signInText({ server, serverHost, signInHost, tokenHost, scopes }: SignInRequest): ApprovalText {
  const hosts =
    serverHost === signInHost
      ? t('Server and sign-in page: {0}.', serverHost)
      : t('Server: {0}. Sign-in page: {1} (a different site).', serverHost, signInHost);
  const requested =
    scopes.length === 0
      ? t('It does not say what it requests; the sign-in page does.')
      : t('It requests: {0}.', excerptForDialog(escapeInvisibleInLine(scopes.join(', '))).text);
  const completed = tokenHost === signInHost ? '' : ` ${t('The sign-in is completed at {0}.', tokenHost)}`;
  return { message: t('Sign in to “{0}”?', shownServerName(server)), detail: `${hosts}${completed}\n\n${requested}` };
}

/** Returns the sentence that asks the user for a sign-in. */
export function signInRequiredText(server: string, kind: SignInChallenge['kind']): string {
  const name = shownServerName(server);
  if (kind === 'expired') return t('The sign-in to “{0}” has expired.', name);
  if (kind === 'scope') return t('“{0}” requires a sign-in with more permissions.', name);
  if (kind === 'lost')
    return t('“{0}” requires a sign-in. The editor did not retain the previous one, because it has no keychain.', name);
  return t('“{0}” requires a sign-in.', name);
}
