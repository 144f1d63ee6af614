import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import * as paths from 'node:path';
import { eventually } from '../../../support/eventually.ts';
import { listenFor } from './listenFor.ts';
import { type ProbeWorld, secret } from './probe.ts';

export interface ProbeSite {
  folder: string;
  template: string;
  home: string;
  store: string;
  journals: string;
  isControl: boolean;
}

let count = 0;

/** Creates the folders of a probe. `finish` waits for connections on the way; `close` ends and removes everything. */
export function createWorld(site: ProbeSite) {
  const tag = `towpath-probe-${process.pid}-${++count}-`;
  const own = paths.join(site.folder, `w${count}`);
  const [ws, out] = [paths.join(own, 'ws'), paths.join(own, 'out')];
  mkdirSync(out, { recursive: true });
  writeFileSync(paths.join(out, 'file'), 'before\n');
  mkdirSync(paths.join(out, 'folder'));
  cpSync(site.template, ws, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  const before = new Map<string, Map<string, string>>();
  const cleaners: (() => unknown)[] = [];
  const finishers: (() => Promise<void>)[] = [];
  let victim: ChildProcess | undefined;
  let victimBefore = '';
  const { home, store, journals, isControl } = site;
  const folders = { ws, out, home, journals };
  const world: ProbeWorld = {
    ...{ ...folders, store, tag, isControl, output: '', exitCode: null, asked: [], protectedPaths: [] },
    ...{ report: undefined, leftAtEnd: [], reached: new Set() },
    variables: { WS: ws, OUT: out, HOME: home, STORE: store, JOURNALS: journals, TAG: tag },
    async listen(name, address) {
      const { port, finish, close } = await listenFor(address, tag, (text) => {
        world.reached.add(name);
        return answers[name]?.(text, world) ?? 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n';
      });
      finishers.push(finish);
      cleaners.push(close);
      return port;
    },
    async startVictim() {
      victim = spawn('sleep', ['1000'], {
        argv0: tag,
        env: { PATH: process.env.PATH, SECRET: secret },
        stdio: 'ignore',
      });
      const { pid } = victim;
      world.variables.VICTIM = String(pid);
      await eventually('the victim runs', () => readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith(tag));
      victimBefore = settingsOf(pid!);
      cleaners.push(() => victim?.kill('SIGKILL'));
    },
    victimState() {
      if (!victim) return undefined;
      const state = isAlive(victim.pid!) ? settingsOf(victim.pid!) : 'ended';
      return state === victimBefore ? undefined : `${state} instead of ${victimBefore}`;
    },
    changes: (name) => differences(before.get(name)!, treeOf(folders[name])),
    cleanUp: (action) => void cleaners.push(action),
  };
  return {
    world,
    start() {
      for (const [name, folder] of Object.entries(folders)) before.set(name, treeOf(folder));
    },
    finish: () => Promise.all(finishers.map((finish) => finish())),
    async close() {
      for (const pid of processesWith(tag)) process.kill(pid, 'SIGKILL'); // of a script without a sandbox
      for (const clean of cleaners) await clean();
      rmSync(own, { recursive: true, force: true });
    },
  };
}

/** Answers of services by their names. */
const answers: Partial<Record<string, (text: string, world: ProbeWorld) => string>> = {
  redirecting: (_text, { variables }) =>
    `HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:${variables.DENIED}/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
};

const isAlive = (pid: number): boolean => {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};

/** State of a process that others can change. */
function settingsOf(pid: number): string {
  const read = (name: string) => readFileSync(`/proc/${pid}/${name}`, 'utf8').trim();
  const stat = read('stat').split(') ')[1]!.split(' ');
  const limits = /Max open files +\d+ +\d+/.exec(read('limits'))?.[0] ?? '';
  const status = /Cpus_allowed:\s+\S+/.exec(read('status'))?.[0] ?? '';
  return `${stat[0] === 'T' || stat[0] === 't' ? 'stopped' : 'runs'} nice ${stat[16]} oom ${read('oom_score_adj')} ${limits} ${status}`;
}

/** Pids of living processes with a text in their command line, or their environment. */
export function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text) && isAlive(pid);
      } catch {
        return false;
      }
    });
}

function treeOf(folder: string): Map<string, string> {
  const tree = new Map<string, string>();
  const visit = (path: string, name: string) => {
    let stats: ReturnType<typeof lstatSync>;
    try {
      stats = lstatSync(path);
    } catch {
      return;
    }
    const mode = (stats.mode & 0o7777).toString(8);
    if (stats.isDirectory()) {
      tree.set(name, `folder ${mode}`);
      for (const below of readdirSync(path)) visit(paths.join(path, below), name ? `${name}/${below}` : below);
    } else if (stats.isFile()) tree.set(name, `${mode} ${stats.mtimeMs} ${contentOf(path)}`);
    else tree.set(name, stats.isSymbolicLink() ? `link ${readlinkSync(path)}` : `special ${stats.mode} ${stats.rdev}`);
  };
  visit(folder, '');
  return tree;
}

const contentOf = (path: string): string => {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '(unreadable)';
  }
};

function differences(before: Map<string, string>, after: Map<string, string>): string[] {
  return [
    ...[...after].flatMap(([path, value]) =>
      before.has(path) ? (before.get(path) === value ? [] : [`~ ${path}`]) : [`+ ${path}`],
    ),
    ...[...before.keys()].filter((path) => !after.has(path)).map((path) => `- ${path}`),
  ];
}
