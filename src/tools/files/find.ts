import { findDefinition } from '../definitions/fileTools.ts';
import { isOfMount } from '../gate/anywhere.ts';
import { isInLeftover } from '../gate/leftovers.ts';
import { nearest } from '../nearest.ts';
import { readTool, type ToolContext } from '../tool.ts';
import { findVirtual } from '../virtual/look.ts';
import type { Workspace } from '../workspace.ts';
import { askToRead } from './ask.ts';
import { globTest } from './glob.ts';
import { globLimits } from './globLimits.ts';
import { firstInOrder, type Hit, type Search } from './ordered.ts';
import { type SearchPlace, searchPlaces, workspacePath } from './places.ts';
import { ripgrep, withLimits } from './ripgrep.ts';

interface FindArguments {
  pattern: string;
  path?: string;
}

const maximumFiles = 500;
/** So many files, the first in order, are looked through for what was meant. */
const maximumOthers = 3000;

/** `fs.find`: files by name. */
export const findTool = readTool(findDefinition, find, (args, context) =>
  askToRead(args.path, 'search', context, (context) => find(args, context)),
);

async function find({ pattern, path }: FindArguments, { workspace, signal }: ToolContext) {
  if (workspace.virtual && !isOfMount(workspace, path))
    return findVirtual(workspace.virtual, { pattern, path }, signal);
  const matches = globTest(pattern);
  const found: string[] = [];
  let cut = false;
  const places = await searchPlaces(workspace, path);
  for (const place of places) {
    if (found.length > maximumFiles) break;
    const { hits, cut: early } = await withLimits(globLimits(pattern, place.prefix), (limits) => {
      const run: Search<Hit>['run'] = ({ inOrder, beyond, onHit, signal }) => {
        const options = ['--files', ...(inOrder ? ['--sort=path'] : []), ...limits];
        const onName = (name: string) => {
          const path = workspacePath(place, name);
          if (beyond(path)) return true;
          const isWanted = matches(path) || (place.prefix !== '' && matches(path.slice(place.prefix.length)));
          return !isWanted || isInLeftover(path) || onHit({ path });
        };
        return ripgrep(workspace, place, options, onName, signal);
      };
      return firstInOrder({ run, taking: () => atMost(maximumFiles) }, signal);
    });
    found.push(...hits.map((hit) => hit.path));
    cut ||= early;
  }
  await searchPlaces(workspace, path); // refuses what became a link out of the workspace meanwhile
  const files = found.slice(0, maximumFiles);
  return {
    files,
    ...(files.length === 0 && { note: await nothing(pattern, places, workspace, signal) }),
    ...((cut || found.length > files.length) && {
      cut: `More than ${maximumFiles} files or too slow; narrow the pattern or give a path.`,
    }),
  };
}

const atMost = (most: number) => {
  let taken = 0;
  return () => ++taken <= most;
};

/** With the names that a glob's last one is a slip of. */
async function nothing(
  pattern: string,
  places: readonly SearchPlace[],
  workspace: Workspace,
  signal: AbortSignal,
): Promise<string> {
  const name = pattern.split('/').at(-1)!;
  const names = new Map<string, string>();
  const take = atMost(maximumOthers - 1);
  for (const place of /[*?[{]/.test(name) ? [] : places) {
    const onName = (name: string) => {
      const path = workspacePath(place, name);
      if (!isInLeftover(path)) names.set(path.slice(path.lastIndexOf('/') + 1), path);
      return take();
    };
    await ripgrep(workspace, place, ['--files', '--sort=path'], onName, signal);
  }
  const near = nearest(name, names.keys()).map((slip) => JSON.stringify(names.get(slip)));
  return `No file matches; ignored ones are left out.${near.length > 0 ? ` Did you mean ${near.join(' or ')}?` : ''}`;
}
