import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { withFileLock } from './fileLock.ts';
import { projectRoot } from './project.ts';

/** A VS Code server with its web workbench. `root` holds `out/server-main.js`; `node` is the Node it wants. */
export interface ServerInstallation {
  root: string;
  node: string;
  version: string;
}

/** 4.100.3 is VS Code 1.100.3, the oldest that Towpath supports, on Node 20. */
const codeServer = process.env.CODE_SERVER_VERSION ?? '4.100.3';
/** Not a newer one, which differs in places. */
export const isOldest = codeServer.startsWith('4.100.');
const ripgrep = '1.18.0';
const cache = path.join(projectRoot, '.vscode-test');

/**
 * The VS Code server in `.vscode-test/`, fetched on first use with nothing but the npm client: the `code-server` package
 * carries it. It is never a dependency of the project, because its own install script wants a compiler.
 */
export function ensureServer(): ServerInstallation {
  const home = path.join(cache, `code-server-${codeServer}`);
  const ready = path.join(home, 'ready.json');
  if (!existsSync(ready)) {
    mkdirSync(cache, { recursive: true });
    withFileLock(path.join(cache, 'install.lock'), () => {
      if (!existsSync(ready)) install(home);
    });
  }
  const { node, version } = JSON.parse(readFileSync(ready, 'utf8')) as { node: string | null; version: string };
  return { root: path.join(home, 'lib', 'vscode'), node: node ? path.join(home, node) : process.execPath, version };
}

function install(home: string): void {
  const started = Date.now();
  for (const entry of readdirSync(cache)) {
    if (entry.startsWith('staging-')) rmSync(path.join(cache, entry), { recursive: true, force: true });
  }
  const staging = mkdtempSync(path.join(cache, 'staging-'));
  try {
    console.log(`Fetching VS Code (npm package code-server ${codeServer}) into .vscode-test/ …`);
    unpack(`code-server@${codeServer}`, staging);
    const fresh = path.join(staging, 'package');
    const root = path.join(fresh, 'lib', 'vscode');
    const node = ownNode(fresh);
    installModules(root);
    installModules(path.join(root, 'extensions')); // TypeScript, for the built-in language server
    installRipgrep(root, staging);
    replaceNativeModules(root);
    for (const unused of ['src', 'out', 'npm-shrinkwrap.json', 'postinstall.sh']) {
      rmSync(path.join(fresh, unused), { recursive: true, force: true });
    }
    const { version } = JSON.parse(readFileSync(path.join(root, 'product.json'), 'utf8'));
    writeFileSync(path.join(fresh, 'ready.json'), JSON.stringify({ node, version }));
    rmSync(home, { recursive: true, force: true });
    renameSync(fresh, home); // in one step: a broken installation never looks ready
    console.log(`VS Code ${version} is ready (${Math.round((Date.now() - started) / 1000)} s).`);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** The server insists on its own major version of Node; where ours is another, npm has that too. Relative path, or null. */
function ownNode(fresh: string): string | null {
  const { engines } = JSON.parse(readFileSync(path.join(fresh, 'package.json'), 'utf8'));
  const wanted = /\d+/.exec(engines?.node ?? '')?.[0];
  if (!wanted || process.versions.node.split('.')[0] === wanted) return null;
  const folder = path.join(fresh, 'node');
  mkdirSync(folder);
  unpack(`node-${process.platform}-${process.arch}@${wanted}`, folder, 'package/bin/node');
  return path.join('node', 'package', 'bin', 'node');
}

/** The package's shrinkwrap pins every hash, but in some releases misses a peer: there `npm install` keeps what is pinned. */
function installModules(folder: string): void {
  const flags = ['--legacy-peer-deps', '--ignore-scripts', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  try {
    npm(['ci', ...flags], folder);
  } catch {
    npm(['install', '--no-save', ...flags], folder);
  }
}

/** Search needs ripgrep, whose install script would download it from GitHub; npm has it as a package of each platform. */
function installRipgrep(root: string, staging: string): void {
  const target = path.join(root, 'node_modules', '@vscode', 'ripgrep');
  if (!existsSync(target) || existsSync(path.join(target, 'bin', 'rg'))) return;
  const folder = path.join(staging, 'ripgrep');
  mkdirSync(folder);
  unpack(`@vscode/ripgrep-${process.platform}-${process.arch}@${ripgrep}`, folder, 'package/bin/rg');
  mkdirSync(path.join(target, 'bin'), { recursive: true });
  renameSync(path.join(folder, 'package', 'bin', 'rg'), path.join(target, 'bin', 'rg'));
  chmodSync(path.join(target, 'bin', 'rg'), 0o755);
}

/** Two native modules are loaded at the start and have stand-ins; the others (terminals, kerberos) are never reached. */
function replaceNativeModules(root: string): void {
  const modules = path.join(root, 'node_modules');
  const standIns = { 'native-watchdog': 'watchdog', '@vscode/native-watchdog': 'watchdog', '@vscode/spdlog': 'spdlog' };
  for (const [name, standIn] of Object.entries(standIns)) {
    const folder = path.join(modules, name);
    if (!existsSync(folder)) continue;
    copyFileSync(path.join(import.meta.dirname, 'stand-ins', `${standIn}.cjs`), path.join(folder, 'index.js'));
  }
  if (!existsSync(`${modules}.asar`)) symlinkSync('node_modules', `${modules}.asar`, 'junction');
}

/** Fetches a package as npm does (registry, cache and integrity hash are npm's) and unpacks it, or one file of it. */
function unpack(specifier: string, into: string, file?: string): void {
  npm(['pack', specifier, '--pack-destination', into, '--ignore-scripts', '--loglevel=error'], into);
  const archive = readdirSync(into).find((name) => name.endsWith('.tgz'));
  if (!archive) throw new Error(`npm pack ${specifier} left no archive.`);
  execFileSync('tar', ['-xzf', archive, ...(file ? [file] : [])], { cwd: into });
  rmSync(path.join(into, archive));
}

function npm(args: string[], cwd: string): void {
  const command = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  execFileSync(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 28 });
}
