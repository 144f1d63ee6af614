import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';

/** What happens in the page, for whoever talks with it. */
export interface PageListener {
  /** A new page; the one before is gone, with all that it was told. */
  opened(): void;
  /** Unchecked: whatever a page can send. */
  said(message: unknown): void;
  /** It came into view, or went out of it. */
  turned(): void;
}

/** More than a person does while the rest of Towpath is being loaded. */
const mostEarly = 200;

/** The page of the chat panel: there at once, before anybody is who could talk with it. What it says meanwhile is kept, in order. */
export class ChatPage implements vscode.WebviewViewProvider {
  private view?: vscode.WebviewView;
  private listener?: PageListener;
  private shownBadge?: vscode.ViewBadge;
  private early: ((listener: PageListener) => void)[] = [];

  constructor(
    private readonly extensionUri: vscode.Uri,
    private readonly shown: () => void,
  ) {}

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    if (this.shownBadge) view.badge = this.shownBadge;
    this.tell((listener) => listener.opened());
    const { webview } = view;
    const dist = vscode.Uri.joinPath(this.extensionUri, 'dist');
    webview.options = { enableScripts: true, localResourceRoots: [dist] };
    view.onDidChangeVisibility(() => this.tell((listener) => listener.turned()));
    webview.onDidReceiveMessage((message: unknown) => this.tell((listener) => listener.said(message)));
    view.onDidDispose(() => {
      if (this.view === view) this.view = undefined;
    });
    webview.html = page(webview, dist);
    this.shown();
  }

  /** From now on; what happened before is told first. */
  listen(listener: PageListener): void {
    this.listener = listener;
    for (const tell of this.early.splice(0)) tell(listener);
  }

  /** There is a page, and it is on the screen. */
  get visible(): boolean {
    return this.view?.visible === true;
  }

  /** How many runs wait for the person; undefined: none. Also of a page that comes later. */
  set badge(badge: vscode.ViewBadge | undefined) {
    this.shownBadge = badge;
    if (this.view) this.view.badge = badge ?? noBadge;
  }

  post(message: unknown): void {
    void this.view?.webview.postMessage(message);
  }

  private tell(tell: (listener: PageListener) => void): void {
    if (this.listener) tell(this.listener);
    else if (this.early.length < mostEarly) this.early.push(tell);
  }
}

/** The editor goes on to show the one before when it is given none; of 0 it shows nothing. */
const noBadge: vscode.ViewBadge = { value: 0, tooltip: '' };

function page(webview: vscode.Webview, dist: vscode.Uri): string {
  const nonce = newNonce();
  const styleNonce = newNonce();
  const script = webview.asWebviewUri(vscode.Uri.joinPath(dist, 'panel.js'));
  const style = webview.asWebviewUri(vscode.Uri.joinPath(dist, 'panel.css'));
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    // The toolkit tries out `:focus-visible` with a style element that carries the nonce of the meta tag below.
    `style-src ${webview.cspSource} 'nonce-${styleNonce}'`,
    `font-src ${webview.cspSource}`,
    `img-src ${webview.cspSource} blob:`,
    "connect-src 'none'",
    "frame-src 'none'",
    "form-action 'none'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types fast-html lit-html',
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta property="csp-nonce" content="${styleNonce}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${style}">
<title>Towpath</title>
</head>
<body data-phase="">
<script type="module" nonce="${nonce}" src="${script}"></script>
</body>
</html>`;
}

const newNonce = (): string => randomBytes(16).toString('base64');
