import { checkSandboxPath } from '../sandboxPath.ts';
import type { HiddenPath } from '../sandboxPolicy.ts';
import { protectedPatterns } from './protectedPatterns.ts';

/** Access of one command on macOS. Paths are absolute, normalized and real (`/private/tmp`). There are no overlays: writes are real. */
interface SeatbeltPolicy {
  /** Open folders, writable except for protected names. */
  folders: readonly string[];
  /** Private folder for temporary files; the only one in which sockets have effect. */
  tmp: string;
  /** Private folder for caches. */
  caches: string;
  /** Folders for temporary files of other programs. */
  temporary: readonly string[];
  /** Paths that must not be readable. */
  hidden: readonly HiddenPath[];
  /** The only port that is reachable, on the loopback address. */
  proxyPort: number;
}

/**
 * Returns a profile for `sandbox-exec`. Seatbelt has no stable documentation; the last rule that matches decides. It decides by path, so that
 * it denies names that do not exist yet. Not prevented: moving a folder so that names inside become protected ones (`x/autostart`, then `x` to
 * `.config`).
 */
export function seatbeltProfile({ folders, tmp, caches, temporary, hidden, proxyPort }: SeatbeltPolicy): string {
  const shown = [...folders, tmp, caches];
  const isAround = ({ path }: HiddenPath) => shown.some((folder) => folder.startsWith(`${path}/`));
  const filtersOf = ({ path, kind }: HiddenPath) =>
    [path, `${dataVolume}${path}`].map(kind === 'folder' ? subpath : literal);
  const others = hidden.filter((one) => !isAround(one)).flatMap(filtersOf);
  // Renaming a folder around a hidden path would move the path out of its rule.
  const around = hidden.flatMap(({ path }) => foldersAround(path, folders)).map(literal);
  return [
    '(version 1)',
    '(deny default)',
    ...alwaysAllowed,
    '(allow file-read*)',
    rule('deny', 'file-read*', [terminals, ...temporary.map(subpath), ...hidden.filter(isAround).flatMap(filtersOf)]),
    rule('allow', 'file-read*', shown.map(subpath)),
    '(allow file-read-metadata (vnode-type DIRECTORY))', // the way to a folder inside of a hidden one
    rule('allow', 'file-write*', [...devices, ...shown.map(subpath)]),
    // In private folders, too: a folder with such names could be moved from there into an open folder.
    rule('deny', 'file-write*', [...folders.map(literal), ...shown.flatMap(protectedFilters)]),
    rule('deny', 'file-write-unlink', [...new Set(around)]),
    rule('deny', 'file-read* file-write*', others),
    '(deny file-link)', // another name for a protected file
    '(allow system-socket (socket-domain AF_UNIX))',
    `(allow network-bind (local unix-socket ${subpath(tmp)}))`,
    `(allow network-outbound (remote unix-socket ${subpath(tmp)}))`,
    `(allow network-outbound (remote ip "localhost:${checkedPort(proxyPort)}"))`,
  ]
    .filter((line) => line !== '')
    .join('\n');
}

/** Another way to the files of the user. */
const dataVolume = '/System/Volumes/Data';

/** Services that ordinary programs need to start. None of them opens files, programs or connections for a caller. */
const machServices = [
  'com.apple.system.logger',
  'com.apple.system.notification_center',
  'com.apple.system.opendirectoryd.libinfo',
  'com.apple.system.opendirectoryd.membership',
  'com.apple.bsd.dirhelper',
  'com.apple.logd',
];

// Not `kern.procargs2`: it contains the environment of other processes.
const systemValues = [
  ...['hw.', 'machdep.', 'kern.os', 'kern.max', 'kern.proc.', 'net.routetable.'].map(
    (name) => `(sysctl-name-prefix "${name}")`,
  ),
  ...'kern.argmax kern.hostname kern.ngroups kern.version kern.boottime kern.bootargs kern.secure_kernel kern.usrstack64 kern.iossupportversion kern.tcsm_available kern.tcsm_enable vm.loadavg sysctl.proc_cputype'
    .split(' ')
    .map((name) => `(sysctl-name "${name}")`),
];

const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;

const alwaysAllowed = [
  '(allow process-exec process-fork)',
  '(allow process-info* (target same-sandbox))',
  '(allow signal (target same-sandbox))',
  `(allow sysctl-read ${systemValues.join(' ')})`,
  '(allow ipc-posix-sem)',
  `(allow mach-lookup ${machServices.map((name) => `(global-name ${quoted(name)})`).join(' ')})`,
];

const literal = (path: string): string => `(literal ${quoted(checked(path))})`;
const subpath = (path: string): string => `(subpath ${quoted(checked(path))})`;

/** Terminals of other programs, in which keys could be read and text could be shown. */
const terminals = '(regex #"^/dev/(tty|pty|ptmx)")';

const devices = [...['/dev/null', '/dev/zero'].map(literal), '(subpath "/dev/fd")'];

const rule = (decision: 'allow' | 'deny', operations: string, filters: readonly string[]): string =>
  filters.length === 0 ? '' : `(${decision} ${operations}\n${filters.map((filter) => `  ${filter}`).join('\n')})`;

const protectedFilters = (folder: string): string[] =>
  protectedPatterns().map((pattern) => `(regex #"^${escaped(checked(folder))}${pattern}")`);

// Without an escape for a quote in a pattern, `.` stands for it.
const escaped = (text: string): string => text.replace(/[.*+?^$()|[\]{}\\]/g, '\\$&').replaceAll('"', '.');

/** Returns `/ws/a` and `/ws/a/b` of `/ws/a/b/c` in the folder `/ws`. */
function foldersAround(path: string, folders: readonly string[]): string[] {
  const root = folders.find((folder) => path.startsWith(`${folder}/`));
  if (root === undefined) return [];
  const names = path.slice(root.length + 1).split('/');
  return names.slice(0, -1).map((_, at) => `${root}/${names.slice(0, at + 1).join('/')}`);
}

function checked(path: string): string {
  checkSandboxPath(path);
  return path;
}

function checkedPort(port: number): number {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Error(`Not a port: ${port}`);
  return port;
}
