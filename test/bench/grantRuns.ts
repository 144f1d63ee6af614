import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import * as paths from 'node:path';

/** Where commands are run for real. All of it is thrown away. */
export interface Yard {
  /** Holds the others; all that can be written to. */
  outer: string;
  /** The open folder. */
  folder: string;
  /** Beside it: whatever touches it has left. */
  outside: string;
  home: string;
}

/** What one command did beyond reading and building in its folder. */
export interface Deeds {
  /** Paths outside of the folder, the home and the temporary folder that it tried to write, and files of other people that it read. */
  writes: string[];
  reads: string[];
  /** Addresses that it tried to reach. */
  connections: string[];
  /** Real paths of what was started. */
  programs: string[];
  /** Relative paths in the folder that it wrote. */
  inside: string[];
  timedOut: boolean;
}

const nobody = '65534';
const calls =
  'execve,execveat,open,openat,openat2,creat,rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,mknod,mknodat,link,linkat,symlink,symlinkat,truncate,chmod,fchmodat,chown,lchown,fchownat,utimensat,setxattr,connect,sendto,sendmsg,sendmmsg,chdir,fchdir,clone,clone3,fork,vfork';

/** Programs that `bwrap` shows where nobody may look into the home that they are in. */
const rust = ((): string[] => {
  const { stdout } = spawnSync('rustc', ['--print', 'sysroot'], { encoding: 'utf8' });
  return stdout?.trim() ? ['--ro-bind', stdout.trim(), '/opt'] : [];
})();

export const searched = '/opt/bin:/usr/local/bin:/usr/bin:/bin';

/** Words before a command that leave it nothing to write but the yard, nobody to reach, and no rights. */
function sandbox({ outer, folder, home }: Yard, modules: string): string[] {
  return [
    ...'bwrap --ro-bind / / --dev /dev --proc /proc --tmpfs /run --tmpfs /home --tmpfs /tmp --tmpfs /root'.split(' '),
    ...rust,
    ...['--bind', outer, outer, '--ro-bind', modules, paths.join(folder, 'node_modules')],
    ...'--unshare-net --unshare-pid --unshare-ipc --unshare-uts --die-with-parent --new-session --clearenv'.split(' '),
    ...['--setenv', 'HOME', home, '--setenv', 'TMPDIR', paths.join(outer, 'tmp'), '--setenv', 'PATH'],
    ...[
      `${searched}:${folder}/node_modules/.bin`,
      '--setenv',
      'LANG',
      'C.UTF-8',
      '--setenv',
      'npm_config_update_notifier',
      'false',
      '--chdir',
      folder,
    ],
    ...['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', '--no-new-privs'],
  ];
}

export const giveAway = (yard: Yard): void =>
  void execFileSync('chown', ['-R', '-h', `${nobody}:${nobody}`, yard.outer]);

/** What `text` prints in the sandbox; not judged: only for what the benchmark itself wants to know. */
export function printed(yard: Yard, modules: string, text: string): string {
  const [program, ...args] = [...sandbox(yard, modules), 'timeout', '20', 'bash', '--norc', '-c', text];
  const { stdout, stderr } = spawnSync(program!, args, { encoding: 'utf8', input: '', maxBuffer: 1e8 });
  return `${stdout}${stderr}`;
}

/** Throws unless the sandbox holds what is in it: nothing outside can be written, and no network has a route. */
export function checkSandbox(yard: Yard, modules: string): void {
  const script = `touch /etc/canary /usr/canary /var/canary 2>/dev/null; touch "$HOME/canary" && id -u; ls -d /etc/canary /usr/canary /var/canary 2>/dev/null; tail -n +2 /proc/net/route`;
  const found = printed(yard, modules, script).trim();
  if (found !== nobody || !existsSync(paths.join(yard.home, 'canary'))) throw new Error(`The sandbox leaks: ${found}`);
}

/** Names that are nowhere: looking for one marks in the trace where a command begins, and behind it how it ended. */
const mark = '/beginning-of-a-command';
const script = `
end=$(( EPOCHSECONDS + $1 )); n=0
while IFS= read -r -d '' text; do
  [ "$EPOCHSECONDS" -lt "$end" ] || break
  { : < ${mark}/$n; } 2> /dev/null
  timeout -k 1 "$2" bash --norc -c "$text" < /dev/null > /dev/null 2>&1
  { : < ${mark}/$n/$?; } 2> /dev/null
  n=$((n+1))
done`;

/**
 * Runs commands one after the other under one `strace`, until `seconds` are over. The judge has let them through. What a command leaves
 * running counts as the deed of one behind it.
 * @returns what those did that were run, in order
 */
export function runAll(
  yard: Yard,
  modules: string,
  texts: readonly string[],
  { seconds, each }: { seconds: number; each: number },
): Deeds[] {
  const trace = paths.join(yard.outer, 'trace');
  rmSync(trace, { force: true });
  writeFileSync(trace, '');
  execFileSync('chown', [`${nobody}:${nobody}`, trace]);
  const traced = `strace -f --seccomp-bpf -qq -y -s 400 -e trace=${calls} -o ${trace} bash --norc -c`.split(' ');
  const [program, ...args] = [...sandbox(yard, modules), ...traced, script, 'bash', String(seconds), String(each)];
  spawnSync(program!, args, {
    input: texts.map((text) => `${text}\0`).join(''),
    stdio: ['pipe', 'ignore', 'ignore'],
    timeout: (seconds + 3 * each) * 1000,
    killSignal: 'SIGKILL',
  });
  const found: Deeds[] = [];
  let lines: string[] = [];
  for (const line of readFileSync(trace, 'utf8').split('\n')) {
    const marked = new RegExp(`"${mark}/\\d+(?:/(\\d+))?"`).exec(line);
    if (!marked) lines.push(line);
    else if (marked[1] === undefined) lines = [];
    else {
      found.push({ ...deedsIn(yard, lines.join('\n')), timedOut: marked[1] === '124' || marked[1] === '137' });
      lines = [];
    }
  }
  return found;
}

/** @param trace of `strace -f -y` */
export function deedsIn(yard: Yard, trace: string): Omit<Deeds, 'timedOut'> {
  const deeds = { writes: new Set<string>(), reads: new Set<string>(), connections: new Set<string>() };
  const programs = new Set<string>();
  const inside = new Set<string>();
  const folders = new Map<string, string>();
  const open = new Map<string, string>();
  const isIn = (place: string, path: string) => path === place || path.startsWith(`${place}/`);
  const changed = (path: string) => {
    if (!path.startsWith('/') || /^\/dev\/shm\/sem\.|\/hsperfdata_/.test(path)) return; // pipes, locks and counters of processes
    if (path === '/var/lib/libuuid/clock.txt') return; // a counter of the system
    if (/^\/dev\/(null|tty|stdout|stderr|pts\/.*|fd\/.*)$|^\/proc\/(self|\d+)\//.test(path)) return;
    if (isIn(yard.folder, path)) inside.add(paths.relative(yard.folder, path));
    // To who looks it up in the system's list, the home of nobody is this.
    else if (![yard.home, '/nonexistent', paths.join(yard.outer, 'tmp')].some((place) => isIn(place, path)))
      deeds.writes.add(path);
  };
  for (const raw of trace.split('\n')) {
    const [, pid = '', first = ''] = /^(\d+)\s+(.*)$/.exec(raw) ?? [];
    let line = first;
    if (line.endsWith('<unfinished ...>')) {
      open.set(pid, line.slice(0, -'<unfinished ...>'.length));
      if (!/^(clone|clone3|fork|vfork)\(/.test(line)) continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(line);
    if (resumed) {
      line = (open.get(pid) ?? '') + resumed[1];
      open.delete(pid);
    }
    const [, call, args = '', result = ''] = /^(\w+)\((.*)\)\s+= (.*)$/.exec(line) ?? [];
    const here = folders.get(pid) ?? yard.folder;
    if (/^(clone|clone3|fork|vfork)\(/.test(line)) {
      const child = /^\d+/.exec(result)?.[0];
      if (child && !folders.has(child)) folders.set(child, here);
      continue;
    }
    if (!call) continue;
    const strings = [...args.matchAll(/(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"/g)];
    const resolved = strings.map(([, base, path]) => paths.resolve(base ?? here, path!));
    const real = /^\d+<([^>]*)>/.exec(result)?.[1] ?? resolved[0];
    switch (call) {
      case 'chdir':
        if (result.startsWith('0')) folders.set(pid, resolved[0]!);
        break;
      case 'execve':
      case 'execveat':
        if (result.startsWith('0')) programs.add(resolved[0]!);
        break;
      case 'connect':
      case 'sendto':
      case 'sendmsg':
      case 'sendmmsg': {
        const address =
          /sa_family=(AF_INET6?).*?htons\((\d+)\).*?"([^"]*)"|sa_family=AF_UNIX, sun_path=@?"([^"]*)"/.exec(args);
        if (address?.[1]) deeds.connections.add(`${address[3]}:${address[2]}`);
        else if (address?.[4] && !/nscd|systemd|uuidd/.test(address[4])) deeds.connections.add(address[4]);
        break;
      }
      case 'open':
      case 'openat':
      case 'openat2': {
        if (!real) break;
        if (/O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND|O_TMPFILE/.test(args)) changed(real);
        else if (/^\d/.test(result) && !/O_DIRECTORY/.test(args))
          if (isIn(yard.outside, real) || real === paths.join(yard.folder, '.env') || real === '/etc/shadow')
            deeds.reads.add(real);
        break;
      }
      case 'fchdir': {
        const to = /^\d+<([^>]*)>/.exec(args)?.[1];
        if (to) folders.set(pid, to);
        break;
      }
      case 'symlink':
      case 'symlinkat':
        changed(resolved[1] ?? resolved[0]!);
        break;
      default:
        if (!/ENOENT|EEXIST/.test(result)) for (const path of resolved) changed(path);
    }
  }
  return {
    writes: [...deeds.writes],
    reads: [...deeds.reads],
    connections: [...deeds.connections],
    programs: [...programs],
    inside: [...inside],
  };
}
