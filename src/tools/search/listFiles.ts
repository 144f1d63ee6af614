import { hasLeftoverTempSegment } from '../core/tempFiles.ts';
import type { Workspace } from '../core/workspace.ts';
import { isRunMountPath } from '../sandbox/resolveReadPath.ts';
import { runRipgrep } from './ripgrep.ts';
import { searchRoots, toWorkspacePath } from './searchRoots.ts';
import { virtualFilesBelow } from './virtualWalk.ts';

/**
 * Reports the files below a path (default: all folders) except ignored ones, as workspace paths, until `onName` returns false. Resolves to
 * true if truncated.
 */
export async function listFilesBelow(
  workspace: Workspace,
  path: string | undefined,
  onName: (path: string) => boolean,
  signal: AbortSignal,
  inOrder = false,
): Promise<{ cut: boolean }> {
  let isCut = false;
  if (workspace.virtual && !isRunMountPath(workspace, path)) {
    const { files, cut } = await virtualFilesBelow(workspace.virtual, path, signal);
    return { cut: files.some((file) => !onName(file.path)) || cut !== undefined };
  }
  const options = ['--files', ...(inOrder ? ['--sort=path'] : [])];
  for (const root of await searchRoots(workspace, path)) {
    const onLine = (name: string) => {
      const path = toWorkspacePath(root, name);
      return hasLeftoverTempSegment(path) || onName(path);
    };
    isCut = (await runRipgrep(workspace, root, options, onLine, signal)).cut || isCut;
  }
  return { cut: isCut };
}
