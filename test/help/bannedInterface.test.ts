import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { germanFile } from '../l10n/keys.ts';
import { bannedIn } from './bannedForms.ts';

const json = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
const manifest = json(path.resolve(import.meta.dirname, '../../package.json'));

/** Values of these keys are text of the manifest. */
const textKeys = [
  'title',
  'description',
  'markdownDescription',
  'enumDescriptions',
  'markdownEnumDescriptions',
  'displayName',
  'contents',
];

/** Text of the manifest that users see, in every depth. */
const manifestTexts = (value: unknown, key = ''): string[] => {
  if (typeof value === 'string') return textKeys.includes(key) ? [value] : [];
  if (Array.isArray(value)) return value.flatMap((one) => manifestTexts(one, key));
  return Object.entries(Object(value)).flatMap(([inner, one]) => manifestTexts(one, inner));
};

/** Sentences with a banned form, one line each. Code spans are not text. */
const listed = (texts: readonly string[]): string[] =>
  texts.flatMap((text) => bannedIn(text.replaceAll(/`[^`\n]*`/g, '`')).map((form) => `${form}: ${text}`));

describe('The banned forms of text for users', () => {
  const former = json(path.join(path.dirname(germanFile), 'former.json')); // sentences that only older journals hold
  const sentences = Object.keys(json(germanFile)).filter((text) => !Object.hasOwn(former, text));

  it('are in no sentence of the interface', () => assert.deepEqual(listed(sentences), []));

  it('are in no title or description of the manifest', () =>
    assert.deepEqual(listed(manifestTexts(manifest.contributes)), []));

  it('include backticks in a question, which a dialog shows as they are', () => {
    const questions = sentences.filter((text) => text.endsWith('?') && text.includes('`'));
    assert.deepEqual(questions, []);
  });
});
