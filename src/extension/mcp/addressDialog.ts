import * as vscode from 'vscode';
import { t } from '../../protocol/text/l10n.ts';
import type { AddressRequest } from '../../tools/mcp/elicitation/callElicitation.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import { addressText } from './addressText.ts';
import { openInBrowser } from './signInDialogs.ts';

/** Asks whether to open the page of a server in the browser. A closed dialog is a decision for the server, too: it may ask again. */
export async function openServerAddress(
  dialogs: Pick<Dialogs, 'ask'>,
  server: string,
  request: AddressRequest,
): Promise<'accept' | 'cancel'> {
  const { message, detail } = addressText(server, request);
  const [browser, link] = [t('Open Browser'), t('Copy Link')];
  const chosen = await dialogs.ask({ text: message, detail, buttons: [link, browser] }); // Enter opens nothing
  if (chosen === undefined) return 'cancel';
  if (chosen === link || !(await openInBrowser(request.url))) await vscode.env.clipboard.writeText(request.url);
  return 'accept';
}
