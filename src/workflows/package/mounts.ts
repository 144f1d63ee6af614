import { mkdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { createPathRefusal } from '../../tools/core/pathSyntax.ts';
import { ToolError } from '../../tools/core/tool.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import { removeTree } from '../../tools/sandbox/fileTree.ts';
import { writeOwnFile } from '../../tools/sandbox/writeFile.ts';
import type { PackageRunStateDocument } from './document.ts';
import { mergePackageRunState } from './update.ts';

interface MountOptions {
  by?: 'model' | 'person';
  maxWriteBytes?(): number | undefined;
}

/**
 * Creates the workspace of a package run: open folders (`@project`), package (`@pkg`, read-only) and the run's folder (`@state`). `landed`
 * is awaited after a write to the state document.
 */
export function createMountedWorkspace(
  project: Workspace,
  packageFolder: string,
  document: PackageRunStateDocument | undefined,
  landed: () => Promise<void>,
  { by = 'model', maxWriteBytes = () => undefined }: MountOptions = {},
): Workspace {
  const isOwn = (file: string) => document !== undefined && file.startsWith(document.folder + path.sep);
  const isMounted = (file: string) => isOwn(file) || file.startsWith(packageFolder + path.sep);
  const workspace: Workspace = {
    get roots() {
      const mounts = [{ name: '@pkg', path: packageFolder, mount: 'read' as const }];
      const own = document ? [{ name: '@state', path: document.folder, mount: 'run' as const }] : [];
      return [...project.roots, ...mounts, ...own];
    },
    get virtual() {
      return project.virtual;
    },
    get trusted() {
      return project.trusted;
    },
    ripgrep: project.ripgrep,
    // mounted files are always read from disk, not from an editor
    openText: (file) => (isMounted(file) ? undefined : project.openText(file)),
    isDirty: (file) => !isMounted(file) && project.isDirty(file),
    watchProblems: (file) => (isMounted(file) ? undefined : project.watchProblems?.(file)),
    async writeText(file, text, before, options) {
      const most = maxWriteBytes();
      if (most !== undefined && Buffer.byteLength(text) > most)
        throw new ToolError('E_WRITE_LIMIT', `This agent writes ${most} bytes at most. Nothing was written.`);
      if (!isOwn(file)) return project.writeText(file, text, before, options);
      if (document!.isAt(file)) {
        await (by === 'model' ? document!.write(text, options?.drops) : document!.restore(text));
        await landed();
      } else await writeOwnFile(file, text);
      return text;
    },
    mergeFrontmatter: (file, before, update) =>
      document?.isAt(file) ? mergePackageRunState(before, update) : undefined,
    async move(from, to) {
      if (!isOwn(from) && !isOwn(to)) return project.move(from, to);
      if (!isOwn(from) || !isOwn(to))
        throw createPathRefusal('STATE', 'Nothing moves into or out of @state. Write it there.');
      if (document!.isAt(from) || document!.isAt(to))
        throw createPathRefusal('STATE', 'The state document stays where it is.');
      await mkdir(path.dirname(to), { recursive: true, mode: 0o700 });
      await rename(from, to);
    },
    unsavedIn: (folder) => (isMounted(folder) ? [] : project.unsavedIn(folder)),
    async delete(file, listed) {
      if (!isOwn(file)) return project.delete(file, listed);
      if (document!.isAt(file)) throw createPathRefusal('STATE', 'The state document cannot be deleted.');
      await removeTree(file, listed);
    },
  };
  return workspace;
}
