import { ToolError } from '../core/tool.ts';
import type { Workspace } from '../core/workspace.ts';
import { diff, type Hunk } from '../edit/diff.ts';
import { currentContent, linesOf, sha256 } from '../sandbox/fileText.ts';
import { resolvePath } from '../sandbox/paths.ts';

/** Characters of a text that is compared; a longer one is only told from another. */
const longest = 1_000_000;

/** What is left of a run's changes of a file. Texts; null: no file. */
export interface Since {
  /** Lines that are not as they were before the run. */
  added: number;
  removed: number;
  /** Places that the run changed, and those of them that are again as they were before. */
  places: number;
  taken: number;
  /** Somebody else's changes are in it, too. */
  others: boolean;
  /** The lines of the run that are gone again, `+` what it had written and `-` what it had removed. */
  goneLines: string[];
}

/** Undefined: too long to be compared. */
export function compareSince(before: string | null, left: string | null, now: string | null): Since | undefined {
  if ([before, left, now].some((text) => (text?.length ?? 0) > longest)) return undefined;
  const [from, was, is] = [before, left, now].map((text) => linesOf(text ?? '')) as [string[], string[], string[]];
  const made = diff(from, was);
  const stands = diff(from, is);
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

const keyOf = ({ fromStart, fromEnd, toStart, toEnd }: Hunk, to: readonly string[]): string =>
  JSON.stringify([fromStart, fromEnd, ...to.slice(toStart, toEnd)]);

const touch = (one: Hunk, other: Hunk): boolean => one.fromStart <= other.fromEnd && other.fromStart <= one.fromEnd;

/** What a file of the workspace holds: its text, and the id of that; null: there is none. Undefined: it cannot be looked at as a text. */
export async function textNow(
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
