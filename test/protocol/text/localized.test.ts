import assert from 'node:assert/strict';
import { LLMError } from '../../../src/llm/core/errors.ts';
import { httpStatusToError } from '../../../src/llm/transport/providerErrors.ts';
import { errorInfoSchema } from '../../../src/protocol/content/messages.ts';
import { failedToolOutcome, toToolResult } from '../../../src/protocol/content/tools.ts';
import { localizedCount, message, setLanguage, withDigitGrouping } from '../../../src/protocol/text/l10n.ts';
import {
  joinLocalizableTexts,
  type LocalizableText,
  localize,
  localizeStoredText,
  messageOf,
  storedLocalizableText,
  storedLocalizedForms,
  toErrorInfo,
  withFullStop,
  withoutFullStop,
} from '../../../src/protocol/text/localized.ts';
import { localizedMessageSchema } from '../../../src/protocol/text/localizedSchema.ts';

const german = {
  '{0} rejected the request because of its rate limit{1}': '{0} verlangt weniger Anfragen{1}',
  'Deleted {0}.': '{0} gelöscht.',
  '{0} file': '{0} Datei',
  '{0} files': '{0} Dateien',
};

describe('words for people', () => {
  beforeEach(() => setLanguage('de', german));
  afterEach(() => setLanguage('en'));

  const deleted = message('Deleted {0}.', localizedCount(2000, 'file'));

  it('are kept in English and as what they are made of', () => {
    const kept = toErrorInfo(deleted);
    assert.equal(kept.message, 'Deleted 2,000 files.');
    const read = errorInfoSchema.parse(JSON.parse(JSON.stringify({ code: 'X', ...kept })));
    assert.deepEqual(read, { code: 'X', ...kept });
    assert.equal(localize(storedLocalizableText(read)), '2.000 Dateien gelöscht.');
  });

  it('are those of older records where these have nothing else', () => {
    const read = errorInfoSchema.parse({ code: 'X', message: 'It broke.' });
    assert.deepEqual([read, localize(storedLocalizableText(read))], [{ code: 'X', message: 'It broke.' }, 'It broke.']);
    assert.deepEqual(toErrorInfo('It broke.'), { message: 'It broke.' });
  });

  for (const said of [
    {},
    { english: 1 },
    { english: 'a', more: 1 },
    { english: 'a', values: [{ english: 'b', c: 1 }] },
  ])
    it(`are no sentence: ${JSON.stringify(said)}`, () => assert.ok(!localizedMessageSchema.safeParse(said).success));

  it('may hold other sentences and numbers', () => {
    const whole = message('{0} {1}', deleted, withDigitGrouping(7));
    assert.deepEqual(localizedMessageSchema.parse(JSON.parse(JSON.stringify(whole))), whole);
  });

  it('of errors are a provider’s own where they are', () => {
    const endpoint = { label: 'Here', host: 'api.example.com', secrets: [], hasKey: true };
    const error = httpStatusToError(endpoint, 429, { error: { message: 'Slow down.' } });
    assert.equal(error.message, 'Here (api.example.com) rejected the request because of its rate limit: Slow down.');
    assert.equal(localize(messageOf(error)), 'Here (api.example.com) verlangt weniger Anfragen: Slow down.');
    assert.equal(localize(storedLocalizableText(error.toInfo())), localize(messageOf(error)));
    const plain = new LLMError('UNKNOWN', 'Odd.');
    assert.deepEqual(
      [plain.toInfo(), messageOf(new Error('Odd.')), messageOf(7)],
      [{ code: 'UNKNOWN', message: 'Odd.' }, 'Odd.', '7'],
    );
  });

  it('are told to a model in English alone', () => {
    const { error } = failedToolOutcome('ENOENT', 'Gone.');
    const { content } = toToolResult('1', { ok: false, error: { ...error, said: deleted } });
    assert.deepEqual(JSON.parse(content), { ok: false, error: { code: 'ENOENT', message: 'Gone.' } });
  });

  const ends: [words: LocalizableText, withStop: string, without: string][] = [
    ['Odd', 'Odd.', 'Odd'],
    ['Odd.', 'Odd.', 'Odd'],
    ['Odd. ..\n', 'Odd.', 'Odd. ..\n'],
    [deleted, '2.000 Dateien gelöscht.', 'Deleted 2,000 files'],
    [localizedCount(1, 'file'), '1 Datei.', '1 Datei'],
    [message('{0}{1}', deleted, ' Odd.'), '2.000 Dateien gelöscht. Odd.', '2.000 Dateien gelöscht. Odd'],
  ];
  for (const [words, withStop, without] of ends)
    it(`end with a full stop or not: ${withStop}`, () =>
      assert.deepEqual([localize(withFullStop(words)), localize(withoutFullStop(words))], [withStop, without]));

  it('can be several as one', () => {
    assert.deepEqual([joinLocalizableTexts(['a', 'b']), joinLocalizableTexts([deleted])], ['a b', deleted]);
    assert.equal(localize(joinLocalizableTexts([deleted, 'b'], '; ')), '2.000 Dateien gelöscht.; b');
  });

  it('of a list are found by their English', () => {
    const { said } = storedLocalizedForms(['Odd.', deleted]);
    assert.deepEqual(
      ['Odd.', 'Deleted 2,000 files.'].map((one) => localizeStoredText(one, said)),
      ['Odd.', '2.000 Dateien gelöscht.'],
    );
    assert.deepEqual(storedLocalizedForms(['Odd.']), {});
  });
});
