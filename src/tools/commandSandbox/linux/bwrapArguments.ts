import { checkSandboxPath } from '../sandboxPath.ts';
import type { HiddenPath, SandboxPolicy } from '../sandboxPolicy.ts';

/**
 * Returns the options of `bwrap` (0.5 or newer). Later mounts cover earlier ones. Throws for a path that
 * is not absolute and normalized.
 *
 * `--unshare-all` is deliberately absent: the network namespace belongs to the caller, and programs such as Java find the limits of their
 * control group by its path, which must be that of the mounted tree.
 */
export function bwrapArguments(policy: SandboxPolicy): string[] {
  checkPaths(policy);
  const shown = shownMounts(policy);
  // The merged folders would show the hidden files of the open folders at a second path.
  const merged = policy.overlays.map((overlay): HiddenPath => ({ path: overlay.merged, kind: 'folder' }));
  const all = [...policy.hidden, ...merged];
  const covers = [...privateFolders(policy), ...all.filter(({ kind }) => kind === 'folder').map(({ path }) => path)];
  const hidden = all.filter(({ path }) => !isCovered(path, covers, shown)).sort(byDepth);
  // A hidden folder around an open folder comes first, so that it does not cover the open folder.
  const isAround = ({ path }: HiddenPath) => shown.some((mount) => isInside(mount.path, path));
  const around = hidden.filter(isAround);
  const others = hidden.filter((one) => !isAround(one));
  const readOnlyFolders = ['/run', ...hidden.filter(({ kind }) => kind === 'folder').map(({ path }) => path)];
  return [
    ...['--unshare-user', '--unshare-ipc', '--unshare-pid', '--unshare-uts'],
    ...['--uid', String(policy.uid), '--gid', String(policy.gid)],
    ...['--cap-drop', 'ALL', '--new-session', '--die-with-parent'],
    ...(policy.seccompDescriptor === undefined ? [] : ['--seccomp', String(policy.seccompDescriptor)]),
    ...(policy.informationDescriptor === undefined ? [] : ['--info-fd', String(policy.informationDescriptor)]),
    ...['--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/run'], // `/dev` includes a private `/dev/shm`
    ...policy.kernelFiles.flatMap((path) => ['--ro-bind', path, path]),
    ...policy.tmpTargets.flatMap((target) => ['--bind', policy.tmp, target]),
    ...around.flatMap(hideArguments),
    ...shown.flatMap(({ option, source, path }) => [option, source, path]),
    ...others.flatMap(hideArguments),
    ...readOnlyFolders.flatMap((path) => ['--remount-ro', path]), // last: earlier, no mount point could be created inside
  ];
}

interface ShownMount {
  option: '--bind' | '--ro-bind';
  source: string;
  path: string;
}

/** Mounts with contents, outer paths first: otherwise an allowed folder would cover the overlay of an open folder inside. */
const shownMounts = (policy: SandboxPolicy): ShownMount[] =>
  [
    ...policy.overlays.map(({ shown, merged }) => ({ option: '--bind' as const, source: merged, path: shown })),
    ...policy.writable.map(({ source, target }) => ({ option: '--bind' as const, source, path: target })),
    ...policy.readOnly.map(({ source, target }) => ({ option: '--ro-bind' as const, source, path: target })),
  ].sort(byDepth);

/**
 * Permissions of a hidden folder: a listing is denied, a name inside is not found. Programs accept missing settings more often than
 * settings that they cannot read.
 */
const hiddenFolderMode = '0111';

// A bind without `dev` has the option `nodev`, so that opening the device is denied.
const hideArguments = ({ path, kind }: HiddenPath): string[] =>
  kind === 'folder'
    ? ['--perms', hiddenFolderMode, '--tmpfs', path]
    : [kind === 'settings' ? '--dev-bind' : '--ro-bind', '/dev/null', path];

const privateFolders = (policy: SandboxPolicy): string[] => ['/run', '/proc', '/dev', ...policy.tmpTargets];

/** Tests for a path that is shown explicitly, or below a private or hidden folder, where hiding it would create it. */
function isCovered(path: string, covers: readonly string[], shown: readonly ShownMount[]): boolean {
  if (shown.some((mount) => mount.path === path)) return true;
  const nearest = (folders: readonly string[]) =>
    Math.max(-1, ...folders.filter((folder) => isInside(path, folder)).map((folder) => folder.length));
  return nearest(covers.filter((folder) => folder !== path)) > nearest(shown.map((mount) => mount.path));
}

const byDepth = (one: { path: string }, other: { path: string }): number =>
  one.path.split('/').length - other.path.split('/').length;

const isInside = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

function checkPaths(policy: SandboxPolicy): void {
  const all = [
    ...policy.overlays.flatMap(({ shown, merged }) => [shown, merged]),
    ...[...policy.writable, ...policy.readOnly].flatMap(({ source, target }) => [source, target]),
    ...policy.hidden.map(({ path }) => path),
    ...policy.kernelFiles,
    ...[policy.tmp, ...policy.tmpTargets],
  ];
  for (const path of all) checkSandboxPath(path);
}
