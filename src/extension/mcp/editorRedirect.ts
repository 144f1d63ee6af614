import * as vscode from 'vscode';
import type { OpenRedirect, PendingRedirects, RedirectWay } from '../../tools/mcp/oauth/pendingRedirects.ts';

const path = '/mcp-sign-in';

/**
 * Way back from the browser by an address of the editor, which opens this window; also for remote windows and editors in a browser. An answer
 * that no sign-in of this window waits for is refused.
 */
export class EditorRedirect implements RedirectWay, vscode.UriHandler {
  constructor(
    private readonly extensionId: string,
    private readonly redirects: PendingRedirects,
    private readonly refused: () => void,
  ) {}

  async open(): Promise<OpenRedirect> {
    const address = vscode.Uri.from({ scheme: vscode.env.uriScheme, authority: this.extensionId, path });
    return { uri: await externalAddress(address), close: () => {} };
  }

  handleUri(uri: vscode.Uri): void {
    if (uri.path !== path) return;
    const query = uri.query.replaceAll('+', '%2B'); // the editor has decoded the values
    if (!this.redirects.deliver(new URLSearchParams(query))) this.refused();
  }
}

/** Returns the address by which the user's browser reaches this window or this machine. */
export const externalAddress = async (address: vscode.Uri): Promise<string> =>
  (await vscode.env.asExternalUri(address)).toString(true);
