import { withoutProject } from '../core/pathSyntax.ts';
import type { Workspace } from '../core/workspace.ts';
import { type ResolvedPath, relativeTo, resolvePath } from './paths.ts';
import { relativeOfAddress, resolveVirtual, type VirtualOperation } from './virtual.ts';

type Folders = Pick<Workspace, 'roots' | 'virtual'>;

/** `resolvePath` for what only reads: also where the editor alone reaches. What changes anything does not ask here. */
export function resolveToRead(workspace: Folders, input: string, operation: VirtualOperation): Promise<ResolvedPath> {
  const { virtual, roots } = workspace;
  return virtual && !isOfMount(workspace, input)
    ? resolveVirtual(virtual, withoutProject(roots, input), operation)
    : resolvePath(roots, input, operation);
}

/** The workspace-relative form of a real path or an address. */
export async function relativeIn(workspace: Folders, path: string): Promise<string | undefined> {
  const { virtual, roots } = workspace;
  return (virtual && relativeOfAddress(virtual, path)) ?? relativeTo(roots, path);
}

/** A place of the run's own (`@pkg/…`) is on a disk, whatever the window's folders are on. */
export const isOfMount = ({ roots }: Pick<Workspace, 'roots'>, input: string | undefined): boolean => {
  const [begin] = (input ?? '').split('/');
  return roots.some(({ mount, name }) => mount !== undefined && name === begin);
};
