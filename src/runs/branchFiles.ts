import type { StoredFileChange } from '../protocol/run/events.ts';
import { callsInStartOrder, type Run } from '../protocol/run/run.ts';
import { t } from '../protocol/text/l10n.ts';
import { sortedDictionaryKeys } from '../protocol/values/dictionary.ts';

/**
 * File state to restore. `to`: content id, null for no file. `of`: run that stores the content. `was`: `to` is a deleted file of another
 * run, restored in its on-disk form; `form` and `leftMode`: permissions of a text, if recorded. `known`: content ids known to the run and
 * its branches, `bytes` those that are not text; any other content was made by someone else.
 */
export interface RunBranchFileState {
  path: string;
  to: string | null;
  of: string;
  was?: Pick<StoredFileChange, 'kind' | 'mode'>;
  form?: Pick<StoredFileChange, 'mode'>;
  leftMode?: number;
  known: (string | null)[];
  bytes?: string[];
}

export interface RestorableRunBranchFiles {
  files: RunBranchFileState[];
  left: { path: string; why: string }[];
}

/**
 * Returns the files of a run and its branches in the state that this run left. Files changed only by branches get their earlier content.
 *
 * @param kin family of the run, with or without the run
 */
export function restorableRunBranchFiles(run: Run, kin: readonly Run[]): RestorableRunBranchFiles {
  const all = [run, ...kin.filter(({ id, imported }) => id !== run.id && !imported)]; // imported runs have no contents
  const result: RestorableRunBranchFiles = { files: [], left: [] };
  for (const path of new Set(all.flatMap(({ files }) => (files ? sortedDictionaryKeys(files) : [])))) {
    const seen = all.flatMap((one) => (one.files?.[path] ? [{ run: one, file: one.files[path] }] : []));
    if (seen.some(({ file }) => file.from !== undefined || isNoFile(file.kind) || isNoFile(file.afterKind))) {
      result.left.push({ path, why: t('It was moved, or is not text.') });
      continue;
    }
    const known = seen.flatMap(({ file }) => [file.before, file.after]);
    const bytes = seen.flatMap(({ file: { before, kind, after, afterKind } }) => [
      ...(kind && before !== null ? [before] : []),
      ...(afterKind && after !== null ? [after] : []),
    ]);
    const state = { path, known, ...(bytes.length > 0 && { bytes }) };
    const own = run.files?.[path];
    if (own) {
      const { after, afterKind, afterMode: mode } = own;
      const permissions = mode !== undefined && { mode };
      const was = after !== null && afterKind !== undefined && { was: { kind: 'file' as const, ...permissions } };
      const form = permissions && { form: permissions, leftMode: permissions.mode };
      result.files.push({ ...state, to: after, of: run.id, ...was, ...form });
      continue;
    }
    const firsts = seen.filter(({ file }) => seen.every((other) => other.file.after !== file.before)); // excludes content left by another run
    const [first] = firsts;
    if (!first || firsts.some(({ file }) => file.before !== first.file.before)) {
      result.left.push({ path, why: t('The state of this file in this branch is unknown.') });
      continue;
    }
    const was = first.file.kind && deletionOf(first.run, path);
    result.files.push({ ...state, to: first.file.before, of: first.run.id, ...(was && { was }) });
  }
  return result;
}

const isNoFile = (kind: string | undefined): boolean => kind !== undefined && kind !== 'file';

function deletionOf(run: Run, path: string): RunBranchFileState['was'] {
  const change = callsInStartOrder(run).flatMap(([, { changes = [] }]) =>
    changes.find((one) => one.path === path && one.kind),
  )[0];
  return change && { kind: change.kind, mode: change.mode };
}
