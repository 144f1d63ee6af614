import path from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { ensureChromium } from './chromium.ts';
import { type EditorServer, type ServerOptions, startServer } from './server.ts';

export interface WorkbenchOptions extends ServerOptions {
  /** The workspace, an absolute path. None: an empty window. */
  folder?: string;
  /** Extensions under development, absolute paths. */
  developmentPaths?: string[];
  /** What VS Code calls in the extension host, as in `@vscode/test-electron`. With it every dialog is refused. */
  testsPath?: string;
  viewport?: { width: number; height: number };
  /** A colour theme by its setting's name, e.g. `Default Light Modern`. */
  theme?: string;
  /** Called before the page opens, e.g. to add bindings. */
  prepare?: (page: Page, server: EditorServer) => Promise<void>;
}

export interface Workbench {
  server: EditorServer;
  context: BrowserContext;
  page: Page;
  stop(): Promise<void>;
  /** Ends the server like a power cut, then the browser. */
  kill(): Promise<void>;
}

/** Starts VS Code's server and opens its workbench in a headless Chromium. */
export async function openWorkbench(options: WorkbenchOptions = {}): Promise<Workbench> {
  const executablePath = ensureChromium();
  const theme = options.theme ? { 'workbench.colorTheme': options.theme } : {};
  const server = await startServer({ ...options, settings: { ...theme, ...options.settings } });
  let context: BrowserContext | undefined;
  const closeBrowser = async () => {
    await context?.close().catch(() => {}); // gone already
  };
  const stop = async () => {
    await closeBrowser();
    await server.stop();
  };
  try {
    context = await chromium.launchPersistentContext(path.join(server.userDataDir, 'browser'), {
      executablePath,
      headless: !process.env.HEADED,
      // Who opened the workbench stops it; Playwright would close the browser under its feet.
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
      args: browserArguments,
      viewport: options.viewport ?? { width: 1280, height: 800 },
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const page = context.pages()[0] ?? (await context.newPage());
    page.on('dialog', (dialog) => dialog.accept().catch(() => {})); // "Leave site?" must not stop a reload
    await page.addInitScript('globalThis.__name = (named) => named'); // what tsx leaves in functions sent to the page
    if (options.developmentPaths || options.testsPath) {
      await page.addInitScript(developmentScript(server.port, options));
    }
    await options.prepare?.(page, server);
    await page.goto(workbenchAddress(server.port, options.folder));
    return {
      server,
      context,
      page,
      stop,
      kill: async () => {
        await server.kill();
        await closeBrowser();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The address of a running server's workbench with `folder` open. */
export function workbenchAddress(port: number, folder?: string): string {
  const where = folder ? `folder=${encodeURIComponent(folder).replaceAll('%2F', '/')}` : 'ew=true';
  return `http://127.0.0.1:${port}/?${where}`;
}

const browserArguments = [
  '--no-sandbox', // Chromium refuses to run as root with it, and it only opens our own server
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
];

/**
 * A page script that adds `developmentOptions` to the settings the workbench reads from its page. The page itself cannot be
 * rewritten on its way: Chromium takes a rewritten page for a public address and then blocks its socket to 127.0.0.1.
 */
function developmentScript(port: number, { developmentPaths = [], testsPath }: WorkbenchOptions): string {
  const remote = (file: string) => ({ $mid: 1, scheme: 'vscode-remote', authority: `127.0.0.1:${port}`, path: file });
  const added = JSON.stringify({
    extensions: developmentPaths.map(remote),
    extensionTestsPath: testsPath && remote(testsPath),
  });
  return `if (window === window.top) {
    const get = Element.prototype.getAttribute;
    Element.prototype.getAttribute = function (name) {
      const value = get.call(this, name);
      if (name !== 'data-settings' || this.id !== 'vscode-workbench-web-configuration' || !value) return value;
      Element.prototype.getAttribute = get;
      const settings = JSON.parse(value);
      settings.developmentOptions = { ...settings.developmentOptions, ...${added} };
      return JSON.stringify(settings);
    };
  }`;
}
