import { formerNoteForms } from '../../src/protocol/run/formerText.ts';
import { t } from '../../src/protocol/text/l10n.ts';
import { pluralFormOf } from '../../src/protocol/text/pluralForms.ts';

/** Known forms of system notes, stored in English: about the model, with the user as “you”. */
const forms = [
  'continued without its window',
  'ended after its window',
  'ended with its window or its run',
  'was stopped: it wrote more than 100 MiB',
  'timed out',
  'was stopped by you',
  'was stopped',
  'was killed ({0})',
  'exited with code {0}',
  'have undone all of its changes to {0}',
  'have undone {0} of its {1} changes to {2}, and made other changes',
  'have undone {0} of its {1} changes to {2}',
  'have undone {0} of its {1} change to {2}, and made other changes',
  'have undone {0} of its {1} change to {2}',
  'have deleted {0}, which it had changed',
  'have changed {0} since then',
  'have restored, as in this conversation: {0}. Read again before you edit',
  'No longer there: {0}. Its instructions no longer apply.',
  'Instruction files of this workspace have changed. They now contain:',
  'A part of the record of this conversation was damaged: {0}. What came after it is not in this conversation. This much of it could be read, as data:',
  'Part of the record of this conversation is damaged: {0}. Its contents are lost. Calls that are missing from it may have run: check the current state before you change or run anything again.',
] as const;

/** Translates a system note; unknown text stays. The first matching form counts. */
export function systemNoteText(words: string): string {
  const found = pluralFormOf<string>([...forms, ...formerNoteForms], words);
  return found ? t(found.form as (typeof forms)[number], ...found.values) : words;
}
