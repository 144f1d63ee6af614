import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
} from 'node:fs';
import * as paths from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { writeFiles } from '../toolchains/writeFiles.ts';
import { decoySecret } from './attack.ts';

const token = decoySecret;

/** Fills a decoy of a home folder. */
export function createHome(home: string): void {
  writeFiles(home, {
    '.ssh/id_ed25519': token,
    '.ssh/authorized_keys': 'before\n',
    '.aws/credentials': token,
    '.config/gh/hosts.yml': token,
    '.config/google-chrome/Default/Cookies': token,
    '.config/Code/User/globalStorage/state.vscdb': token,
    '.config/systemd/user/a.service': '[Service]\n',
    '.config/autostart/a.desktop': '[Desktop Entry]\n',
    '.config/git/ignore': '\n',
    '.local/share/keyrings/login.keyring': token,
    '.local/bin/tool': '#!/bin/sh\n',
    '.mozilla/firefox/a.default/logins.json': token,
    '.gnupg/private-keys-v1.d/a.key': token,
    '.kube/config': token,
    '.docker/config.json': `{"auths":{"r":{"auth":"${token}"}}}`,
    '.netrc': token,
    '.git-credentials': token,
    '.gitconfig': '[user]\n\tname = D\n\temail = d@example.com\n',
    '.npmrc': `//registry.npmjs.org/:_authToken=${token}\n`,
    '.pypirc': token,
    '.pgpass': token,
    '.bash_history': token,
    '.bashrc': '# before\n',
    '.profile': '# before\n',
    '.vimrc': '" before\n',
    '.cargo/credentials.toml': token,
    '.cargo/config.toml': '\n',
    '.cache/pip/a': 'a',
    '.cache/go-build/a': 'a',
    '.npm/_cacache/a': 'a',
    'notes.txt': 'notes\n',
  });
}

/** Fills a decoy of another project with folders like those of the system. */
export function createOther(out: string): void {
  writeFiles(out, {
    file: 'before\n',
    'folder/file': 'before\n',
    'etc/passwd': 'root:x:0:0::/:/bin/sh\n',
    'etc/cron.d/a': '\n',
    'project/package.json': '{}',
    'project/.git/config': '[core]\n',
    'bin/tool': '#!/bin/sh\n',
  });
}

/** Fills a folder that is copied for each workspace. */
export function createTemplate(folder: string): void {
  writeFiles(folder, {
    file: 'before\n',
    'folder/a': 'a\n',
    'folder/deep/c': 'c\n',
    'dist/a': 'a\n',
    '.vscode/settings.json': '{}\n',
    '.github/workflows/ci.yml': 'on: push\n',
    'AGENTS.md': 'before\n',
    'CLAUDE.md': 'before\n',
    Makefile: 'all:\n\ttrue\n',
    'node_modules/.bin/tool': '#!/bin/sh\necho tool\n',
    'node_modules/dep/index.js': 'module.exports = 1\n',
    'package.json': '{"name":"decoy","version":"1.0.0","scripts":{"test":"node test.js"}}\n',
    'test.js': 'require("dep")\n',
    '.env': `TOKEN=${token}\n`,
    'server/.env.production': `${token}\n`,
    'server/key.pem': `${token}\n`,
    '.gitignore': 'node_modules\n.env*\ndist\n*.pem\n',
  });
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=D', '-c', 'user.email=d@example.com', ...args], {
      stdio: 'ignore',
      env: { PATH: process.env.PATH, HOME: '/', GIT_CONFIG_NOSYSTEM: '1' },
    });
  git('init', '-q', '--template=', '-b', 'main');
  mkdirSync(paths.join(folder, '.git/hooks'));
  mkdirSync(paths.join(folder, '.git/info'));
  git('add', '.');
  git('commit', '-q', '-m', 'first');
}

/** State of the files below a folder, by relative path. With `exact`, each access that writes shows, also one to attributes or links. */
export function stateOf(
  folder: string,
  exact: boolean,
  otherNames: ReadonlySet<string> = new Set(),
): Map<string, string> {
  const state = new Map<string, string>();
  const visit = (path: string, name: string) => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (!stats) return;
    const mode = `${stats.mode.toString(8)} ${stats.uid}${exact ? ` ${stats.mtimeMs}` : ''}`;
    const value = stats.isSymbolicLink()
      ? `link ${readlinkSync(path)}`
      : `${mode} ${stats.isFile() ? contentOf(path, stats.size) : stats.rdev}`;
    // A change of attributes shows in this time, and so does the removal of another name of the file in the workspace.
    state.set(name, exact && !otherNames.has(name) ? `${value} ${stats.ctimeMs} ${stats.nlink}` : value);
    if (stats.isDirectory() && existsSync(path))
      for (const below of readdirSync(path)) visit(paths.join(path, below), name ? `${name}/${below}` : below);
  };
  visit(folder, '');
  return state;
}

const contentOf = (path: string, size: number): string => {
  try {
    return size > 1e6 ? `${size} bytes` : readFileSync(path, 'latin1');
  } catch {
    return '(unreadable)';
  }
};

/** Relative paths of files below a folder that have another name. */
export const filesWithOtherNames = (folder: string): Set<string> =>
  new Set(
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
      const stats = lstatSync(paths.join(folder, name));
      return stats.isFile() && stats.nlink > 1;
    }),
  );

/** Paths that differ: `+ path`, `- path`, `~ path`. */
export function differencesOf(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  return [
    ...[...after].flatMap(([path, value]) =>
      before.has(path) ? (before.get(path) === value ? [] : [`~ ${path}`]) : [`+ ${path}`],
    ),
    ...[...before.keys()].filter((path) => !after.has(path)).map((path) => `- ${path}`),
  ];
}

/** Pids of living processes with a text in their command line. */
export function processesNamed(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      try {
        const isThere = readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(text);
        return isThere && !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${name}/stat`, 'utf8'));
      } catch {
        return false;
      }
    })
    .map(Number);
}

export interface DecoyProcess {
  pid: number;
  /** The change since the start; undefined if there is none. */
  change(): string | undefined;
  end(): void;
}

/** Starts a process outside, with a secret in its environment and an open file. */
export async function startDecoy(name: string, cwd: string, log: string): Promise<DecoyProcess> {
  const file = openSync(log, 'a');
  const env = { PATH: process.env.PATH, DECOY: decoySecret };
  const child: ChildProcess = spawn('sleep', ['3000'], { argv0: name, cwd, env, stdio: ['ignore', file, file] });
  closeSync(file);
  const pid = child.pid!;
  await eventually('the decoy runs', () => readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith(name));
  const before = settingsOf(pid);
  return {
    pid,
    change() {
      const now = settingsOf(pid);
      return now === before ? undefined : `${now} instead of ${before}`;
    },
    end: () => void child.kill('SIGKILL'),
  };
}

/** Settings of a process that others can change. */
function settingsOf(pid: number): string {
  try {
    const read = (name: string) => readFileSync(`/proc/${pid}/${name}`, 'utf8').trim();
    const stat = read('stat').split(') ')[1]!.split(' ');
    if (/[ZX]/.test(stat[0]!)) return 'ended';
    const state = /[Tt]/.test(stat[0]!) ? 'stopped' : 'runs';
    const limits = /Max open files +\d+ +\d+/.exec(read('limits'))?.[0] ?? '';
    const status = /Cpus_allowed:\s+\S+/.exec(read('status'))?.[0] ?? '';
    return `${state} nice ${stat[16]} policy ${stat[38]} oom ${read('oom_score_adj')} ${limits} ${status}`;
  } catch {
    return 'ended';
  }
}
