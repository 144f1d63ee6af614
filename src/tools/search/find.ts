import { closestNames } from '../core/didYouMean.ts';
import { hasLeftoverTempSegment } from '../core/tempFiles.ts';
import { createReadOnlyTool, type ToolContext } from '../core/tool.ts';
import type { Workspace } from '../core/workspace.ts';
import { fsFindDefinition } from '../definitions/fileTools.ts';
import { isRunMountPath } from '../sandbox/resolveReadPath.ts';
import { planReadApproval } from './askToRead.ts';
import { createFileGlob } from './fileGlob.ts';
import { runRipgrep, withRipgrepExclusions } from './ripgrep.ts';
import { type SearchRoot, searchRoots, toWorkspacePath } from './searchRoots.ts';
import { ignoredFilesNote, ignoredFolderNote, isFolderIgnored, noIgnoreOption } from './skippedFiles.ts';
import { type FileSearch, firstSortedHits, type SearchHit } from './sortedResults.ts';
import { findVirtualFiles } from './virtualFiles.ts';

interface FindArguments {
  pattern: string;
  path?: string;
}

const maximumFiles = 500;
const maximumOthers = 3000;

export const fsFindTool = createReadOnlyTool(fsFindDefinition, find, (args, context) =>
  planReadApproval(args.path, 'search', context, (context) => find(args, context)),
);

async function find({ pattern, path }: FindArguments, { workspace, signal }: ToolContext) {
  if (workspace.virtual && !isRunMountPath(workspace, path))
    return findVirtualFiles(workspace.virtual, { pattern, path }, signal);
  const glob = await createFileGlob(workspace, pattern);
  const wanted = (path: string, root: SearchRoot) =>
    glob.matches(path, path.slice(root.prefix.length)) && !hasLeftoverTempSegment(path);
  const roots = await searchRoots(workspace, path);
  const look = async (more: string[]) => {
    const found: SearchHit[] = [];
    let cut = false;
    for (const root of roots) {
      if (found.length > maximumFiles) break;
      const { hits, cut: early } = await withRipgrepExclusions(glob.limits(root), (limits) => {
        const run: FileSearch<SearchHit>['run'] = ({ inOrder, beyond, onHit, signal }) => {
          const options = ['--files', ...more, ...(inOrder ? ['--sort=path'] : []), ...limits];
          const onName = (name: string) => {
            const path = toWorkspacePath(root, name);
            return beyond(path) || !wanted(path, root) || onHit({ path });
          };
          return runRipgrep(workspace, root, options, onName, signal);
        };
        return firstSortedHits({ run, taking: () => atMost(maximumFiles) }, signal);
      });
      found.push(...hits);
      cut ||= early;
    }
    return { found, cut };
  };
  let { found, cut } = await look([]);
  const isIgnored = found.length === 0 && path !== undefined && (await isFolderIgnored(workspace, roots[0]!, signal));
  if (isIgnored) ({ found, cut } = await look([noIgnoreOption]));
  await searchRoots(workspace, path); // refuses a link that leads out of the workspace since
  const files = glob
    .preferred(found)
    .slice(0, maximumFiles)
    .map((hit) => hit.path);
  const notes = [
    ...(isIgnored ? [ignoredFolderNote(path!)] : []),
    ...(files.length === 0
      ? [
          await ignoredFilesNote('No file matches', workspace, roots, { glob, wanted }, signal),
          ...(await slips(pattern, roots, workspace, signal)),
        ]
      : []),
  ];
  return {
    files,
    ...(notes.length > 0 && { note: notes.join(' ') }),
    ...((cut || found.length > maximumFiles) && {
      cut: `More than ${maximumFiles} files or too slow; narrow the pattern or give a path.`,
    }),
  };
}

const atMost = (most: number) => {
  let taken = 0;
  return () => ++taken <= most;
};

async function slips(
  pattern: string,
  roots: readonly SearchRoot[],
  workspace: Workspace,
  signal: AbortSignal,
): Promise<string[]> {
  const name = pattern.split('/').at(-1)!;
  const names = new Map<string, string>();
  const take = atMost(maximumOthers - 1);
  for (const root of /[*?]/.test(name) ? [] : roots) {
    const onName = (name: string) => {
      const path = toWorkspacePath(root, name);
      if (!hasLeftoverTempSegment(path)) names.set(path.slice(path.lastIndexOf('/') + 1), path);
      return take();
    };
    await runRipgrep(workspace, root, ['--files', '--sort=path'], onName, signal);
  }
  const near = closestNames(name, names.keys()).map((slip) => JSON.stringify(names.get(slip)));
  return near.length > 0 ? [`Did you mean ${near.join(' or ')}?`] : [];
}
