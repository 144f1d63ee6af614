import * as paths from 'node:path';
import { hasLeftoverTempSegment } from '../core/tempFiles.ts';
import { createReadOnlyTool, type ToolContext } from '../core/tool.ts';
import { fsSearchDefinition } from '../definitions/fileTools.ts';
import { secretFileReason } from '../policy/secretFiles.ts';
import { isRunMountPath } from '../sandbox/resolveReadPath.ts';
import { fileContainsSecretsSync } from '../sandbox/secretContent.ts';
import { planReadApproval } from './askToRead.ts';
import { grepEscapeHint } from './escapeHint.ts';
import { createFileGlob } from './fileGlob.ts';
import { type FoundLine, formatGrepLine, LineMatches } from './matchLines.ts';
import { runRipgrep, withRipgrepExclusions } from './ripgrep.ts';
import { type SearchRoot, searchRoots, toWorkspacePath } from './searchRoots.ts';
import { ignoredFilesNote, ignoredFolderNote, isFolderIgnored, noIgnoreOption } from './skippedFiles.ts';
import { type FileSearch, firstSortedHits } from './sortedResults.ts';
import { searchVirtualFiles } from './virtualSearch.ts';

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
export const fsSearchTool = createReadOnlyTool(fsSearchDefinition, search, (args, context) =>
  askToSearch(args, context),
);

async function askToSearch(args: SearchArguments, context: ToolContext) {
  // Inside an open folder, only a too broad root needs an approval; the search itself refuses secret files.
  const isVirtual = context.workspace.virtual && !isRunMountPath(context.workspace, args.path);
  if (!isVirtual) await searchRoots(context.workspace, args.path);
  return planReadApproval(args.path, 'search', context, (context) => search(args, context));
}

async function search(args: SearchArguments, context: ToolContext) {
  const { workspace, signal, searchExclusionTest } = context;
  if (workspace.virtual && !isRunMountPath(workspace, args.path))
    return searchVirtualFiles(workspace.virtual, args, context);
  const glob = await createFileGlob(workspace, args.glob);
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
  const roots = await searchRoots(workspace, args.path);
  const exclusionTests = new Map(roots.map((root) => [root, searchExclusionTest(toWorkspacePath(root, root.target))]));
  const wanted = (path: string, root: SearchRoot) => {
    const below = path.slice(root.prefix.length);
    const isFree =
      !secretFileReason(below.split('/')) && !hasLeftoverTempSegment(below) && !exclusionTests.get(root)!(path);
    return isFree && glob.matches(path, below);
  };
  const look = async (more: string[]) => {
    const found = new LineMatches();
    for (const root of roots) {
      if (found.cut) break;
      const { hits, cut } = await withRipgrepExclusions(glob.limits(root), (limits) => {
        const run: FileSearch<FoundLine>['run'] = ({ inOrder, beyond, onHit, signal }) => {
          const sorted = inOrder ? ['--sort=path'] : [];
          const onLine = reader(root, (path) => !beyond(path) && wanted(path, root), onHit);
          return runRipgrep(workspace, root, [...options, ...more, ...sorted, ...limits], onLine, signal);
        };
        return firstSortedHits({ run, taking }, signal);
      });
      found.cut = hits.some((hit) => !found.add(hit)) || cut;
    }
    return found;
  };
  let found = await look([]);
  const isIgnored =
    found.matches === 0 && args.path !== undefined && (await isFolderIgnored(workspace, roots[0]!, signal));
  if (isIgnored) found = await look([noIgnoreOption]);
  await searchRoots(workspace, args.path); // refuses a link that leads out of the workspace since
  const more = `Only the first ${found.matches} matches. Narrow the pattern, or give a path or glob.`;
  const notes = [
    ...(isIgnored ? [ignoredFolderNote(args.path!)] : []),
    ...(found.matches === 0 && !isIgnored ? [await nothing()] : []),
    ...(found.matches === 0 ? grepEscapeHint(args) : []),
  ];
  return {
    matches: found.matches,
    files: found.files,
    ...(notes.length > 0 && { note: notes.join(' ') }),
    ...(found.cut && { cut: more }),
  };

  /** Explains an empty result. Ignored files are not checked for a whole workspace without a glob: every workspace has some. */
  async function nothing(): Promise<string> {
    const heading = 'Nothing matches in the files';
    const isNarrow = args.glob !== undefined || roots.some(({ target }) => target !== './');
    return isNarrow
      ? ignoredFilesNote(heading, workspace, roots, { glob, wanted }, signal)
      : `${heading}; ignored ones are left out.`;
  }
}

function reader(root: SearchRoot, wanted: (path: string) => boolean, onHit: (hit: FoundLine) => boolean) {
  let path: string | undefined;
  return (json: string): boolean => {
    const begins = json.startsWith('{"type":"begin"');
    if (!begins && path === undefined) return true; // of an unwanted file
    const { type, data } = JSON.parse(json) as RipgrepEvent;
    if (begins) {
      const { text: named } = data.path; // absent if not UTF-8: the secret check and later reads would be impossible
      const whole = named === undefined ? undefined : toWorkspacePath(root, named);
      path =
        whole !== undefined && wanted(whole) && !fileContainsSecretsSync(paths.join(root.folder, named!))
          ? whole
          : undefined;
      return true;
    }
    if (path === undefined || (type !== 'match' && type !== 'context')) return true;
    const text = textOf(data.lines);
    const isMatch = type === 'match';
    return onHit({ path, isMatch, line: formatGrepLine(data.line_number, text, isMatch, data.submatches?.[0]?.start) });
  };
}

// Returns the line, decoded as UTF-8 where possible; a binary file is searched only if named.
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
