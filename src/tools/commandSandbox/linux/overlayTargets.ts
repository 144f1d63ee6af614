import * as paths from 'node:path';
import { findGitFolders } from '../gitFolders.ts';
import { findIgnoredFolders } from '../ignoredFolders.ts';
import type { ModuleCache } from '../moduleCaches.ts';
import type { OverlayTarget } from './commandOverlay.ts';

/** Returns the overlays of a command that may change the open folders (absolute, real), and the repositories around them. */
export async function openTargets(folders: readonly string[]): Promise<OverlayTarget[]> {
  const git = await findGitFolders(folders);
  return [
    ...folders.map((target) => ({ target, within: 'workspace' as const, segments: [], ...shownBelow(folders, []) })),
    ...git.map((target) => ({ target, within: 'git' as const, segments: [] })),
  ];
}

/** Returns the overlays of a command that sees the open folders as they are, and may change what Git ignores. */
export async function ignoredTargets(folders: readonly string[]): Promise<OverlayTarget[]> {
  const found = await Promise.all(
    folders.map(async (folder) =>
      (await findIgnoredFolders(folder)).map((segments) => ({
        target: paths.join(folder, ...segments),
        within: 'workspace' as const,
        segments,
        ...shownBelow(folders, segments),
      })),
    ),
  );
  const isOpen = (target: string) => folders.some((folder) => folder === target || folder.startsWith(`${target}/`));
  return found.flat().filter(({ target }) => !isOpen(target));
}

/** Returns overlays of folders with installed packages, in which private folders for caches are mounted; packages stay read-only. */
export function installedTargets(folders: readonly string[], caches: readonly ModuleCache[]): OverlayTarget[] {
  return [...new Set(caches.map(({ modules }) => modules))].map((target) => {
    const folder = folders.find((one) => target.startsWith(`${one}/`));
    return { target, within: 'workspace', segments: folder ? paths.relative(folder, target).split('/') : [] };
  });
}

/** Returns the overlay of an allowed folder (absolute, real) outside of the workspace. */
export const outsideTarget = (target: string): OverlayTarget => ({
  target,
  within: 'workspace',
  segments: [],
});

// Paths in a window with one folder are relative to it.
const shownBelow = (folders: readonly string[], segments: readonly string[]) =>
  folders.length === 1 ? { shownAs: segments.join('/') } : {};
