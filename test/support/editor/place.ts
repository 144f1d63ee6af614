import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { type BrowserContext, chromium } from 'playwright-core';
import { eventually, patienceMs } from '../eventually.ts';
import { ensureChromium } from './chromium.ts';
import { isAlive } from './ending.ts';
import { type EditorServer, type ServerOptions, startServer, writeSettings } from './server.ts';

/** A server and a browser. A window is opened in it, and, once that is gone with all it kept, another one. */
export interface Place {
  server: EditorServer;
  context: BrowserContext;
}

export const defaultViewport = { width: 1280, height: 800 };

/** Where the next window may open: the browser has read the workbench once already, which is most of what a window costs. */
const rested: Place[] = [];
let keeps = false;

/** From now on a place whose window is stopped is kept for the next; gives what ends those that are kept. */
export function keepPlaces(): () => Promise<void> {
  keeps = true;
  return async () => {
    keeps = false;
    await Promise.all(rested.splice(0).map(close));
  };
}

/** Starts VS Code's server and a headless Chromium. */
export async function launch(options: ServerOptions): Promise<Place> {
  const executablePath = ensureChromium();
  const server = await startServer(options);
  try {
    const context = await chromium.launchPersistentContext(browserFolder(server), {
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
    return { server, context };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** One that was kept, with these settings; none for a window that wants more of its server than every other. */
export function takeRested(options: ServerOptions): Place | undefined {
  const place = isPlain(options) ? rested.pop() : undefined;
  if (place) writeSettings(place.server.userDataDir, options);
  return place;
}

/** Its windows are done: what they kept is removed, and the place waits for the next one, or is closed. */
export async function rest(place: Place, options: ServerOptions): Promise<void> {
  if (!keeps || !isPlain(options) || !(await isLeft(place).catch(() => false))) return close(place);
  rested.push(place);
}

export async function close(place: Place): Promise<void> {
  await closeBrowser(place);
  await place.server.stop();
}

export async function closeBrowser({ context }: Place): Promise<void> {
  await context.close().catch(() => {}); // gone already
}

const isPlain = ({ userDataDir, extensionsDir, env, trust, connectionToken, connectionsTo, builtIn }: ServerOptions) =>
  !userDataDir &&
  !connectionsTo &&
  !extensionsDir &&
  !env &&
  !connectionToken &&
  (trust ?? 'granted') === 'granted' &&
  builtIn === 'few';

/** Closes the windows, waits for their extension hosts, and removes all that these have kept; false when something of it stays. */
async function isLeft({ server, context }: Place): Promise<boolean> {
  const blank = await context.newPage();
  const hosts = extensionHosts(server);
  const windows = context.pages().filter((one) => one !== blank);
  for (const one of windows) await one.goto('about:blank'); // its last words to the server are that it does not come back
  await eventually('the extension host has ended', () => !hosts.some(isAlive));
  for (const one of windows) await one.close();
  const storageTypes = 'cookies,file_systems,indexeddb,local_storage,service_workers,cache_storage';
  const session = await context.newCDPSession(blank);
  await session.send('Storage.clearDataForOrigin', { origin: `http://127.0.0.1:${server.port}`, storageTypes });
  await session.detach();
  for (const name of readdirSync(server.userDataDir))
    if (path.join(server.userDataDir, name) !== browserFolder(server))
      rmSync(path.join(server.userDataDir, name), { recursive: true, force: true });
  return true;
}

/** The process ids of the server's extension hosts. */
function extensionHosts({ process: { pid } }: EditorServer): number[] {
  const children = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(pid)], { encoding: 'utf8' }).split('\n');
  return children.filter((child) => child.includes('extensionHost')).map((child) => Number.parseInt(child, 10));
}

function browserFolder({ userDataDir }: EditorServer): string {
  return path.join(userDataDir, 'browser');
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
