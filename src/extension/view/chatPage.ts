import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { currentLocale } from '../../protocol/text/l10n.ts';

export interface ChatPageContainer {
  readonly visible: boolean;
  post(message: unknown): void;
  reveal(): unknown;
}

export interface PageListener {
  /** A new page replaces an earlier page of the location and has no state. */
  opened(location: ChatPageContainer): void;
  closed(location: ChatPageContainer): void;
  received(message: unknown, location: ChatPageContainer): void;
  turned(): void;
}

const maxEarly = 200;

export const chatTabType = 'towpath.chatTab';

/**
 * Pages of the chat, available before the rest of Towpath is loaded. Early messages are stored in order. The tab displays the same run as
 * the view.
 */
export class ChatPage implements vscode.WebviewViewProvider, vscode.WebviewPanelSerializer {
  private view?: vscode.WebviewView;
  private tab?: vscode.WebviewPanel;
  private open: ChatPageContainer[] = [];
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
    const location = this.begin(view, () => vscode.commands.executeCommand('towpath.chat.focus'));
    view.onDidChangeVisibility(() => this.callListener((listener) => listener.turned()));
    view.onDidDispose(() => {
      if (this.view === view) this.view = undefined;
      this.end(location);
    });
  }

  showTab(): void {
    if (this.tab) this.tab.reveal();
    else this.use(this.inTab(vscode.window.createWebviewPanel(chatTabType, 'Towpath', vscode.ViewColumn.Active)));
  }

  async deserializeWebviewPanel(tab: vscode.WebviewPanel): Promise<void> {
    if (this.tab) tab.dispose();
    else this.inTab(tab);
  }

  private inTab(tab: vscode.WebviewPanel): ChatPageContainer {
    this.tab = tab;
    tab.iconPath = vscode.Uri.joinPath(this.extensionUri, 'webview', 'icon.png');
    const location = this.begin(tab, () => tab.reveal());
    tab.onDidChangeViewState(() => this.callListener((listener) => listener.turned()));
    tab.onDidDispose(() => {
      this.tab = undefined;
      this.end(location);
    });
    return location;
  }

  listen(listener: PageListener): void {
    this.listener = listener;
    for (const callListener of this.early.splice(0)) callListener(listener);
  }

  get locations(): readonly ChatPageContainer[] {
    return this.open;
  }

  use(location: ChatPageContainer): void {
    if (this.open.includes(location)) this.open = [location, ...this.open.filter((one) => one !== location)];
  }

  async reveal(): Promise<void> {
    const location = this.open.find(({ visible }) => visible) ?? this.open[0];
    await (location ? location.reveal() : vscode.commands.executeCommand('towpath.chat.focus'));
  }

  set badge(badge: vscode.ViewBadge | undefined) {
    this.shownBadge = badge;
    if (this.view) this.view.badge = badge ?? noBadge;
  }

  private begin(holder: Pick<vscode.WebviewView, 'webview' | 'visible'>, reveal: () => unknown): ChatPageContainer {
    const { webview } = holder;
    const location: ChatPageContainer = {
      get visible() {
        return holder.visible;
      },
      // Sent as text: a structured message would be cloned by each page in between.
      post: (message) => void webview.postMessage(JSON.stringify(message)),
      reveal,
    };
    this.open = [...this.open, location];
    this.callListener((listener) => listener.opened(location));
    const dist = vscode.Uri.joinPath(this.extensionUri, 'dist');
    webview.options = { enableScripts: true, localResourceRoots: [dist] };
    webview.onDidReceiveMessage((message: unknown) =>
      this.callListener((listener) => listener.received(message, location)),
    );
    webview.html = page(webview, dist);
    this.shown();
    return location;
  }

  private end(location: ChatPageContainer): void {
    this.open = this.open.filter((one) => one !== location);
    this.callListener((listener) => listener.closed(location));
    this.callListener((listener) => listener.turned());
  }

  private callListener(callListener: (listener: PageListener) => void): void {
    if (this.listener) callListener(this.listener);
    else if (this.early.length < maxEarly) this.early.push(callListener);
  }
}

/** The editor keeps the previous badge for undefined; a badge of 0 is hidden. */
const noBadge: vscode.ViewBadge = { value: 0, tooltip: '' };

function page(webview: vscode.Webview, dist: vscode.Uri): string {
  const nonce = newNonce();
  const styleNonce = newNonce();
  const script = webview.asWebviewUri(vscode.Uri.joinPath(dist, 'panel.js'));
  const style = webview.asWebviewUri(vscode.Uri.joinPath(dist, 'panel.css'));
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    // The toolkit tests `:focus-visible` with a style element that has the nonce of the meta tag below.
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
<html lang="${currentLocale()}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta property="csp-nonce" content="${styleNonce}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${style}">
<title>Towpath</title>
</head>
<body data-phase="">
<script type="application/json" id="words">${pageTexts()}</script>
<script type="module" nonce="${nonce}" src="${script}"></script>
</body>
</html>`;
}

/** All translations, because the panel displays messages of all parts. Inert data that cannot close its tag. */
function pageTexts(): string {
  const { bundle } = vscode.l10n;
  return bundle ? JSON.stringify(bundle).replaceAll('<', '\\u003c') : '';
}

const newNonce = (): string => randomBytes(16).toString('base64');
