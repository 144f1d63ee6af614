import type { StoredChange } from '../protocol/run/events.ts';
import { callsOf, type Run } from '../protocol/run/run.ts';
import { t } from '../protocol/text/l10n.ts';
import { keysOf } from '../protocol/values/dictionary.ts';

/** A file as a run left it. Contents by their ids; null: no file. */
export interface BranchFile {
  path: string;
  to: string | null;
  /** The run that has kept it. */
  of: string;
  /** `to` was deleted as it was on disk, by another run, and comes back so. */
  was?: Pick<StoredChange, 'kind' | 'mode'>;
  /** All that the run and its branches know of it: anything else there now was made by somebody else. */
  known: (string | null)[];
}

export interface BranchFiles {
  files: BranchFile[];
  /** What stays as it is, and why, as a sentence for people. */
  left: { path: string; why: string }[];
}

/**
 * What a run and its branches changed, as this run left it: what others changed and it did not is as it was before they did.
 * @param kin the run among them or not
 */
export function branchFiles(run: Run, kin: readonly Run[]): BranchFiles {
  const all = [run, ...kin.filter(({ id, imported }) => id !== run.id && !imported)]; // what is imported has no contents
  const result: BranchFiles = { files: [], left: [] };
  for (const path of new Set(all.flatMap(({ files }) => (files ? keysOf(files) : [])))) {
    const seen = all.flatMap((one) => (one.files?.[path] ? [{ run: one, file: one.files[path] }] : []));
    if (seen.some(({ file }) => file.from !== undefined || (file.kind && file.kind !== 'file'))) {
      result.left.push({ path, why: t('It was moved, or is not text.') });
      continue;
    }
    const known = seen.flatMap(({ file }) => [file.before, file.after]);
    const own = run.files?.[path];
    if (own) {
      result.files.push({ path, to: own.after, of: run.id, known });
      continue;
    }
    const firsts = seen.filter(({ file }) => seen.every((other) => other.file.after !== file.before)); // not found as another left it
    const [first] = firsts;
    if (!first || firsts.some(({ file }) => file.before !== first.file.before)) {
      result.left.push({ path, why: t('The state of this file in this branch is unknown.') });
      continue;
    }
    const was = first.file.kind && deletionOf(first.run, path);
    result.files.push({ path, to: first.file.before, of: first.run.id, known, ...(was && { was }) });
  }
  return result;
}

function deletionOf(run: Run, path: string): BranchFile['was'] {
  const change = callsOf(run).flatMap(([, { changes = [] }]) =>
    changes.find((one) => one.path === path && one.kind),
  )[0];
  return change && { kind: change.kind, mode: change.mode };
}
