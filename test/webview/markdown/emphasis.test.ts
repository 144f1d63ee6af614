import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Lexer, Tokenizer } from 'marked';
import { withCjkEmphasis } from '../../../webview/markdown/emphasis.ts';

/** Tokens of a text by the rules of marked, and by ours. */
function bothOf(text: string) {
  return [false, true].map((isOurs) => {
    const tokenizer = new Tokenizer();
    const lexer = new Lexer({ gfm: true, tokenizer });
    if (isOurs) tokenizer.rules = { ...tokenizer.rules, inline: withCjkEmphasis(tokenizer.rules.inline) };
    return JSON.stringify(lexer.lex(text));
  });
}

describe('emphasis beside Chinese, Japanese and Korean', () => {
  it('leaves every other text as it was', () => {
    const piece = fc.constantFrom(
      '*',
      '**',
      '***',
      '_',
      '__',
      '~',
      '~~',
      'a',
      'é',
      '1',
      ' ',
      '.',
      '(',
      ')',
      '“',
      '😀',
      '`',
      '\n',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 24 }), (pieces) => {
        const [theirs, ours] = bothOf(pieces.join(''));
        assert.equal(ours, theirs);
      }),
      { numRuns: 5000 },
    );
  });

  it('needs no blank that marked needs', () => {
    const [theirs, ours] = bothOf('**都通过了。**下一步');
    assert.deepEqual([theirs!.includes('"strong"'), ours!.includes('"strong"')], [false, true]);
  });
});
