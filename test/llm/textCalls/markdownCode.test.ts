import assert from 'node:assert/strict';
import fc from 'fast-check';
import { MarkdownCodeTracker } from '../../../src/llm/textCalls/markdownCode.ts';

/** The text with `!` for what is code at its `<`. */
function codeIn(pieces: readonly string[]): string {
  const code = new MarkdownCodeTracker();
  let out = '';
  for (const piece of pieces)
    for (const part of piece.split(/(?=<)|(?<=<)/)) {
      out += part === '<' && code.isCode ? '!' : part;
      code.add(part);
    }
  return out;
}

const cases: [says: string, text: string, told: string][] = [
  ['nothing', 'a < b', 'a < b'],
  ['code in a line, up to its end at most', '`<` < ``<` <`` < `<\n<', '`!` < ``!` !`` < `!\n<'],
  ['a fence', '```\n<\n```\n<', '```\n!\n```\n<'],
  ['a fence with a language', '~~~ js <\n<\n~~~~ \n<', '~~~ js !\n!\n~~~~ \n<'],
  [
    'a fence that is not closed by less, by others, or within a line',
    '````\n<\n```\n~~~~\na ````\n<\n````\n<',
    '````\n!\n```\n~~~~\na ````\n!\n````\n<',
  ],
  ['a fence behind words', 'a ```\n<', 'a ```\n<'],
  ['code of three backquotes', '```a``` <\n<', '```a``` <\n<'],
  ['marks that end a fence, and what stands behind them', '```\n<\n```<', '```\n!\n```<'],
  ['words behind marks of a fence are in it', '```\n``` a <\n<', '```\n``` a !\n!'],
];

describe('code in Markdown', () => {
  for (const [says, text, told] of cases)
    it(says, () => {
      assert.equal(codeIn([text]), told);
      fc.assert(
        fc.property(fc.array(fc.nat({ max: text.length }), { maxLength: 8 }), (cuts) => {
          const ends = [...cuts, text.length].sort((one, other) => one - other);
          assert.equal(codeIn(ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end))), told);
        }),
        { numRuns: 60 },
      );
    });

  it('a line that is quoted', () => {
    const quoted = ['    a', '\ta', '> a', '  > a', '>>>a', 'a > b', '`    a', '   a'].map((line) => {
      const code = new MarkdownCodeTracker();
      for (const character of `a\n${line}`) code.add(character);
      return code.isQuoted;
    });
    assert.deepEqual(quoted, [true, true, true, true, false, false, false, false]);
  });
});
