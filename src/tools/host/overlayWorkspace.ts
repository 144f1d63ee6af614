import type { FileChange } from '../core/tool.ts';
import type { Workspace } from '../core/workspace.ts';

/** Workspace with planned changes applied, only for planning. */
export function workspaceAfter(workspace: Workspace, changes: readonly FileChange[]): Workspace {
  const texts = new Map(changes.map(({ realPath, after }) => [realPath, after]));
  const refuse = () => Promise.reject(new Error('This workspace is only thought of.'));
  return Object.create(workspace, {
    openText: { value: (path: string) => texts.get(path) ?? workspace.openText(path) },
    isDirty: { value: (path: string) => !texts.has(path) && workspace.isDirty(path) },
    writeText: { value: refuse },
    delete: { value: refuse },
  }) as Workspace;
}
