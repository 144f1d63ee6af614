import * as paths from 'node:path';
import { isInLeftover } from '../core/tempFiles.ts';
import { readTool, type ToolContext } from '../core/tool.ts';
import { searchDefinition } from '../definitions/fileTools.ts';
import { secretReason } from '../policy/secretFiles.ts';
import { isOfMount } from '../sandbox/resolveReadPath.ts';
import { holdsSecretsNow } from '../sandbox/secretContent.ts';
import { askToRead } from './askToRead.ts';
import { escapeHint } from './escapeHint.ts';
import { fileGlob } from './fileGlob.ts';
import { type FoundLine, LineMatches, shownLine } from './matchLines.ts';
import { ripgrep, withLimits } from './ripgrep.ts';
import { type SearchRoot, searchRoots, workspacePath } from './searchRoots.ts';
import { ignoredWhole, isIgnoredWhole, leftOutNote, withIgnored } from './skippedFiles.ts';
import { firstInOrder, type Search } from './sortedResults.ts';
import { searchVirtual } from './virtualSearch.ts';

interface SearchArguments {
  pattern: string;
  path?: string;
  glob?: string;
  fixed?: boolean;
  ignoreCase?: boolean;
  context?: number;
}

/**
 * `fs.search`: text in files. Data: `{ matches, files: [{ path, lines: string[] }], note?, cut? }`; a line is `12: text` for a match and
 * `11- text` for context, like grep.
 */
export const searchTool = readTool(searchDefinition, search, (args, context) => askToSearch(args, context));

async function askToSearch(args: SearchArguments, context: ToolContext) {
  // Inside an open folder, only a too broad root needs an approval; the search itself refuses secret files.
  const isVirtual = context.workspace.virtual && !isOfMount(context.workspace, args.path);
  if (!isVirtual) await searchRoots(context.workspace, args.path);
  return askToRead(args.path, 'search', context, (context) => search(args, context));
}

async function search(args: SearchArguments, context: ToolContext) {
  const { workspace, signal, keptFromSearch } = context;
  if (workspace.virtual && !isOfMount(workspace, args.path)) return searchVirtual(workspace.virtual, args, context);
  const glob = await fileGlob(workspace, args.glob);
  const options = [
    '--json',
    `--regexp=${args.pattern}`,
    '--max-filesize=5M',
    ...(args.fixed ? ['--fixed-strings'] : []),
    ...(args.ignoreCase ? ['--ignore-case'] : []),
    ...(args.context ? [`--context=${args.context}`] : []),
  ];
  const taking = () => {
    const found = new LineMatches();
    return (hit: FoundLine) => found.add(hit);
  };
  const places = await searchRoots(workspace, args.path);
  const isKeptIn = new Map(places.map((place) => [place, keptFromSearch(workspacePath(place, place.target))]));
  const wanted = (path: string, place: SearchRoot) => {
    const below = path.slice(place.prefix.length);
    const isFree = !secretReason(below.split('/')) && !isInLeftover(below) && !isKeptIn.get(place)!(path);
    return isFree && glob.matches(path, below);
  };
  const look = async (more: string[]) => {
    const found = new LineMatches();
    for (const place of places) {
      if (found.cut) break;
      const { hits, cut } = await withLimits(glob.limits(place), (limits) => {
        const run: Search<FoundLine>['run'] = ({ inOrder, beyond, onHit, signal }) => {
          const sorted = inOrder ? ['--sort=path'] : [];
          const onLine = reader(place, (path) => !beyond(path) && wanted(path, place), onHit);
          return ripgrep(workspace, place, [...options, ...more, ...sorted, ...limits], onLine, signal);
        };
        return firstInOrder({ run, taking }, signal);
      });
      found.cut = hits.some((hit) => !found.add(hit)) || cut;
    }
    return found;
  };
  let found = await look([]);
  const isIgnored =
    found.matches === 0 && args.path !== undefined && (await isIgnoredWhole(workspace, places[0]!, signal));
  if (isIgnored) found = await look([withIgnored]);
  await searchRoots(workspace, args.path); // refuses a link that leads out of the workspace since
  const more = `Only the first ${found.matches} matches. Narrow the pattern, or give a path or glob.`;
  const notes = [
    ...(isIgnored ? [ignoredWhole(args.path!)] : []),
    ...(found.matches === 0 && !isIgnored ? [await nothing()] : []),
    ...(found.matches === 0 ? escapeHint(args) : []),
  ];
  return {
    matches: found.matches,
    files: found.files,
    ...(notes.length > 0 && { note: notes.join(' ') }),
    ...(found.cut && { cut: more }),
  };

  /** Explains an empty result. Ignored files are not checked for a whole workspace without a glob: every workspace has some. */
  async function nothing(): Promise<string> {
    const said = 'Nothing matches in the files';
    const isNarrow = args.glob !== undefined || places.some(({ target }) => target !== './');
    return isNarrow
      ? leftOutNote(said, workspace, places, { glob, wanted }, signal)
      : `${said}; ignored ones are left out.`;
  }
}

function reader(place: SearchRoot, wanted: (path: string) => boolean, onHit: (hit: FoundLine) => boolean) {
  let path: string | undefined;
  return (json: string): boolean => {
    const begins = json.startsWith('{"type":"begin"');
    if (!begins && path === undefined) return true; // of an unwanted file
    const { type, data } = JSON.parse(json) as RipgrepEvent;
    if (begins) {
      const { text: named } = data.path; // absent if not UTF-8: the secret check and later reads would be impossible
      const whole = named === undefined ? undefined : workspacePath(place, named);
      path =
        whole !== undefined && wanted(whole) && !holdsSecretsNow(paths.join(place.folder, named!)) ? whole : undefined;
      return true;
    }
    if (path === undefined || (type !== 'match' && type !== 'context')) return true;
    const text = textOf(data.lines);
    const isMatch = type === 'match';
    return onHit({ path, isMatch, line: shownLine(data.line_number, text, isMatch, data.submatches?.[0]?.start) });
  };
}

/** Returns the line, decoded as UTF-8 where possible; a binary file is searched only if named. */
function textOf({ text, bytes }: RipgrepEvent['data']['lines']): string {
  const line = (text ?? Buffer.from(bytes ?? '', 'base64').toString('utf8')).replace(/\r?\n$/, '');
  return line.includes('\0') ? '(binary)' : line;
}

interface RipgrepEvent {
  type: string;
  data: {
    path: { text?: string };
    lines: { text?: string; bytes?: string };
    line_number: number;
    submatches?: { start: number }[];
  };
}
