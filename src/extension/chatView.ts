import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import type { RunEvent } from '../protocol/events.ts';
import { type HostMessage, type ViewMessage, viewMessageSchema } from '../protocol/view.ts';
import { Delivery } from './delivery.ts';

/** Messages the panel may send in a second; a person cannot click faster. */
const messageLimit = 200;

/** The chat panel's webview: what it says arrives checked, what it is told goes out in batches. It decides nothing. */
export class ChatView implements vscode.WebviewViewProvider {
  private view?: vscode.WebviewView;
  private ready = false;
  private readonly events = new Delivery((events) => this.tell({ type: 'events', events }));
  private budget = messageLimit;
  private budgetFrom = 0;

  constructor(
    private readonly extensionUri: vscode.Uri,
    private readonly receive: (message: ViewMessage) => void,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    this.ready = false;
    const { webview } = view;
    const dist = vscode.Uri.joinPath(this.extensionUri, 'dist');
    webview.options = { enableScripts: true, localResourceRoots: [dist] };
    webview.onDidReceiveMessage((message: unknown) => this.arrived(message));
    view.onDidDispose(() => {
      this.view = undefined;
      this.ready = false;
    });
    webview.html = page(webview, dist);
  }

  post(message: HostMessage): void {
    this.events.flush(); // what happened before is told before
    this.tell(message);
  }

  /** Events reach the panel in order, at most 60 deliveries a second. */
  event(event: RunEvent): void {
    if (this.ready) this.events.add(event); // else the snapshot that the panel asks for when it is ready holds it
  }

  private tell(message: HostMessage): void {
    if (this.ready) void this.view?.webview.postMessage(message);
  }

  private arrived(message: unknown): void {
    const now = performance.now();
    if (now - this.budgetFrom > 1000) {
      this.budgetFrom = now;
      this.budget = messageLimit;
    }
    if (this.budget-- <= 0) return;
    const parsed = viewMessageSchema.safeParse(message);
    if (!parsed.success) {
      this.log.warn(`The panel sent something unknown: ${parsed.error.issues[0]?.message}`);
      return;
    }
    if (parsed.data.type === 'ready') this.ready = true;
    this.receive(parsed.data);
  }
}

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
