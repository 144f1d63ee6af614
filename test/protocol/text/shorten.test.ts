import assert from 'node:assert/strict';
import { fitText, shortenText, textHead, textTail } from '../../../src/protocol/text/shorten.ts';

describe('a text that is shortened', () => {
  const rows: [text: string, most: number, head: string, tail: string, shortened: string, fitted: string][] = [
    ['', 3, '', '', '', ''],
    ['abc', 3, 'abc', 'abc', 'abc', 'abc'],
    ['abcd', 3, 'abc', 'bcd', 'abc…', 'ab…'],
    ['a😀b', 2, 'a', 'b', 'a…', 'a…'],
    ['😀😀', 3, '😀', '😀', '😀…', '😀…'],
  ]; // biome-ignore format: a table
  for (const [text, most, head, tail, shortened, fitted] of rows)
    it(`to ${most}: ${JSON.stringify(text)}`, () =>
      assert.deepEqual(
        [textHead(text, most), textTail(text, most), shortenText(text, most), fitText(text, most)],
        [head, tail, shortened, fitted],
      ));

  it('has the mark that it is given', () => assert.equal(shortenText('abcd', 3, ' (cut)'), 'abc (cut)'));

  it('to nothing is empty', () => assert.deepEqual([textHead('abc', 0), textTail('abc', 0)], ['', '']));
});
