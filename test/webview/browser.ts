import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import type { HostMessage, ViewMessage } from '../../src/protocol/panel/panelMessages.ts';
import type { TranslationBundle } from '../../src/protocol/text/l10n.ts';
import { ensureChromium } from '../support/editor/chromium.ts';
import { built } from '../support/programs.ts';
import { type ThemeName, themes } from './themes.ts';

export const root = path.resolve(import.meta.dirname, '../..');

/** The policy that the host sends, with this page's own address in the place of `webview.cspSource`. */
const policy = (nonce: string, styleNonce: string, source: string): string =>
  [
    `default-src 'none'`,
    `script-src 'nonce-${nonce}'`,
    `style-src ${source} 'nonce-${styleNonce}'`,
    `font-src ${source}`,
    `img-src ${source} blob:`,
    `connect-src 'none'`,
    `frame-src 'none'`,
    `form-action 'none'`,
    `base-uri 'none'`,
    `require-trusted-types-for 'script'`,
    `trusted-types fast-html lit-html`,
  ].join('; ');

export interface TestBrowser {
  /** Requests that no page of ours makes. */
  strays: string[];
  /** An address whose requests are recorded in `strays`. */
  canary: string;
  /** `german`: its words, in the place of English ones. `zoom`: as many pixels of the screen for each of the page's. */
  open(entry: string, options?: Look & { german?: TranslationBundle | undefined; zoom?: number }): Promise<TestPage>;
  close(): Promise<void>;
}

interface Look {
  theme?: ThemeName;
  width?: number;
  height?: number;
}

export interface TestPage {
  page: Page;
  /** What stands in the page for this English. */
  words(english: string): string;
  /** What the policy of the page stopped, and errors that nobody caught. */
  violations(): Promise<string[]>;
  /** Says something as the host does and waits until it is drawn; without a message, until what was done is drawn. */
  send(...messages: HostMessage[]): Promise<void>;
  /** What the page has said, once what was done is drawn. */
  posted(): Promise<ViewMessage[]>;
  /** The page anew, with nothing remembered, looking as it was opened or so: much quicker than another page. */
  renew(look?: Look): Promise<void>;
  close(): Promise<void>;
}

/** The words that a German has before them. */
export const germanWords = (): TranslationBundle =>
  JSON.parse(readFileSync(path.join(root, 'src/l10n/bundle.l10n.de.json'), 'utf8'));

/** Of this process, whose exit ends it: its start costs more than all that most files of tests do with it. */
let launched: Promise<Browser> | undefined;

/** For a program that does not exit by itself as long as it is there. */
export async function endBrowser(): Promise<void> {
  await (await launched)?.close();
}

/** A Chromium and a server on loopback that hands out pages made of one bundled entry each. */
export async function openBrowser(): Promise<TestBrowser> {
  const strays: string[] = [];
  const bundles = new Map<string, { script: string; style: string }>();
  const highlight = built('highlight.js');
  const germans: TranslationBundle[] = [];
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const entry = url.searchParams.get('entry') ?? '';
    const send = (type: string, body: string, headers = {}) =>
      response.writeHead(200, { 'content-type': `${type}; charset=utf-8`, ...headers }).end(body);
    if (url.pathname === '/page') {
      const [nonce, styleNonce] = [randomBytes(16).toString('hex'), randomBytes(16).toString('hex')];
      const theme = (url.searchParams.get('theme') ?? 'dark') as ThemeName;
      const words = germans[Number(url.searchParams.get('german') ?? Number.NaN)];
      send('text/html', html(entry, { nonce, styleNonce, theme, words }), {
        'content-security-policy': policy(nonce, styleNonce, `http://${request.headers.host}`),
      });
    } else if (url.pathname === '/script.js') send('text/javascript', bundles.get(entry)!.script);
    else if (url.pathname === '/style.css') send('text/css', bundles.get(entry)!.style);
    else if (url.pathname === '/highlight.js') send('text/javascript', (await highlight).files.get('highlight.js')!);
    else if (url.pathname === '/favicon.ico') response.writeHead(404).end();
    else {
      strays.push(url.pathname);
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  launched ??= launch();
  const browser = await launched;
  const contexts: BrowserContext[] = [];
  return {
    strays,
    canary: `${address}/canary`,
    async open(entry, { theme = 'dark', german, width = 420, height = 800, zoom = 1 } = {}) {
      if (!bundles.has(entry)) bundles.set(entry, await bundle(entry));
      const context = await browser.newContext({ viewport: { width, height }, deviceScaleFactor: zoom });
      contexts.push(context);
      const page = await context.newPage();
      const errors: string[] = [];
      page.on('pageerror', (error) => errors.push(String(error)));
      const isReady = () => page.waitForFunction(() => (globalThis as unknown as Harness).ready);
      const words = german ? `&german=${germans.push(german) - 1}` : '';
      const load = async (shown: ThemeName) => {
        await page.goto(`${address}/page?entry=${encodeURIComponent(entry)}&theme=${shown}${words}`);
        await isReady();
      };
      await load(theme);
      return {
        page,
        words: (english) => german?.[english] ?? english,
        violations: async () => [
          ...errors,
          ...(await page.evaluate(() => (globalThis as unknown as Harness).violations)),
        ],
        send: (...messages) =>
          page.evaluate((all) => (globalThis as unknown as Harness).receive(all), messages.map(inHostWords)),
        posted: () => page.evaluate(() => (globalThis as unknown as Harness).said()) as Promise<ViewMessage[]>,
        async renew(look = {}) {
          errors.length = 0;
          await page.setViewportSize({ width: look.width ?? width, height: look.height ?? height });
          await page.evaluate(() => (globalThis as unknown as Harness).sessionStorage.clear());
          await load(look.theme ?? theme);
        },
        close: () => context.close(),
      };
    },
    async close() {
      for (const context of contexts) await context.close();
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
    },
  };
}

/** As the host's side of a page sends it. */
export const inHostWords = (message: unknown): string => JSON.stringify(message);

interface Harness {
  ready: boolean;
  said(): Promise<unknown[]>;
  violations: string[];
  sessionStorage: { clear(): void };
  receive(messages: string[]): Promise<void>;
}

/** A stand-in for what VS Code puts into every webview: the api, the theme's variables, and messages from the host. */
function html(
  entry: string,
  {
    nonce,
    styleNonce,
    theme,
    words,
  }: { nonce: string; styleNonce: string; theme: ThemeName; words?: TranslationBundle },
): string {
  const { bodyClass, variables } = themes[theme];
  return `<!doctype html><html lang="${words ? 'de' : 'en'}"><head><meta charset="utf-8"><title>Towpath</title>
<meta property="csp-nonce" content="${styleNonce}">
<link rel="stylesheet" href="/style.css?entry=${encodeURIComponent(entry)}">
<script nonce="${nonce}">
  const posted = [];
  window.violations = [];
  document.addEventListener('securitypolicyviolation', (event) =>
    window.violations.push(event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample));
  window.acquireVsCodeApi = () => ({
    postMessage: (message) => posted.push(message),
    getState: () => JSON.parse(sessionStorage.getItem('state') ?? 'null') ?? undefined,
    setState: (state) => sessionStorage.setItem('state', JSON.stringify(state)),
  });
  window.receive = async (messages) => {
    for (const message of messages) window.postMessage(message, '*');
    for (let frame = 0; frame < 3; frame++) await new Promise((drawn) => requestAnimationFrame(drawn));
  };
  window.said = async () => {
    await window.receive([]);
    return posted;
  };
  for (const [name, value] of Object.entries(${JSON.stringify(variables)})) {
    document.documentElement.style.setProperty('--vscode-' + name, value);
  }
  document.documentElement.style.backgroundColor = 'var(--vscode-sideBar-background)';
</script></head><body class="${bodyClass}">
<script type="application/json" id="words">${words ? JSON.stringify(words).replaceAll('<', '\\u003c') : ''}</script>
<script nonce="${nonce}" type="module" src="/script.js?entry=${encodeURIComponent(entry)}"></script>
<script nonce="${nonce}" type="module">window.ready = true;</script>
</body></html>`;
}

/** As the panel is built, with another beginning. */
async function bundle(entry: string): Promise<{ script: string; style: string }> {
  const { files } = await built('panel.js', path.join(root, entry));
  return { script: files.get('panel.js')!, style: files.get('panel.css') ?? '' };
}

function launch(): Promise<Browser> {
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-dev-shm-usage'];
  return chromium.launch({
    executablePath: ensureChromium(),
    headless: true,
    args: [...args, '--disable-background-networking'],
  });
}
