import type { Dirent } from 'node:fs';
import { lstat, readdir, realpath } from 'node:fs/promises';
import * as paths from 'node:path';
import { createPathRefusal, quoteForMessage } from '../core/pathSyntax.ts';
import { isLeftoverTempFile } from '../core/tempFiles.ts';
import { createReadOnlyTool, type ToolContext, ToolError } from '../core/tool.ts';
import { openFolderRoots, type Workspace } from '../core/workspace.ts';
import { fsListDefinition } from '../definitions/fileTools.ts';
import { errnoToToolError, type ResolvedPath, resolvePath } from '../sandbox/paths.ts';
import { isRunMountPath } from '../sandbox/resolveReadPath.ts';
import { planReadApproval } from './askToRead.ts';
import { runRipgrep } from './ripgrep.ts';
import { isWholeWorkspacePath, searchRoots } from './searchRoots.ts';
import { listVirtualFolder } from './virtualFiles.ts';

interface Entry {
  name: string;
  kind: 'file' | 'folder' | 'link' | 'other';
  size?: number;
  /** Ignore files hide the entry from `fs.find` and `fs.search`. */
  ignored?: true;
}

const maximumEntries = 500;

export const fsListTool = createReadOnlyTool(fsListDefinition, list, (args, context) =>
  planReadApproval(args.path, 'list', context, (context) => list(args, context)),
);

async function list({ path }: { path?: string }, { workspace, signal }: ToolContext) {
  if (workspace.virtual && !isRunMountPath(workspace, path)) return listVirtualFolder(workspace.virtual, path);
  const folders = openFolderRoots(workspace.roots);
  if (folders.length > 1 && isWholeWorkspacePath(path)) {
    return { path: '.', entries: folders.map(({ name }) => ({ name, kind: 'folder' as const })) };
  }
  const folder = await resolvePath(workspace.roots, path ?? '.', 'list');
  const found = await entriesOf(folder);
  const entries = found.slice(0, maximumEntries);
  await Promise.all(entries.map((entry) => measure(folder, entry)));
  if ((await realpath(folder.path).catch(() => undefined)) !== folder.path)
    throw createPathRefusal(
      'SYMLINK_ESCAPE',
      `${quoteForMessage(folder.relative)} became a link while it was being listed.`,
    );
  await markIgnored(workspace, folder, entries, signal);
  return {
    path: folder.relative,
    entries,
    ...(found.length > entries.length && {
      cut: `${entries.length} of ${found.length} entries. Use fs.find with a pattern for the rest.`,
    }),
  };
}

async function entriesOf(folder: ResolvedPath): Promise<Entry[]> {
  const found = await readdir(folder.path, { withFileTypes: true }).catch((error) => {
    throw errnoToToolError(error, folder.relative);
  });
  const order = { folder: 0, file: 1, link: 1, other: 1 };
  return found
    .filter(({ name }) => !isLeftoverTempFile(name))
    .map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
    .sort((a, b) => order[a.kind] - order[b.kind] || (a.name < b.name ? -1 : 1));
}

function kindOf(entry: Dirent): Entry['kind'] {
  if (entry.isDirectory()) return 'folder';
  if (entry.isFile()) return 'file';
  return entry.isSymbolicLink() ? 'link' : 'other';
}

// Measures files only: the size of a link's target may be outside of the workspace.
async function measure(folder: ResolvedPath, entry: Entry): Promise<void> {
  if (entry.kind !== 'file') return;
  const stats = await lstat(paths.join(folder.path, entry.name)).catch(() => undefined);
  if (stats?.isFile()) entry.size = stats.size;
}

// Marks entries without files visible to ripgrep. Without ripgrep, or in a large folder, nothing is marked.
async function markIgnored(workspace: Workspace, folder: ResolvedPath, entries: Entry[], signal: AbortSignal) {
  const unseen = new Map(entries.map((entry) => [entry.name, entry]));
  const [root] = await searchRoots(workspace, folder.relative);
  let budget = 50_000;
  const onLine = (line: string) => {
    const below = paths.relative(folder.path, paths.join(root!.folder, line));
    unseen.delete(below.split(paths.sep)[0]!);
    budget -= 1;
    return unseen.size > 0 && budget > 0;
  };
  try {
    await runRipgrep(workspace, root!, ['--files'], onLine, signal);
  } catch (error) {
    if (error instanceof ToolError) return;
    throw error;
  }
  if (budget === 0) return;
  for (const entry of unseen.values()) {
    if (
      entry.kind === 'file' ||
      (entry.kind === 'folder' && entry.name !== '.git' && (await holdsFiles(folder, entry)))
    )
      entry.ignored = true;
  }
}

// Distinguishes an empty folder from an ignored folder.
const holdsFiles = async (folder: ResolvedPath, entry: Entry) =>
  (await readdir(paths.join(folder.path, entry.name)).catch(() => [])).length > 0;
