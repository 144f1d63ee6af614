// @invariant user-edits-are-reported-once: Edits of the user to files of a run are reported to the model once, before the next message of
// the user.
import type { FileChangedByRun } from '../../protocol/run/runFiles.ts';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { englishCount } from '../../protocol/text/plurals.ts';
import type { Dictionary } from '../../protocol/values/dictionary.ts';
import type { ExternalEdit } from '../../tools/changes/externalEdits.ts';
import type { RunLog } from '../core/runLog.ts';

export type FindUserEdits = (files: Readonly<Dictionary<FileChangedByRun>>) => Promise<ExternalEdit[]>;

/** Limits of the note: files, removed lines per file, characters per line. */
const [maxFiles, maxLines, longestLine] = [20, 40, 200];

/**
 * Reports changes by the user to files of the run, once: reverted changes, and files with further edits. The edits themselves are not
 * quoted, because the model can read the files.
 */
export async function reportUserEdits({ run, emit }: Pick<RunLog, 'run' | 'emit'>, look: FindUserEdits): Promise<void> {
  if (!run.files) return;
  const edited = await look(run.files);
  if (edited.length === 0) return;
  const who = run.ran ? 'The person (or a command)' : 'The person';
  const lines = edited.slice(0, maxFiles).map((one) => sentenceOf(who, one));
  const more = edited.length - lines.length;
  const content = [
    ...lines,
    ...(more > 0 ? [`And ${englishCount(more, 'other file')} that you changed.`] : []),
    'Read again before you edit, and leave what was taken back unless you are asked for it.',
  ].join('\n');
  const did = editMessage(edited[0]!);
  const line = run.ran
    ? message('The model is informed: you (or a command) {0}', did)
    : message('The model is informed: you {0}', did);
  const edits = edited.map(({ path, now }) => ({ path, now }));
  await emit({ type: 'message', message: { role: 'system', content, note: { line } }, edits });
}

function sentenceOf(who: string, { path, now, since }: ExternalEdit): string {
  if (since && since.taken > 0 && since.taken === since.places && !since.others)
    return `${who} has taken back all of your changes of ${path}.`;
  if (now === null) return `${who} has deleted ${path}, which you changed.`;
  if (!since || since.taken === 0) return `${who} has changed ${path} since you did.`;
  const others = since.others ? ', and changed it otherwise, too' : '';
  const lines = since.goneLines.slice(0, maxLines).map((line) => line.slice(0, longestLine));
  const left = since.goneLines.length - lines.length;
  const shown = [...lines, ...(left > 0 ? [`… ${englishCount(left, 'line')} more`] : [])].join('\n');
  return `${who} has taken back ${since.taken} of your ${englishCount(since.places, 'change')} of ${path}${others}. Of yours, this is gone:\n${shown}`;
}

/** Message for the user with the same cases as `sentenceOf`, after “you”. */
function editMessage({ path, now, since }: ExternalEdit): LocalizedMessage {
  if (since && since.taken > 0 && since.taken === since.places && !since.others)
    return message('have undone all of its changes to {0}', path);
  if (now === null) return message('have deleted {0}, which it had changed', path);
  if (!since || since.taken === 0) return message('have changed {0} since then', path);
  const { taken, places, others } = since;
  return message(takenBackTexts[places === 1 ? 'one' : 'many'][others ? 'others' : 'only'], taken, places, path);
}

const takenBackTexts = {
  one: {
    only: 'have undone {0} of its {1} change to {2}',
    others: 'have undone {0} of its {1} change to {2}, and made other changes',
  },
  many: {
    only: 'have undone {0} of its {1} changes to {2}',
    others: 'have undone {0} of its {1} changes to {2}, and made other changes',
  },
} as const;
