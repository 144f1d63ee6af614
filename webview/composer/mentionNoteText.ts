import { formerMentionNoteForms, formerMentionReasons } from '../../src/protocol/run/formerText.ts';
import { t } from '../../src/protocol/text/l10n.ts';
import { matchSentenceForm } from '../../src/protocol/text/pluralForms.ts';

/** Notes beside attachments, in the form that `tools/mention` gives the model. */
const said = [
  'not read',
  'none',
  'its start',
  'its end',
  'no longer a problem',
  'error',
  'warning',
  'info',
  '{0} file',
  '{0} of more than {1} files',
  '{0} of {1} files',
  '{0} files',
  'lines {0}-{1} of {2}',
  'lines {0}-{1}',
  '{0} error, {1} warning',
  '{0} error, {1} warnings',
  '{0} errors, {1} warning',
  '{0} errors, {1} warnings',
  'It took too long.',
  'Its start did not fit.',
  'The rest did not fit.',
  'Not all of them fit.',
  'The rest of {0} is not read.',
  'Mentions up to line {0} did not fit.',
  'The mentions of this message are larger than it can carry.',
  'The selection is in no file of the open folders.',
  'Nothing is selected in the editor.',
  'Not read: {0}.',
] as const;

/** Reasons for omitted files of a folder. */
const why = ['too many', 'no space', 'a picture', 'not readable text', 'needs approval', 'denied'] as const;

/** Translates a note beside an attachment; unknown text stays. The first matching form counts. */
export function mentionNoteText(words: string): string {
  const found = matchSentenceForm<string>([...said, ...formerMentionNoteForms], words);
  if (!found) return words;
  const form = found.form as (typeof said)[number];
  return t(form, ...(form === 'Not read: {0}.' ? found.values.map(withReasons) : found.values));
}

const withReasons = (names: string): string =>
  [...why, ...formerMentionReasons].reduce(
    (all, one) => all.replaceAll(` (${one})`, () => ` (${t(one as (typeof why)[number])})`),
    names,
  );
