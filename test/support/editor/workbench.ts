import type { BrowserContext, Page } from 'playwright-core';
import { close, defaultViewport, kill, rest, takePlace } from './place.ts';
import type { EditorServer, ServerOptions } from './server.ts';

export interface WorkbenchOptions extends ServerOptions {
  /** The workspace, an absolute path. None: an empty window. */
  folder?: string;
  /** Extensions under development, absolute paths. */
  developmentPaths?: string[];
  /** What VS Code calls in the extension host, as in `@vscode/test-electron`. With it every dialog is refused. */
  testsPath?: string;
  viewport?: { width: number; height: number };
  /** The system that the browser says it is on, as a user agent has it in parentheses. Default: this one. */
  agent?: string;
  /** A colour theme by its setting's name, e.g. `Default Light Modern`. */
  theme?: string;
  /** Called before the page opens, e.g. to add bindings. */
  prepare?: (page: Page, server: EditorServer) => Promise<void>;
}

export interface Workbench {
  server: EditorServer;
  context: BrowserContext;
  page: Page;
  /** Another window of the same editor, with what is open in this one; it goes with it. */
  another(developmentPaths: string[]): Promise<Page>;
  stop(): Promise<void>;
  /** Ends the server like a power cut. */
  kill(): Promise<void>;
}

/** Opens VS Code's workbench in a headless Chromium, with a server of its own, or where another window was before. */
export async function openWorkbench(options: WorkbenchOptions = {}): Promise<Workbench> {
  const theme = options.theme ? { 'workbench.colorTheme': options.theme } : {};
  const all = { ...options, settings: { ...theme, ...options.settings } };
  const place = await takePlace(all);
  const { server } = place;
  const { context } = place.browser;
  const said = server.log().length;
  try {
    const newPage = async (extensions: Pick<WorkbenchOptions, 'developmentPaths' | 'testsPath'>) => {
      const page = await context.newPage();
      await page.setViewportSize(options.viewport ?? defaultViewport);
      page.on('dialog', (dialog) => dialog.accept().catch(() => {})); // "Leave site?" must not stop a reload
      await page.addInitScript('globalThis.__name = (named) => named'); // what tsx leaves in functions sent to the page
      if (options.agent) await page.addInitScript(agentScript(options.agent));
      if (extensions.developmentPaths || extensions.testsPath)
        await page.addInitScript(developmentScript(server.port, extensions));
      return page;
    };
    const page = await newPage(options);
    await options.prepare?.(page, server);
    await page.goto(workbenchAddress(server.port, options.folder));
    return {
      server: { ...server, log: () => server.log().slice(said) },
      context,
      page,
      async another(developmentPaths) {
        const other = await newPage({ developmentPaths });
        await other.goto(workbenchAddress(server.port, options.folder));
        return other;
      },
      stop: () => rest(place, all),
      kill: () => kill(place),
    };
  } catch (error) {
    await close(place);
    throw error;
  }
}

/** The address of a running server's workbench with `folder`, or a `.code-workspace` file with several, open. */
export function workbenchAddress(port: number, folder?: string): string {
  const kind = folder?.endsWith('.code-workspace') ? 'workspace' : 'folder';
  const where = folder ? `${kind}=${encodeURIComponent(folder).replaceAll('%2F', '/')}` : 'ew=true';
  return `http://127.0.0.1:${port}/?${where}`;
}

/** The editor has the keys of the system that the browser names. */
function agentScript(system: string): string {
  return `{
    const agent = navigator.userAgent.replace(/\\([^)]*\\)/, ${JSON.stringify(`(${system})`)});
    Object.defineProperty(navigator, 'userAgent', { get: () => agent });
  }`;
}

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
