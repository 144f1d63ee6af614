import { execFile } from 'node:child_process';
import { mkdir, symlink } from 'node:fs/promises';
import * as paths from 'node:path';
import type { VisibleNames } from '../overlayChanges.ts';
import type { RawPath } from '../rawPaths.ts';

/** Absolute paths of the programs that set up a sandbox. */
export interface SandboxPrograms {
  bwrap: string;
  mount: string;
  nsenter: string;
  unshare: string;
  find: string;
  xargs: string;
  sh: string;
  perl: string;
}

/** Layers of an overlay: `upper` receives what a command writes, `merged` is where it is mounted. */
export interface OverlayFolders {
  upper: string;
  merged: string;
}

/**
 * Creates the folders of overlays over real folders, below an empty folder on a disk that supports overlays.
 * @param layers for real folders, folders with contents that are added to theirs
 */
export async function createOverlayFolders(
  folder: string,
  lower: readonly string[],
  layers: ReadonlyMap<string, string>,
): Promise<OverlayFolders[]> {
  const create = async (path: string, index: number): Promise<OverlayFolders> => {
    const below = (name: string) => paths.join(folder, `${name}${index}`);
    const added = layers.get(path);
    await Promise.all([
      // A link and relative names: mount options give some characters of a path a meaning.
      symlink(path, below('lower')),
      added && symlink(added, below('added')),
      ...['upper', 'work', 'merged'].map((name) => mkdir(below(name))),
    ]);
    return { upper: below('upper'), merged: below('merged') };
  };
  return Promise.all(lower.map(create));
}

/**
 * Returns the command line that mounts overlays in a mount namespace of its own and then runs a command there, without a process between
 * the caller and the command.
 * @param namespace process whose user and network namespaces the command joins
 */
export function overlayCommandLine(
  programs: SandboxPrograms,
  { folder, count, namespace }: { folder: string; count: number; namespace: number },
  command: readonly string[],
): string[] {
  const begin = [
    ...[programs.nsenter, '--user', '--net', '--preserve-credentials', '--target', String(namespace)],
    ...[programs.unshare, '--mount'],
  ];
  return [...begin, programs.sh, '-c', mountScript, 'sh', programs.mount, folder, String(count), ...command];
}

const mountScript = `mount=$1; cd "$2" || exit 125; count=$3; shift 3; at=0
while [ $at -lt $count ]; do
  lower=lower$at; [ -e added$at ] && lower=added$at:$lower
  "$mount" -t overlay -o lowerdir=$lower,upperdir=upper$at,workdir=work$at,userxattr,index=off overlay merged$at || exit 125
  at=$((at + 1))
done
exec "$@"`;

/**
 * Tests if nothing uses an overlay any more. A descriptor that a command has passed to another one keeps the overlay, and with it the way
 * into the upper layer. The kernel refuses layers that are in use for a mount with an index, even if the disk then cannot have one.
 */
export async function isOverlayReleased(programs: SandboxPrograms, folder: string, index: number): Promise<boolean> {
  const script = [programs.unshare, '--user', '--map-root-user', '--mount', programs.sh, '-c', releaseScript, 'sh'];
  try {
    await outputOf([...script, programs.mount, folder, String(index)], '');
    return true;
  } catch (error) {
    if (/busy/i.test((error as Error).message)) return false;
    throw new Error('its folder is no overlay any more: something may be mounted in it', { cause: error });
  }
}

const releaseScript = `mount=$1; cd "$2" || exit 125; at=$3
exec "$mount" -t overlay -o lowerdir=lower$at,upperdir=upper$at,workdir=work$at,userxattr,index=on overlay merged$at`;

/** Lists folders of an overlay whose command has ended. */
export function createVisibleNames(programs: SandboxPrograms, folder: string, index: number): VisibleNames {
  return async (folders) => {
    const list = [
      programs.xargs,
      '-0',
      programs.sh,
      '-c',
      'exec "$0" "$@" -mindepth 1 -maxdepth 1 -print0',
      programs.find,
    ];
    const argv = [
      ...[programs.unshare, '--user', '--map-root-user', '--mount', programs.sh, '-c', listScript, 'sh'],
      ...[programs.mount, folder, String(index), ...list],
    ];
    const shown = new Map<RawPath, Set<RawPath>>(folders.map((name) => [name, new Set()]));
    const input = folders.map((name) => `./${name}\0`).join('');
    for (const path of (await outputOf(argv, input)).split('\0')) {
      const name = path.replace(/^\.\//, '');
      if (name !== '') shown.get(paths.posix.dirname(name).replace(/^\.$/, ''))?.add(paths.posix.basename(name));
    }
    return shown;
  };
}

const listScript = `mount=$1; cd "$2" || exit 125; at=$3; shift 3
"$mount" -t overlay -o lowerdir=upper$at:lower$at,userxattr overlay merged$at || exit 125
cd merged$at && exec "$@"`;

/** Input and output have one character for each byte. */
function outputOf([program, ...args]: readonly string[], input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, LC_ALL: 'C' };
    const options = { encoding: 'latin1' as const, maxBuffer: 1 << 28, env };
    const child = execFile(program!, args, options, (error, text, problems) =>
      error ? reject(new Error(problems.trim() || error.message)) : resolve(text),
    );
    child.stdin?.on('error', () => {}); // it has ended
    child.stdin?.end(Buffer.from(input, 'latin1'));
  });
}
