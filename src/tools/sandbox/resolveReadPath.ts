import { stripProjectMount } from '../core/pathSyntax.ts';
import type { Workspace } from '../core/workspace.ts';
import { type ResolvedPath, resolvePath, workspaceRelativePath } from './paths.ts';
import { resolveVirtualPath, type VirtualOperation, workspacePathOfUri } from './virtual.ts';

type Folders = Pick<Workspace, 'roots' | 'virtual'>;

/** `resolvePath` for read-only tools, including virtual folders. Tools with side effects must not use this function. */
export function resolvePathForReading(
  workspace: Folders,
  input: string,
  operation: VirtualOperation,
): Promise<ResolvedPath> {
  const { virtual, roots } = workspace;
  return virtual && !isRunMountPath(workspace, input)
    ? resolveVirtualPath(virtual, stripProjectMount(roots, input), operation)
    : resolvePath(roots, input, operation);
}

export async function realOrVirtualRelativePath(workspace: Folders, path: string): Promise<string | undefined> {
  const { virtual, roots } = workspace;
  return (virtual && workspacePathOfUri(virtual, path)) ?? workspaceRelativePath(roots, path);
}

/** Tests for a mount of the run (`@pkg/…`), which is on disk even if the folders are virtual. */
export const isRunMountPath = ({ roots }: Pick<Workspace, 'roots'>, input: string | undefined): boolean => {
  const [begin] = (input ?? '').split('/');
  return roots.some(({ mount, name }) => mount !== undefined && name === begin);
};
