import * as paths from 'node:path';
import { searchDefinition } from '../definitions/fileTools.ts';
import { isOfMount } from '../gate/anywhere.ts';
import { isInLeftover } from '../gate/leftovers.ts';
import { holdsSecretsNow } from '../gate/secretContent.ts';
import { secretReason } from '../gate/secrets.ts';
import { readTool, type ToolContext } from '../tool.ts';
import { searchVirtual } from '../virtual/search.ts';
import { askToRead } from './ask.ts';
import { globTest } from './glob.ts';
import { globLimits } from './globLimits.ts';
import { firstInOrder, type Search } from './ordered.ts';
import { type SearchPlace, searchPlaces, workspacePath } from './places.ts';
import { ripgrep, withLimits } from './ripgrep.ts';
import { Found, type FoundLine, shownLine } from './searchLines.ts';

interface SearchArguments {
  pattern: string;
  path?: string;
  glob?: string;
  fixed?: boolean;
  ignoreCase?: boolean;
  context?: number;
}

/**
 * `fs.search`: text in files. Data: `{ matches, files: [{ path, lines: string[] }], cut? }`; a line is `12: text` for a match, `11- text` for context
 * around it, as grep prints them.
 */
export const searchTool = readTool(searchDefinition, search, (args, context) => askToSearch(args, context));

async function askToSearch(args: SearchArguments, context: ToolContext) {
  // Inside an open folder only a root that is too broad asks; a secret file is refused by the search itself.
  const isVirtual = context.workspace.virtual && !isOfMount(context.workspace, args.path);
  if (!isVirtual) await searchPlaces(context.workspace, args.path);
  return askToRead(args.path, 'search', context, (context) => search(args, context));
}

async function search(args: SearchArguments, context: ToolContext) {
  const { workspace, signal, keptFromSearch } = context;
  if (workspace.virtual && !isOfMount(workspace, args.path)) return searchVirtual(workspace.virtual, args, context);
  const matches = args.glob === undefined ? () => true : globTest(args.glob);
  const options = [
    '--json',
    `--regexp=${args.pattern}`,
    '--max-filesize=5M',
    ...(args.fixed ? ['--fixed-strings'] : []),
    ...(args.ignoreCase ? ['--ignore-case'] : []),
    ...(args.context ? [`--context=${args.context}`] : []),
  ];
  const taking = () => {
    const found = new Found();
    return (hit: FoundLine) => found.add(hit);
  };
  const found = new Found();
  for (const place of await searchPlaces(workspace, args.path)) {
    if (found.cut) break;
    const isKept = keptFromSearch(workspacePath(place, place.target));
    const wanted = (path: string) => {
      const below = path.slice(place.prefix.length);
      const isFree = !secretReason(below.split('/')) && !isInLeftover(below) && !isKept(path);
      return isFree && (matches(path) || matches(below));
    };
    const limits = args.glob === undefined ? { options: [] } : globLimits(args.glob, place.prefix);
    const { hits, cut } = await withLimits(limits, (limits) => {
      const run: Search<FoundLine>['run'] = ({ inOrder, beyond, onHit, signal }) => {
        const sorted = inOrder ? ['--sort=path'] : [];
        const onLine = reader(place, (path) => !beyond(path) && wanted(path), onHit);
        return ripgrep(workspace, place, [...options, ...sorted, ...limits], onLine, signal);
      };
      return firstInOrder({ run, taking }, signal);
    });
    found.cut = hits.some((hit) => !found.add(hit)) || cut;
  }
  await searchPlaces(workspace, args.path); // refuses what became a link out of the workspace meanwhile
  const more = `Only the first ${found.matches} matches. Narrow the pattern, or give a path or glob.`;
  return { matches: found.matches, files: found.files, ...(found.cut && { cut: more }) };
}

/** What ripgrep's `--json` lines say of files that are wanted. */
function reader(place: SearchPlace, wanted: (path: string) => boolean, onHit: (hit: FoundLine) => boolean) {
  let path: string | undefined;
  return (json: string): boolean => {
    const begins = json.startsWith('{"type":"begin"');
    if (!begins && path === undefined) return true; // of a file that is not wanted
    const { type, data } = JSON.parse(json) as RipgrepEvent;
    if (begins) {
      const { text: named } = data.path; // absent, when it is not UTF-8: nobody could say whether it is a secret, or read on in it
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

/** A line in another encoding is shown as far as it is UTF-8; a binary file was looked into because it was named. */
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
