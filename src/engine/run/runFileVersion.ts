import type { Run } from '../../protocol/run/run.ts';
import {
  type FileVersion,
  firstFileVersion,
  isComparableText,
  nextFileVersion,
  type VersionAuthor,
} from '../../tools/changes/fileHunks.ts';
import { fileHistory } from './fileHistory.ts';

/** Version of a file as the run has left it. `states`: known versions by content id; `isNew`: there was no file before the run. */
export interface FileVersionOfRun {
  version: FileVersion;
  states: ReadonlyMap<string, FileVersion>;
  isNew: boolean;
}

/**
 * Returns the version of a file that a run has left, with the authors of its lines; undefined if there is no text to compare with.
 *
 * @param read returns a stored text by its id
 */
export async function fileVersionOfRun(
  run: Run,
  path: string,
  read: (id: string) => Promise<string>,
): Promise<FileVersionOfRun | undefined> {
  const history = fileHistory(run, path);
  if (!history) return undefined;
  const textOf = async (id: string | null) => {
    const text = id === null ? '' : await read(id).catch(() => undefined); // no longer stored
    return text !== undefined && isComparableText(text) ? text : undefined;
  };
  const before = await textOf(history.before);
  if (before === undefined) return undefined;
  let version = firstFileVersion(before);
  let at = history.before ?? '';
  const states = new Map([[at, version]]);
  const advance = async (id: string | null, author: VersionAuthor) => {
    const name = id ?? '';
    if (name === at) return;
    const known = states.get(name);
    const text = known ? undefined : await textOf(id);
    if (!known && text === undefined) return;
    version = known ?? nextFileVersion(version, text!, author);
    at = name;
    states.set(name, version);
  };
  for (const { before, after, isApproved } of history.changes) {
    await advance(before, 'other');
    await advance(after, isApproved ? 'approved' : 'automatic');
  }
  const { after } = run.files?.[path] ?? {};
  if (after !== undefined) await advance(after, 'other');
  return { version, states, isNew: history.before === null };
}

/** Returns the current version of a file after later edits. `id`: content id of the text. */
export const currentFileVersion = ({ version, states }: FileVersionOfRun, text: string, id: string): FileVersion =>
  states.get(id) ?? nextFileVersion(version, text, 'other');
