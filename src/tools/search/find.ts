import { nearest } from '../core/didYouMean.ts';
import { isInLeftover } from '../core/tempFiles.ts';
import { readTool, type ToolContext } from '../core/tool.ts';
import type { Workspace } from '../core/workspace.ts';
import { findDefinition } from '../definitions/fileTools.ts';
import { isOfMount } from '../sandbox/resolveReadPath.ts';
import { askToRead } from './askToRead.ts';
import { fileGlob } from './fileGlob.ts';
import { ripgrep, withLimits } from './ripgrep.ts';
import { type SearchRoot, searchRoots, workspacePath } from './searchRoots.ts';
import { ignoredWhole, isIgnoredWhole, leftOutNote, withIgnored } from './skippedFiles.ts';
import { firstInOrder, type Hit, type Search } from './sortedResults.ts';
import { findVirtual } from './virtualFiles.ts';

interface FindArguments {
  pattern: string;
  path?: string;
}

const maximumFiles = 500;
/** Maximum files to check for similar names. */
const maximumOthers = 3000;

export const findTool = readTool(findDefinition, find, (args, context) =>
  askToRead(args.path, 'search', context, (context) => find(args, context)),
);

async function find({ pattern, path }: FindArguments, { workspace, signal }: ToolContext) {
  if (workspace.virtual && !isOfMount(workspace, path))
    return findVirtual(workspace.virtual, { pattern, path }, signal);
  const glob = await fileGlob(workspace, pattern);
  const wanted = (path: string, place: SearchRoot) =>
    glob.matches(path, path.slice(place.prefix.length)) && !isInLeftover(path);
  const places = await searchRoots(workspace, path);
  const look = async (more: string[]) => {
    const found: Hit[] = [];
    let cut = false;
    for (const place of places) {
      if (found.length > maximumFiles) break;
      const { hits, cut: early } = await withLimits(glob.limits(place), (limits) => {
        const run: Search<Hit>['run'] = ({ inOrder, beyond, onHit, signal }) => {
          const options = ['--files', ...more, ...(inOrder ? ['--sort=path'] : []), ...limits];
          const onName = (name: string) => {
            const path = workspacePath(place, name);
            return beyond(path) || !wanted(path, place) || onHit({ path });
          };
          return ripgrep(workspace, place, options, onName, signal);
        };
        return firstInOrder({ run, taking: () => atMost(maximumFiles) }, signal);
      });
      found.push(...hits);
      cut ||= early;
    }
    return { found, cut };
  };
  let { found, cut } = await look([]);
  const isIgnored = found.length === 0 && path !== undefined && (await isIgnoredWhole(workspace, places[0]!, signal));
  if (isIgnored) ({ found, cut } = await look([withIgnored]));
  await searchRoots(workspace, path); // refuses a link that leads out of the workspace since
  const files = glob
    .preferred(found)
    .slice(0, maximumFiles)
    .map((hit) => hit.path);
  const notes = [
    ...(isIgnored ? [ignoredWhole(path!)] : []),
    ...(files.length === 0
      ? [
          await leftOutNote('No file matches', workspace, places, { glob, wanted }, signal),
          ...(await slips(pattern, places, workspace, signal)),
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
  places: readonly SearchRoot[],
  workspace: Workspace,
  signal: AbortSignal,
): Promise<string[]> {
  const name = pattern.split('/').at(-1)!;
  const names = new Map<string, string>();
  const take = atMost(maximumOthers - 1);
  for (const place of /[*?]/.test(name) ? [] : places) {
    const onName = (name: string) => {
      const path = workspacePath(place, name);
      if (!isInLeftover(path)) names.set(path.slice(path.lastIndexOf('/') + 1), path);
      return take();
    };
    await ripgrep(workspace, place, ['--files', '--sort=path'], onName, signal);
  }
  const near = nearest(name, names.keys()).map((slip) => JSON.stringify(names.get(slip)));
  return near.length > 0 ? [`Did you mean ${near.join(' or ')}?`] : [];
}
