import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { type BrowserContext, chromium } from 'playwright-core';
import { eventually, patienceMs } from '../eventually.ts';
import { ensureChromium } from './chromium.ts';
import { isAlive } from './ending.ts';
import { temporaryFolder } from './sample.ts';
import { type EditorServer, lastPort, type ServerOptions, startServer, writeSettings } from './server.ts';

/** A server and a browser. A window is opened in it, and, once that is gone with all it kept, another one. */
export interface Place {
  server: EditorServer;
  browser: Browser;
}

interface Browser {
  context: BrowserContext;
  /** Of its servers, one after the other: what it has read of the workbench it has read for good, as long as the address is the same. */
  port: number;
  /** What it kept goes with it, where nobody asks for it again. */
  temporary?: string;
}

/** Where the next window may open: its browser has read the workbench once already, which is most of what a window costs. */
interface Rested {
  browser: Browser;
  /** One as every other, without anything that was kept. */
  server?: EditorServer;
  /** The settings and storage for whose windows the browser still keeps something. */
  keptFor?: string;
}

export const defaultViewport = { width: 1280, height: 800 };

const rested: Rested[] = [];
let keeps = false;

/** From now on a place whose window is stopped is kept for the next; gives what ends those that are kept. */
export function keepPlaces(): () => Promise<void> {
  keeps = true;
  return async () => {
    keeps = false;
    for (const { browser, server } of rested.splice(0)) {
      await closeBrowser(browser);
      await server?.stop();
    }
  };
}

/** A place for a window with these options: one that was kept, or a new one. */
export async function takePlace(options: ServerOptions): Promise<Place> {
  const port = options.userDataDir ? lastPort(options.userDataDir) : 0;
  const found = rested.findIndex(({ browser }) => port === 0 || browser.port === port);
  if (found < 0) return launch(options);
  const { browser, server, keptFor } = rested.splice(found, 1)[0]!;
  try {
    if (keptFor !== options.userDataDir) await forget(browser);
    if (server && isPlain(options)) {
      writeSettings(server.userDataDir, options);
      return { browser, server };
    }
    await server?.stop();
    return { browser, server: await startServer({ ...options, port: browser.port }) };
  } catch {
    await closeBrowser(browser);
    await server?.stop();
    return launch(options); // somebody took the port meanwhile
  }
}

/** Starts VS Code's server and a headless Chromium. */
async function launch(options: ServerOptions): Promise<Place> {
  const executablePath = ensureChromium();
  const server = await startServer(options);
  const temporary = keeps ? temporaryFolder() : undefined;
  try {
    const context = await chromium.launchPersistentContext(temporary ?? path.join(server.userDataDir, 'browser'), {
      executablePath,
      headless: !process.env.HEADED,
      // Who opened the workbench stops it; Playwright would close the browser under its feet.
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
      args: browserArguments,
      viewport: defaultViewport,
      reducedMotion: 'reduce',
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    context.setDefaultTimeout(patienceMs);
    return { server, browser: { context, port: server.port, ...(temporary && { temporary }) } };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/**
 * Its windows are done. A place as every other forgets what they kept and waits for the next; of another one the browser does, with
 * what it keeps, until something else opens in it.
 */
export async function rest(place: Place, options: ServerOptions): Promise<void> {
  const { server, browser } = place;
  if (!keeps) return close(place);
  try {
    const hosts = extensionHosts(server);
    await closeWindows(browser);
    await ended(hosts);
    if (isPlain(options)) {
      await forget(browser);
      for (const name of readdirSync(server.userDataDir))
        rmSync(path.join(server.userDataDir, name), { recursive: true, force: true });
      rested.push({ browser, server });
    } else {
      await server.stop();
      rested.push({ browser, keptFor: server.userDataDir });
    }
  } catch {
    return close(place); // it may be the browser that has crashed
  }
}

/** The same, but the server ends like in a power cut. */
export async function kill({ server, browser }: Place): Promise<void> {
  await server.kill();
  if (!keeps) return closeBrowser(browser);
  await closeWindows(browser);
  rested.push({ browser, keptFor: server.userDataDir });
}

export async function close({ server, browser }: Place): Promise<void> {
  await closeBrowser(browser);
  await server.stop();
}

async function closeBrowser({ context, temporary }: Browser): Promise<void> {
  await context.close().catch(() => {}); // gone already
  if (temporary) rmSync(temporary, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

const isPlain = ({
  userDataDir,
  extensionsDir,
  env,
  trust,
  connectionToken,
  connectionsTo,
  withoutUserNamespaces,
  language,
  builtIn,
}: ServerOptions) =>
  !userDataDir &&
  !connectionsTo &&
  !withoutUserNamespaces &&
  !language &&
  !extensionsDir &&
  !env &&
  !connectionToken &&
  (trust ?? 'granted') === 'granted' &&
  builtIn === 'few';

/** All but an empty one, without which the browser would end. */
async function closeWindows({ context }: Browser): Promise<void> {
  const blank = await context.newPage();
  const windows = context.pages().filter((one) => one !== blank);
  for (const one of windows) await one.goto('about:blank'); // its last words to the server are that it does not come back
  for (const one of windows) await one.close();
}

/** What windows have kept in the browser. */
async function forget({ context, port }: Browser): Promise<void> {
  const session = await context.newCDPSession(context.pages()[0]!);
  const storageTypes = 'cookies,file_systems,indexeddb,local_storage,service_workers,cache_storage';
  await session.send('Storage.clearDataForOrigin', { origin: `http://127.0.0.1:${port}`, storageTypes });
  await session.detach();
}

/** A window that closes says so to its host last of all, and at times takes these words with it: that host would wait for it for hours. */
async function ended(hosts: number[]): Promise<void> {
  const areGone = eventually('the extension host has ended', () => !hosts.some(isAlive), 5000);
  await areGone.catch(() => {
    for (const pid of hosts.filter(isAlive)) process.kill(pid, 'SIGKILL');
  });
}

/** The process ids of the server's extension hosts. */
function extensionHosts({ process: { pid } }: EditorServer): number[] {
  const children = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(pid)], { encoding: 'utf8' }).split('\n');
  return children.filter((child) => child.includes('extensionHost')).map((child) => Number.parseInt(child, 10));
}

const disabledFeatures = [
  'BackgroundResourceFetch', // with it the workbench is compiled anew for every window
  // The last such list counts, so what Playwright's has to be here, too, where it matters to a window.
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades', 'PaintHolding'],
  ...['HttpsFirstBalancedModeAutoEnable', 'LensOverlay', 'MediaRouter', 'ThirdPartyStoragePartitioning'],
  ...['NetworkTimeServiceQuerying', 'OptimizationHints', 'PreconnectToSearch', 'AimEnabled', 'Translate'],
];

const browserArguments = [
  '--no-sandbox', // Chromium refuses to run as root with it, and it only opens our own server
  '--disable-gpu',
  '--disable-quic',
  '--js-flags=--no-opt --no-maglev', // each script runs for seconds: to make it fast costs more than it gains
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
  `--disable-features=${disabledFeatures.join(',')}`,
];
