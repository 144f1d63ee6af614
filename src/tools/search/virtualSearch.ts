import { tmpdir } from 'node:os';
import { createGlobMatcher } from '../core/glob.ts';
import { createPathRefusal } from '../core/pathSyntax.ts';
import type { ToolContext } from '../core/tool.ts';
import type { VirtualFiles } from '../core/workspace.ts';
import { decodeText, linesWithoutEndings } from '../sandbox/fileText.ts';
import { headContainsSecrets } from '../sandbox/secretContent.ts';
import { grepEscapeHint } from './escapeHint.ts';
import { formatGrepLine, LineMatches } from './matchLines.ts';
import { runRipgrep } from './ripgrep.ts';
import { isSecretVirtualFile, type VirtualFile, virtualFilesBelow } from './virtualWalk.ts';

interface VirtualSearch {
  pattern: string;
  path?: string;
  glob?: string;
  fixed?: boolean;
  ignoreCase?: boolean;
  context?: number;
}

// Limits of a search over a remote file system: the first files in order, and a megabyte of each.
const maxFiles = 1000;
const maxBytes = 20 * 1024 * 1024;
const maxOfFile = 1024 * 1024;
const timeLimit = 20_000;
const atOnce = 8;

/**
 * `fs.search` for virtual folders: reads the first files within reported limits and passes all lines to one ripgrep process, for the same
 * patterns as elsewhere and without blocking this thread.
 */
export async function searchVirtualFiles(
  virtual: VirtualFiles,
  args: VirtualSearch,
  { workspace, signal, searchExclusionTest }: ToolContext,
) {
  const walked = await virtualFilesBelow(virtual, args.path, signal);
  const [only] = walked.files;
  if (only && walked.files.length === 1 && only.path === args.path && isSecretVirtualFile(only))
    throw createPathRefusal('SECRET_READ', 'Searches skip files that may hold secrets. fs.read asks the person.');
  const isExcluded = searchExclusionTest(args.path ?? '');
  const matches = args.glob === undefined ? () => true : createGlobMatcher(args.glob, 'either');
  const below = (file: string) => (virtual.folders.length > 1 ? file.slice(file.indexOf('/') + 1) : file);
  const wanted = walked.files.filter(
    (file) => !isSecretVirtualFile(file) && !isExcluded(file.path) && (matches(file.path) || matches(below(file.path))),
  );
  const { read, cut } = await readFirst(virtual, wanted, signal);
  const found = new LineMatches();
  const isCut = await among(read, args, { workspace, signal }, found);
  const more = isCut
    ? `Only the first ${found.matches} matches. Narrow the pattern, or give a path or glob.`
    : undefined;
  const truncationNote = [walked.cut, cut, more].filter((one) => one !== undefined).join(' ');
  const [note] = found.matches === 0 ? grepEscapeHint(args) : [];
  return {
    matches: found.matches,
    files: found.files,
    ...(note && { note }),
    ...(truncationNote && { cut: truncationNote }),
  };
}

interface ReadFile {
  path: string;
  lines: string[];
}

async function readFirst(virtual: VirtualFiles, files: readonly VirtualFile[], signal: AbortSignal) {
  const read: ReadFile[] = [];
  const until = performance.now() + timeLimit;
  let bytes = 0;
  let looked = 0;
  let large = 0;
  while (looked < Math.min(files.length, maxFiles) && bytes < maxBytes && performance.now() < until) {
    signal.throwIfAborted();
    const now = files.slice(looked, Math.min(looked + atOnce, maxFiles));
    looked += now.length;
    const texts = await Promise.all(now.map((file) => textOf(virtual, file)));
    for (const [at, text] of texts.entries()) {
      if (text === 'large') large += 1;
      if (text === undefined || text === 'large') continue;
      bytes += text.bytes;
      if (!headContainsSecrets(text.text)) read.push({ path: now[at]!.path, lines: linesWithoutEndings(text.text) });
    }
  }
  const cut = [
    ...(looked < files.length
      ? [`Looked into the first ${looked} of ${files.length} files: give a path or glob.`]
      : []),
    ...(large > 0 ? [`${large} of over a megabyte were not looked into.`] : []),
  ];
  return { read, ...(cut.length > 0 && { cut: cut.join(' ') }) };
}

async function textOf(
  virtual: VirtualFiles,
  { address }: VirtualFile,
): Promise<{ text: string; bytes: number } | 'large' | undefined> {
  try {
    const found = await virtual.look(address);
    if (found?.kind !== 'file') return undefined;
    if (found.size > maxOfFile) return 'large';
    const bytes = Buffer.from(await virtual.read(address));
    const decoded = decodeText(bytes);
    return decoded && { text: decoded.text, bytes: bytes.length };
  } catch {
    return undefined;
  }
}

async function among(
  files: readonly ReadFile[],
  args: VirtualSearch,
  { workspace, signal }: Pick<ToolContext, 'workspace' | 'signal'>,
  found: LineMatches,
): Promise<boolean> {
  const options = [
    '--json',
    '--text',
    `--regexp=${args.pattern}`,
    ...(args.fixed ? ['--fixed-strings'] : []),
    ...(args.ignoreCase ? ['--ignore-case'] : []),
  ];
  const around = args.context ?? 0;
  let file = 0;
  let before = 0; // number of lines in earlier files
  let lastLine = 0; // last reported line of this file
  let enough = false;
  const give = (line: number, isMatch: boolean, start = 0) => {
    const { path, lines } = files[file]!;
    lastLine = line;
    enough ||= !found.add({ path, isMatch, line: formatGrepLine(line, lines[line - 1]!, isMatch, start) });
  };
  let owed = 0;
  const settle = (upTo: number) => {
    for (let line = lastLine + 1; !enough && line <= Math.min(owed, upTo, files[file]!.lines.length); line++)
      give(line, false);
  };
  const onLine = (json: string): boolean => {
    const { type, data } = JSON.parse(json) as { type: string; data: Matched };
    if (type !== 'match') return true;
    while (data.line_number - before > files[file]!.lines.length) {
      settle(Number.POSITIVE_INFINITY);
      before += files[file]!.lines.length;
      file += 1;
      [lastLine, owed] = [0, 0];
    }
    const line = data.line_number - before;
    settle(line - 1);
    for (let above = Math.max(lastLine + 1, line - around); !enough && above < line; above++) give(above, false);
    if (!enough) give(line, true, data.submatches[0]?.start);
    owed = line + around;
    return !enough;
  };
  const input = files.flatMap(({ lines }) => lines).join('\n');
  const root = { folder: tmpdir(), target: '-', prefix: '' };
  const { cut } = await runRipgrep(workspace, root, options, onLine, signal, input);
  if (!cut && files[file]) settle(Number.POSITIVE_INFINITY);
  return cut || enough;
}

interface Matched {
  line_number: number;
  submatches: { start: number }[];
}
