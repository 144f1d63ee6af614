import * as vscode from 'vscode';
import type { AuditEntry } from '../../protocol/run/audit.ts';
import { t } from '../../protocol/text/l10n.ts';
import { localize, messageOf } from '../../protocol/text/localized.ts';
import { loopbackRedirect } from '../../tools/mcp/oauth/loopbackRedirect.ts';
import { PendingRedirects } from '../../tools/mcp/oauth/pendingRedirects.ts';
import { ServerSignIn, type SignInDependencies } from '../../tools/mcp/oauth/serverSignIn.ts';
import type { SignInServer } from '../../tools/mcp/oauth/signInRecord.ts';
import { SignInStore } from '../../tools/mcp/oauth/signInStore.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import { notify } from '../dialogs/notify.ts';
import { settings } from '../settings/settings.ts';
import { EditorRedirect, externalAddress } from './editorRedirect.ts';
import { SignInDialogs } from './signInDialogs.ts';
import { createSignInStorage } from './signInStorage.ts';
import { shownServerName } from './signInText.ts';

const folder = 'mcp-sign-ins';

/** Sign-ins of this window to MCP servers. */
export class McpSignIns implements vscode.Disposable {
  private readonly dependencies: SignInDependencies;
  private readonly registered: vscode.Disposable;

  constructor(
    context: vscode.ExtensionContext,
    dialogs: Dialogs,
    private readonly record: (entry: AuditEntry) => void,
  ) {
    const redirects = new PendingRedirects();
    const noSignIn = () => t('No sign-in waits for this answer. Start it again in the editor.');
    const editor = new EditorRedirect(context.extension.id, redirects, () => notify('warning', noSignIn()));
    const loopback = loopbackRedirect({
      page: (isAccepted) => (isAccepted ? t('You can close this page and return to the editor.') : noSignIn()),
      external: (address) => externalAddress(vscode.Uri.parse(address)),
    });
    this.dependencies = {
      store: new SignInStore(
        createSignInStorage(context.secrets, vscode.Uri.joinPath(context.globalStorageUri, folder).fsPath),
      ),
      user: new SignInDialogs(dialogs),
      ways: () => [editor, loopback],
      redirects,
      clientMetadata: () => settings()['mcp.clientMetadata'],
      notStored: (server) =>
        notify(
          'warning',
          t(
            'The sign-in to “{0}” lasts until the window closes, because the editor has no keychain.',
            shownServerName(server),
          ),
        ),
    };
    this.registered = vscode.window.registerUriHandler(editor);
  }

  dispose(): void {
    this.registered.dispose();
  }

  create(server: SignInServer): ServerSignIn {
    return new ServerSignIn(server, this.dependencies);
  }

  /** Signs in with the user, and reports the result. Returns true if the server can be started again. */
  async signIn(signIn: ServerSignIn): Promise<boolean> {
    const name = shownServerName(signIn.server.name);
    try {
      if (!(await signIn.signIn())) return false;
    } catch (error) {
      notify('error', t('Could not sign in to “{0}”: {1}. Nothing was stored.', name, localize(messageOf(error))));
      return false;
    }
    this.note(signIn, 'signed-in');
    notify('info', t('Signed in to “{0}”.', name));
    return true;
  }

  async signOut(signIn: ServerSignIn): Promise<void> {
    const isRevoked = await signIn.signOut();
    const name = shownServerName(signIn.server.name);
    this.note(signIn, isRevoked ? 'signed-out' : 'forgotten');
    notify(
      'info',
      isRevoked
        ? t('Signed out of “{0}”.', name)
        : t('The sign-in to “{0}” was removed here. The server cannot end it; to do so, use its own page.', name),
    );
  }

  private note({ server: { name, url } }: ServerSignIn, status: string): void {
    this.record({ kind: 'effect', of: 'sign-in', status, server: name, host: new URL(url).host });
  }
}
