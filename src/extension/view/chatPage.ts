import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { language } from '../../protocol/text/l10n.ts';

/** A page of the chat: in its view, in whichever bar that is, or in a tab of the editors. */
export interface ViewLocation {
  /** It is on the screen. */
  readonly visible: boolean;
  post(message: unknown): void;
  /** Brings it up, and the keys go there. */
  reveal(): unknown;
}

/** What happens in the pages, for whoever talks with them. */
export interface PageListener {
  /** A new page; what the one before it in this place was told is gone with that. */
  opened(place: ViewLocation): void;
  closed(place: ViewLocation): void;
  /** Unchecked: whatever a page can send. */
  said(message: unknown, place: ViewLocation): void;
  /** One came into view, or went out of it. */
  turned(): void;
}

/** More than a person does while the rest of Towpath is being loaded. */
const mostEarly = 200;

/** The tab's name for the editor, which brings it back after a reload. */
export const tabType = 'towpath.chatTab';

/**
 * The pages of the chat: there at once, before anybody is who could talk with them. What they say meanwhile is kept, in order. The tab shows the
 * same run as the view.
 */
export class ChatPage implements vscode.WebviewViewProvider, vscode.WebviewPanelSerializer {
  private view?: vscode.WebviewView;
  private tab?: vscode.WebviewPanel;
  /** Where there is a page; the one that the person used last comes first. */
  private open: ViewLocation[] = [];
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
    const place = this.begin(view, () => vscode.commands.executeCommand('towpath.chat.focus'));
    view.onDidChangeVisibility(() => this.tell((listener) => listener.turned()));
    view.onDidDispose(() => {
      if (this.view === view) this.view = undefined;
      this.end(place);
    });
  }

  /** The chat in a tab, which is there once. */
  showTab(): void {
    if (this.tab) this.tab.reveal();
    else this.use(this.inTab(vscode.window.createWebviewPanel(tabType, 'Towpath', vscode.ViewColumn.Active)));
  }

  async deserializeWebviewPanel(tab: vscode.WebviewPanel): Promise<void> {
    if (this.tab) tab.dispose();
    else this.inTab(tab);
  }

  private inTab(tab: vscode.WebviewPanel): ViewLocation {
    this.tab = tab;
    tab.iconPath = vscode.Uri.joinPath(this.extensionUri, 'webview', 'icon.png');
    const place = this.begin(tab, () => tab.reveal());
    tab.onDidChangeViewState(() => this.tell((listener) => listener.turned()));
    tab.onDidDispose(() => {
      this.tab = undefined;
      this.end(place);
    });
    return place;
  }

  /** From now on; what happened before is told first. */
  listen(listener: PageListener): void {
    this.listener = listener;
    for (const tell of this.early.splice(0)) tell(listener);
  }

  /** Where there is a page; the one that the person used last comes first. */
  get places(): readonly ViewLocation[] {
    return this.open;
  }

  /** The person does something there. */
  use(place: ViewLocation): void {
    if (this.open.includes(place)) this.open = [place, ...this.open.filter((one) => one !== place)];
  }

  /** Brings the chat up, where it is on the screen before where it is not; where it is nowhere, in its view. */
  async reveal(): Promise<void> {
    const place = this.open.find(({ visible }) => visible) ?? this.open[0];
    await (place ? place.reveal() : vscode.commands.executeCommand('towpath.chat.focus'));
  }

  /** How many runs wait for the person; undefined: none. Also of a view that comes later. */
  set badge(badge: vscode.ViewBadge | undefined) {
    this.shownBadge = badge;
    if (this.view) this.view.badge = badge ?? noBadge;
  }

  private begin(holder: Pick<vscode.WebviewView, 'webview' | 'visible'>, reveal: () => unknown): ViewLocation {
    const { webview } = holder;
    const place: ViewLocation = {
      get visible() {
        return holder.visible;
      },
      // As text: the pages between here and there hand it on, and a long run would be taken apart and put together in each.
      post: (message) => void webview.postMessage(JSON.stringify(message)),
      reveal,
    };
    this.open = [...this.open, place];
    this.tell((listener) => listener.opened(place));
    const dist = vscode.Uri.joinPath(this.extensionUri, 'dist');
    webview.options = { enableScripts: true, localResourceRoots: [dist] };
    webview.onDidReceiveMessage((message: unknown) => this.tell((listener) => listener.said(message, place)));
    webview.html = page(webview, dist);
    this.shown();
    return place;
  }

  private end(place: ViewLocation): void {
    this.open = this.open.filter((one) => one !== place);
    this.tell((listener) => listener.closed(place));
    this.tell((listener) => listener.turned());
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
<html lang="${language()}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta property="csp-nonce" content="${styleNonce}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${style}">
<title>Towpath</title>
</head>
<body data-phase="">
<script type="application/json" id="words">${words()}</script>
<script type="module" nonce="${nonce}" src="${script}"></script>
</body>
</html>`;
}

/** All of them: what the host has to say in the panel comes from anywhere in it. As data, which nothing runs, and in which no tag ends. */
function words(): string {
  const { bundle } = vscode.l10n;
  return bundle ? JSON.stringify(bundle).replaceAll('<', '\\u003c') : '';
}

const newNonce = (): string => randomBytes(16).toString('base64');
