import { ToolError } from '../core/tool.ts';
import type { Workspace } from '../core/workspace.ts';
import { type DiffHunk, diffSequences } from '../edit/diff.ts';
import { currentContent, linesWithoutEndings, sha256 } from '../sandbox/fileText.ts';
import { resolvePath } from '../sandbox/paths.ts';

// Maximum characters of a compared text; longer texts are only tested for equality.
const longest = 1_000_000;

/**
 * Comparison of a run's changes with the current file. `added` and `removed` count the lines different from before the run. `places` counts
 * the positions changed by the run, and `taken` counts the positions reverted since; `goneLines` are the reverted lines, with `+` for added
 * and `-` for removed. `others` marks changes by another author.
 */
export interface FileChangeComparison {
  added: number;
  removed: number;
  places: number;
  taken: number;
  others: boolean;
  goneLines: string[];
}

/** Compares three states of a file; null means no file. Undefined if a text is too long. */
export function compareFileVersions(
  before: string | null,
  left: string | null,
  now: string | null,
): FileChangeComparison | undefined {
  if ([before, left, now].some((text) => (text?.length ?? 0) > longest)) return undefined;
  const [from, was, is] = [before, left, now].map((text) => linesWithoutEndings(text ?? '')) as [
    string[],
    string[],
    string[],
  ];
  const made = diffSequences(from, was);
  const stands = diffSequences(from, is);
  const madeKeys = new Set(made.map((hunk) => keyOf(hunk, was)));
  const taken = made.filter((hunk) => !stands.some((other) => touch(hunk, other)));
  return {
    added: stands.reduce((sum, { toStart, toEnd }) => sum + toEnd - toStart, 0),
    removed: stands.reduce((sum, { fromStart, fromEnd }) => sum + fromEnd - fromStart, 0),
    places: made.length,
    taken: taken.length,
    others: (left === null) !== (now === null) || stands.some((hunk) => !madeKeys.has(keyOf(hunk, is))),
    goneLines: taken.flatMap((hunk) => [
      ...from.slice(hunk.fromStart, hunk.fromEnd).map((line) => `-${line}`),
      ...was.slice(hunk.toStart, hunk.toEnd).map((line) => `+${line}`),
    ]),
  };
}

const keyOf = ({ fromStart, fromEnd, toStart, toEnd }: DiffHunk, to: readonly string[]): string =>
  JSON.stringify([fromStart, fromEnd, ...to.slice(toStart, toEnd)]);

const touch = (one: DiffHunk, other: DiffHunk): boolean =>
  one.fromStart <= other.fromEnd && other.fromStart <= one.fromEnd;

export async function readCurrentFileText(
  workspace: Workspace,
  path: string,
): Promise<{ file: string; text: string | null; id: string | null } | undefined> {
  try {
    const file = await resolvePath(workspace.roots, path, 'read');
    const content = await currentContent(workspace, file);
    if (Buffer.isBuffer(content)) return undefined;
    return { file: file.path, text: content.text, id: sha256(content.text) };
  } catch (error) {
    return error instanceof ToolError && error.code === 'ENOENT' ? { file: '', text: null, id: null } : undefined;
  }
}
