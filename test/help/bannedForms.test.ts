import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { helpPageList } from '../../src/help/pages.ts';
import { readPage } from '../support/help/pages.ts';
import { bannedIn, proseOf } from './bannedForms.ts';

const root = path.resolve(import.meta.dirname, '../..');
const documents = [
  ['README.md', readFileSync(path.join(root, 'README.md'), 'utf8')] as const,
  ...helpPageList.filter(({ name }) => name !== 'developing').map(({ name }) => [name, readPage(name)] as const),
];

describe('The banned forms', () => {
  for (const [name, text] of documents)
    it(`are not in the page ${name}`, () => {
      const found = proseOf(text)
        .split('\n')
        .flatMap((line) => bannedIn(line).map((form) => `${form}: ${line}`));
      assert.deepEqual(found, []);
    });

  for (const text of [
    'The gate decides.',
    'A verdict of the run',
    'It was granted.',
    'A protected place',
    'What the person wrote',
    'The model is told so.',
    'Nobody hears it.',
    'Mend it',
    'It is gone.',
    'Runs at work',
    'After your yes',
    'You are asked about it.',
    'Say While It Works…',
    'Reading: {0} %',
    'Open the catalogue',
    'Summarise it',
    'Cancelled by you',
    'Found in {0} places',
  ])
    it(`include one in “${text}”`, () => assert.notEqual(bannedIn(text).length, 0));

  for (const text of [
    'Reading: {0}%',
    'Essay',
    'Read lib/gate/a.js',
    'Advocate',
    'Investigate a delegate',
    'Recommended for you',
    'Personal settings',
    'Heart and shared',
    '{% if x %}{{ y }}{% endif %}',
    'Color, canceled, summarized',
  ])
    it(`do not include “${text}”`, () => assert.deepEqual(bannedIn(text), []));
});
