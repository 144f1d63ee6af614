import type { FileChangedByRun } from '../../protocol/run/runFiles.ts';
import { type Dictionary, sortedDictionaryEntries } from '../../protocol/values/dictionary.ts';
import type { Workspace } from '../core/workspace.ts';
import { secretFileReason } from '../policy/secretFiles.ts';
import { compareFileVersions, type FileChangeComparison, readCurrentFileText } from './compareChanges.ts';

/**
 * External edit of a file that a run has changed, unknown to the model. `now` is the content id; null if the file is deleted. `since` is
 * undefined if the texts cannot be compared.
 */
export interface ExternalEdit {
  path: string;
  now: string | null;
  since?: FileChangeComparison;
}

const most = 100;

/**
 * Returns external edits of the files of a run.
 * @param read returns a stored text by its id
 */
export async function findExternalEdits(
  workspace: Workspace,
  files: Readonly<Dictionary<FileChangedByRun>>,
  read: (id: string) => Promise<string>,
): Promise<ExternalEdit[]> {
  const texts = sortedDictionaryEntries(files).filter(
    ([path, { kind, afterKind, from, recorded }]) =>
      kind === undefined &&
      afterKind === undefined &&
      from === undefined &&
      !(recorded && secretFileReason(path.split('/'))), // the model has never read it
  );
  const newest = texts.sort(([, one], [, other]) => other.at - one.at).slice(0, most);
  const edited: ExternalEdit[] = [];
  for (const [path, { before, after, told = after }] of newest) {
    const now = await readCurrentFileText(workspace, path);
    if (!now || now.id === told) continue;
    const readContent = async (id: string | null) => (id === null ? null : read(id));
    const since = await Promise.all([readContent(before), readContent(after)]).then(
      ([from, left]) => compareFileVersions(from, left, now.text),
      () => undefined, // no longer stored
    );
    edited.push({ path, now: now.id, ...(since && { since }) });
  }
  return edited;
}
