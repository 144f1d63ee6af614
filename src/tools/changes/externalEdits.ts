import type { RunFile } from '../../protocol/run/runFiles.ts';
import { type Dictionary, entriesOf } from '../../protocol/values/dictionary.ts';
import type { Workspace } from '../core/workspace.ts';
import { compareSince, type Since, textNow } from './compareChanges.ts';

/** What somebody else has made of a file that a run has changed, of which its model has not heard. `now`: the id of it; null: it is gone. */
export interface Edited {
  path: string;
  now: string | null;
  /** Undefined: it cannot be compared. */
  since?: Since;
}

/** Files that are looked at, the newest changed first. */
const most = 100;

/** @param read gives a kept text by its id */
export async function editedSince(
  workspace: Workspace,
  files: Readonly<Dictionary<RunFile>>,
  read: (id: string) => Promise<string>,
): Promise<Edited[]> {
  const texts = entriesOf(files).filter(([, { kind, from }]) => kind === undefined && from === undefined);
  const newest = texts.sort(([, one], [, other]) => other.at - one.at).slice(0, most);
  const edited: Edited[] = [];
  for (const [path, { before, after, told = after }] of newest) {
    const now = await textNow(workspace, path);
    if (!now || now.id === told) continue;
    const kept = async (id: string | null) => (id === null ? null : read(id));
    const since = await Promise.all([kept(before), kept(after)]).then(
      ([from, left]) => compareSince(from, left, now.text),
      () => undefined, // not kept any more
    );
    edited.push({ path, now: now.id, ...(since && { since }) });
  }
  return edited;
}
