import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { machineSettingNames } from '../../../src/extension/settings/settingScopes.ts';
import { patienceMs } from '../eventually.ts';
import { ensureServer, isOldest } from './install.ts';
import { temporaryFolder } from './sample.ts';

export interface ServerOptions {
  /** Settings, storage and the port live here, so that a second start finds what the first one left. Default: temporary. */
  userDataDir?: string;
  /** Installed extensions. Default: a temporary, empty folder. */
  extensionsDir?: string;
  env?: Record<string, string>;
  /** User settings, over the quiet defaults. */
  settings?: Record<string, unknown>;
  /** Workspace trust: everything is trusted, VS Code asks, or the window opens restricted. Default: `granted`. */
  trust?: 'granted' | 'asked' | 'refused';
  /** A file in which strace says where any process of the editor connects to. Default: nobody watches. */
  connectionsTo?: string;
  /** Without user namespaces, as in many containers. */
  withoutUserNamespaces?: boolean;
  /** The language that the editor speaks, though it has hardly a word of it (`speakGerman`). Default: English. */
  language?: 'de';
  /** With all that the editor brings along, or, which starts in half the time, with the few of its extensions that tests need. Default: all. */
  builtIn?: 'all' | 'few';
  /** Who opens the workbench must know it. Without one anybody on this machine may: for tests only. */
  connectionToken?: string;
}

export interface EditorServer {
  version: string;
  port: number;
  userDataDir: string;
  process: ChildProcess;
  /** Where its driver extension listens, one window after the other. */
  driverSocket: string;
  /** Everything the server has printed. */
  log(): string;
  /** Ends the server with all its extension hosts and removes what was temporary. */
  stop(): Promise<void>;
  /** The same, without a chance to tidy up: what a power cut would do. */
  kill(): Promise<void>;
}

/** Quiet and the same every time: no telemetry, no gallery, no welcome, no other assistant. */
const quiet = {
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'workbench.colorTheme': 'Default Dark Modern', // the browser would choose
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.enableExperiments': false,
  'workbench.welcomePage.walkthroughs.openOnInstall': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'git.openRepositoryInParentFolders': 'never',
  'typescript.disableAutomaticTypeAcquisition': true, // it would ask a registry for types
  'remote.autoForwardPorts': false, // it would look through the sockets of all processes, again and again
  'workbench.reduceMotion': 'on', // each step of a movement is painted by the processor
  'editor.cursorBlinking': 'solid',
  'window.dialogStyle': 'custom',
  'window.confirmBeforeClose': 'never',
  'window.commandCenter': false,
  'chat.commandCenter.enabled': false,
  'chat.disableAIFeatures': true,
};

/** What tests see or use of the editor's own extensions; each further one costs every window some work. No language server is among them. A newer editor tells people that it misses the others. */
const fewBuiltIn = [
  ...['git', 'git-base', 'markdown-basics', 'markdown-language-features', 'search-result', 'theme-defaults'],
  ...['diff', 'javascript', 'json', 'log', 'shellscript', 'typescript-basics', 'yaml'],
];

/** Starts VS Code's server on this port of 127.0.0.1, or on a free one; where `userDataDir` was used before, on the same port again. */
export async function startServer(options: ServerOptions & { port?: number } = {}): Promise<EditorServer> {
  const installation = ensureServer();
  const temporary = temporaryFolder();
  const userDataDir = options.userDataDir ?? path.join(temporary, 'user-data');
  const extensionsDir = options.extensionsDir ?? path.join(temporary, 'extensions');
  mkdirSync(extensionsDir, { recursive: true });
  writeSettings(userDataDir, options);
  if (options.language) speakGerman(userDataDir, temporary);
  const driverSocket = path.join(temporary, 'driver.sock');

  const watching = ['strace', '-f', '--seccomp-bpf', '-e', 'trace=connect', '-e', 'signal=none'];
  const confining = ['unshare', '-Urm', 'sh', '-c', 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"', 'sh'];
  const [program, ...before] = [
    ...(options.withoutUserNamespaces ? confining : []),
    ...(options.connectionsTo ? [...watching, '-o', options.connectionsTo] : []),
    installation.node,
  ];
  const child = spawn(
    program!,
    [
      ...before,
      ...['--require', path.join(import.meta.dirname, 'parent-watch.cjs')],
      path.join(installation.root, 'out', 'server-main.js'),
      ...['--host', '127.0.0.1', '--port', String(options.port ?? lastPort(userDataDir))],
      ...(options.connectionToken ? ['--connection-token', options.connectionToken] : ['--without-connection-token']),
      '--accept-server-license-terms',
      ...['--telemetry-level', 'off'],
      ...['--server-data-dir', path.join(temporary, 'server')],
      ...['--user-data-dir', userDataDir],
      ...['--extensions-dir', extensionsDir],
      ...(options.builtIn === 'few' && isOldest
        ? ['--builtin-extensions-dir', linkFew(installation.root, temporary)]
        : []),
      '--disable-getting-started-override',
      ...(options.language ? ['--locale', options.language] : []),
      ...((options.trust ?? 'granted') === 'granted' ? ['--disable-workspace-trust'] : []),
    ],
    // A process group of its own: SIGTERM alone leaves extension hosts behind.
    {
      env: serverEnvironment(temporary, { ...options.env, DRIVER_SOCKET: driverSocket }),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    },
  );
  const endNow = () => killGroup(child);
  process.prependOnceListener('exit', endNow); // before its folders are removed
  let log = '';
  const end = async (signal: 'SIGTERM' | 'SIGKILL') => {
    await endGroup(child, signal);
    process.off('exit', endNow);
    rmSync(temporary, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  };
  try {
    const port = await new Promise<number>((resolve, reject) => {
      const read = (data: Buffer) => {
        log += data;
        const listening = /Extension host agent listening on (\d+)/.exec(log);
        if (listening) resolve(Number(listening[1]));
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`The VS Code server ended with code ${code}:\n${log}`)));
      const late = () => reject(new Error(`The VS Code server did not start within ${patienceMs / 1000} s:\n${log}`));
      setTimeout(late, patienceMs).unref();
    });
    writeFileSync(portFile(userDataDir), String(port));
    return {
      version: installation.version,
      port,
      userDataDir,
      process: child,
      driverSocket,
      log: () => log,
      stop: () => end('SIGTERM'),
      kill: () => end('SIGKILL'),
    };
  } catch (error) {
    await end('SIGKILL');
    throw error;
  }
}

/** In a remote window, as this is one, what belongs to the machine is read in the machine's file. */
export function writeSettings(userDataDir: string, { settings = {}, trust }: ServerOptions): void {
  const isOfMachine = ([name]: [string, unknown]) => machineSettingNames.has(name.replace(/^towpath\./, ''));
  const all = Object.entries(settings);
  const own = Object.fromEntries(all.filter((one) => !isOfMachine(one)));
  const restricted = trust === 'refused' ? { 'security.workspace.trust.startupPrompt': 'never' } : {};
  writeInto(path.join(userDataDir, 'User', 'settings.json'), { ...quiet, ...restricted }, own);
  if (all.some(isOfMachine))
    writeInto(path.join(userDataDir, 'Machine', 'settings.json'), {}, Object.fromEntries(all.filter(isOfMachine)));
}

function writeInto(file: string, defaults: object, settings: object): void {
  mkdirSync(path.dirname(file), { recursive: true });
  const kept = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  writeFileSync(file, JSON.stringify({ ...defaults, ...kept, ...settings }, null, 2));
}

/** What the editor writes down when a language pack is installed. It has its own words in English where the pack says nothing. */
function speakGerman(userDataDir: string, folder: string): void {
  const words = path.join(folder, 'german.json');
  writeFileSync(
    words,
    JSON.stringify({ contents: { 'vs/workbench/api/browser/mainThreadMessageService': { cancel: 'Abbrechen' } } }),
  );
  const extensions = [{ extensionIdentifier: { id: 'test.german' }, version: '0.0.0' }];
  const pack = { hash: 'german', extensions, translations: { vscode: words }, label: 'Deutsch' };
  writeFileSync(path.join(userDataDir, 'languagepacks.json'), JSON.stringify({ de: pack }));
}

function linkFew(root: string, parent: string): string {
  const folder = path.join(parent, 'built-in');
  mkdirSync(folder);
  const all = new Set(readdirSync(path.join(root, 'extensions')));
  for (const name of fewBuiltIn.filter((one) => all.has(one)))
    symlinkSync(path.join(root, 'extensions', name), path.join(folder, name), 'junction');
  return folder;
}

/** Where a server with these settings and storage was, or 0: storage in the browser is found again only under the same address. */
export function lastPort(userDataDir: string): number {
  return existsSync(portFile(userDataDir)) ? Number(readFileSync(portFile(userDataDir), 'utf8')) : 0;
}

function portFile(userDataDir: string): string {
  return path.join(userDataDir, 'port');
}

function serverEnvironment(temporary: string, added: Record<string, string> = {}): NodeJS.ProcessEnv {
  // What an enclosing VS Code terminal or test runner set is not this editor's business.
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(VSCODE_|ELECTRON_RUN_AS_NODE$|NODE_OPTIONS$)/.test(name),
  );
  return {
    ...Object.fromEntries(inherited),
    ...added,
    EXTENSIONS_GALLERY: '{}',
    VSCODE_PROXY_URI: '',
    VSCODE_CLI: '1', // the environment is this one; nobody's shell has to be started to learn it
    XDG_RUNTIME_DIR: temporary, // its sockets go there, not to /tmp for good
  };
}

async function endGroup(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.pid === undefined) return;
  if (child.exitCode === null && child.signalCode === null) {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await Promise.race([gone, new Promise((resolve) => setTimeout(resolve, 5000))]);
  }
  killGroup(child);
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {} // the group is empty already
}
