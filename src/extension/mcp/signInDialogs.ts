import * as vscode from 'vscode';
import { t } from '../../protocol/text/l10n.ts';
import type { SignInRequest, SignInUser } from '../../tools/mcp/oauth/authorize.ts';
import { withCancellationAndCommand } from '../dialogs/cancellable.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import { shownServerName, signInText } from './signInText.ts';

/** Dialog before a sign-in, and the notification while it waits for the browser. */
export class SignInDialogs implements SignInUser {
  constructor(private readonly dialogs: Pick<Dialogs, 'ask'>) {}

  async confirm(request: SignInRequest): Promise<'browser' | 'link' | undefined> {
    const { message, detail } = signInText(request);
    const [browser, link] = [t('Open Browser'), t('Copy Link')];
    const chosen = await this.dialogs.ask({ text: message, detail, buttons: [browser, link] });
    return chosen === browser ? 'browser' : chosen === link ? 'link' : undefined;
  }

  async wait<Value>(
    server: string,
    address: string,
    by: 'browser' | 'link',
    work: (signal: AbortSignal) => Promise<Value>,
  ): Promise<Value> {
    const copy = () => vscode.env.clipboard.writeText(address);
    const title = t('Waiting for sign-in to “{0}”…', shownServerName(server));
    return withCancellationAndCommand(title, { label: t('Copy Link'), run: copy }, async (signal) => {
      const result = work(signal); // waits before the browser can answer
      if (by === 'link' || !(await openInBrowser(address))) await copy();
      return result;
    });
  }
}

/** The text reaches the browser as it is only as a string: a `Uri` is decoded and encoded again, which changes values with `&` or `+`. */
export const openInBrowser = (address: string): Thenable<boolean> =>
  vscode.env.openExternal(address as unknown as vscode.Uri).then(
    (isOpened) => isOpened,
    () => false,
  );
