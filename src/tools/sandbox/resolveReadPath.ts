import { withoutProject } from '../core/pathSyntax.ts';
import type { Workspace } from '../core/workspace.ts';
import { type ResolvedPath, relativeTo, resolvePath } from './paths.ts';
import { relativeOfAddress, resolveVirtual, type VirtualOperation } from './virtual.ts';

type Folders = Pick<Workspace, 'roots' | 'virtual'>;

/** `resolvePath` for read-only tools, including virtual folders. Tools with side effects must not use this function. */
export function resolveToRead(workspace: Folders, input: string, operation: VirtualOperation): Promise<ResolvedPath> {
  const { virtual, roots } = workspace;
  return virtual && !isOfMount(workspace, input)
    ? resolveVirtual(virtual, withoutProject(roots, input), operation)
    : resolvePath(roots, input, operation);
}

export async function relativeIn(workspace: Folders, path: string): Promise<string | undefined> {
  const { virtual, roots } = workspace;
  return (virtual && relativeOfAddress(virtual, path)) ?? relativeTo(roots, path);
}

/** Tests for a mount of the run (`@pkg/…`), which is on disk even if the folders are virtual. */
export const isOfMount = ({ roots }: Pick<Workspace, 'roots'>, input: string | undefined): boolean => {
  const [begin] = (input ?? '').split('/');
  return roots.some(({ mount, name }) => mount !== undefined && name === begin);
};
