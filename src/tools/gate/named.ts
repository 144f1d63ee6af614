import * as paths from 'node:path';
import type { WorkspaceRoot } from '../workspace.ts';
import { parseCommandLine } from './commandLine.ts';
import { relativeTo, resolvePath } from './paths.ts';
import { isGitInternal, protectedReason, secretReason } from './protected.ts';

/** What the words of a command name, as far as that can be seen without running it. */
export interface Named {
  /** Workspace-relative; of a folder, and of what only begins so (`src/*.ts`), with `/` at the end, the workspace being ''. */
  paths: string[];
  /** Why one of them is a place that is always asked about. */
  protected?: string;
}

/** More is not looked at one by one: such a command counts as one that names the whole workspace. */
const mostPlaces = 1000;

/**
 * The places in the workspace that a command names: every word of it, quotes or not, values of options, too, as a path from the
 * folder it runs in and from those it changes to. Variables, substitutions and what programs find by themselves are not seen.
 */
export async function namedIn(
  roots: readonly WorkspaceRoot[],
  folder: string,
  command: string,
  platform: string = process.platform,
): Promise<Named> {
  const inOrder = wordsOf(command, platform);
  const words = [...new Set(inOrder)];
  const moves = inOrder.filter((_, at) => /^(cd|pushd|-C|--cwd|--prefix)$/.test(inOrder[at - 1] ?? ''));
  const folders = new Set([folder, ...moves.map((move) => paths.resolve(folder, move))]);
  if (words.length * folders.size > mostPlaces)
    return { paths: [''], protected: 'It has too many words to be looked through.' };
  const named = new Set<string>();
  // What is outside counts by its spelling: `~/.ssh/id_rsa`.
  let why = words.map((word) => reasonOf(word, word.includes('/'))).find((reason) => reason !== undefined);
  for (const from of folders)
    for (const word of words) {
      const [known, ...rest] = word.split(/[*?[{$]/);
      const begins = rest.length > 0;
      const spelled = begins ? known!.slice(0, known!.lastIndexOf('/') + 1) || '.' : word;
      const at = paths.resolve(from, spelled);
      const place = await resolvePath(roots, at, 'search').catch(() => undefined);
      const path = place?.relative ?? (await relativeTo(roots, at));
      if (path === undefined) continue;
      const isFolder = begins || place?.kind === 'folder';
      named.add(!isFolder ? path : path === '.' ? '' : `${path}/`);
      why ??= reasonOf(path, place !== undefined);
    }
  return { paths: [...named], ...(why && { protected: why }) };
}

/**
 * As the words are, where the line is plain, and as anybody could take them who cuts at quotes, brackets and `=`, or takes
 * the quotes away.
 */
function wordsOf(command: string, platform: string): string[] {
  const parsed = parseCommandLine(command) ?? [];
  const whole = parsed.flatMap(({ commands }) => commands.flatMap(({ words }) => words));
  const joined = command.replaceAll('\\\n', '');
  const loose = [joined, joined.replace(/['"]/g, '')]
    .flatMap((text) => text.split(/[\s'"`;|&<>(){}=,:]+/))
    .map((word) => word.replaceAll('\\', platform === 'win32' ? '/' : ''));
  return [...whole, ...loose].filter(Boolean);
}

/** What does not exist holds no secret, but may be made: `process.env` is no file, `.vscode/tasks.json` may become one. */
function reasonOf(path: string, exists: boolean): string | undefined {
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  if (isGitInternal(names) && names.length > 1) return `It names ${path}, which belongs to Git.`;
  const reason = protectedReason(names);
  return reason && (exists || reason !== secretReason(names)) ? `It names ${path}. ${reason}` : undefined;
}
