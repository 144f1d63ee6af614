import { isInLeftover } from '../core/tempFiles.ts';
import type { Workspace } from '../core/workspace.ts';
import { isOfMount } from '../sandbox/resolveReadPath.ts';
import { ripgrep } from './ripgrep.ts';
import { searchRoots, workspacePath } from './searchRoots.ts';
import { virtualFilesBelow } from './virtualWalk.ts';

/**
 * Reports the files below a path (default: all folders) except ignored ones, as workspace paths, until `onName` returns false. Resolves to
 * true if truncated.
 */
export async function namesBelow(
  workspace: Workspace,
  path: string | undefined,
  onName: (path: string) => boolean,
  signal: AbortSignal,
  inOrder = false,
): Promise<{ cut: boolean }> {
  let isCut = false;
  if (workspace.virtual && !isOfMount(workspace, path)) {
    const { files, cut } = await virtualFilesBelow(workspace.virtual, path, signal);
    return { cut: files.some((file) => !onName(file.path)) || cut !== undefined };
  }
  const options = ['--files', ...(inOrder ? ['--sort=path'] : [])];
  for (const place of await searchRoots(workspace, path)) {
    const onLine = (name: string) => {
      const path = workspacePath(place, name);
      return isInLeftover(path) || onName(path);
    };
    isCut = (await ripgrep(workspace, place, options, onLine, signal)).cut || isCut;
  }
  return { cut: isCut };
}
