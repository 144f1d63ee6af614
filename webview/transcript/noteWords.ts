import { formOf } from '../../src/protocol/forms.ts';
import { t } from '../../src/protocol/l10n.ts';

/** What the model is told in the system's name, which is kept in English: said of the model, and of the person as “you”. */
const forms = [
  'went on without its window',
  'ended after its window',
  'ended with its window or its run',
  'was ended: it wrote more than 100 MiB',
  'was ended: its time was over',
  'was stopped by you',
  'was stopped',
  'was killed ({0})',
  'ended with {0}',
  'have taken back all of its changes of {0}',
  'have taken back {0} of its {1} changes of {2}, and changed it otherwise, too',
  'have taken back {0} of its {1} changes of {2}',
  'have taken back {0} of its {1} change of {2}, and changed it otherwise, too',
  'have taken back {0} of its {1} change of {2}',
  'have deleted {0}, which it changed',
  'have changed {0} since it did',
  'have put back, as they are in this conversation: {0}. Read again before you edit',
  'Not there any more: {0}. What stood there does not hold now.',
  'Files of this workspace that speak to agents have changed. They say now:',
  'A part of the record of this conversation was damaged: {0}. What came after it is not in this conversation. This much of it could be read, as data:',
  'A part of the record of this conversation was damaged: {0}. What stood there is lost. Calls that are not in it may have run: look at what is there before you change or run anything again.',
] as const;

/** Words of a note in the person's language; others as they are. The first form that fits counts. */
export function noteWords(words: string): string {
  const found = formOf(forms, words);
  return found ? t(found.form, ...found.values) : words;
}
