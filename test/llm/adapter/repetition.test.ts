import assert from 'node:assert/strict';
import { RepetitionGuard } from '../../../src/llm/adapter/repetition.ts';
import type { ChatStreamChunk } from '../../../src/llm/core/client.ts';

/** Pieces of a few characters, as models stream them. */
function* piecesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; at += 7) yield text.slice(at, at + 7);
}

/** Characters that were read before the reply was ended; undefined: it was not. */
function endedAt(text: string, toChunk: (piece: string) => Partial<ChatStreamChunk>): number | undefined {
  const guard = new RepetitionGuard();
  let length = 0;
  for (const piece of piecesOf(text)) {
    length += piece.length;
    try {
      guard.check({ done: false, ...toChunk(piece) });
    } catch (error) {
      assert.match(String(error), /repeated the same text again and again/);
      return length;
    }
  }
  return undefined;
}

const content = (piece: string) => ({ content: piece });
const thinking = (piece: string) => ({ thinking: piece });
const argument = (piece: string) => ({ toolCallDelta: { index: 0, argumentsText: piece } });

const begun = 'The lock opens at low tide, and closes at high tide. ';
const paragraph = `${begun}${'The keeper looks at the gauge and writes a number into a book. '.repeat(4)}Then night comes.\n\n`;
const counted = Array.from({ length: 3000 }, (_, at) => `| ${at} | 0 | 0 |`).join('\n');

const endless: Record<string, string> = {
  'a sentence': 'I am sorry, I cannot do that. ',
  'a word': 'no ',
  'blank lines': '\n',
  'a line of code': '    <h1>\n',
  'a paragraph': paragraph,
  'text beyond ASCII': 'Der Hafen öffnet früh. 🚢 ',
};

describe('a reply that repeats itself', () => {
  for (const [what, text] of Object.entries(endless)) {
    it(`is ended: ${what}`, () => {
      const whole = begun + text.repeat(Math.ceil(30_000 / text.length));
      for (const toChunk of [content, thinking]) assert.ok((endedAt(whole, toChunk) ?? 1e9) < 5500);
      assert.ok((endedAt(whole.repeat(4), argument) ?? 1e9) < 45_000);
    });
  }

  it('is ended in the arguments of a call only when no file looks like it', () => {
    const zeros = '0, 0, 0, 0, 0, 0, 0, 0\n'.repeat(800);
    assert.equal(endedAt(zeros, argument), undefined);
    assert.ok(endedAt(zeros, content));
  });

  it('goes on where it only resembles one', () => {
    const fine = [
      begun,
      'ha '.repeat(500),
      `${'-'.repeat(1500)}\n`,
      counted,
      `${paragraph.repeat(7)}The end.`,
      `${'ok 1 - the quay is dry\n'.repeat(60)}60 tests passed.`,
    ];
    for (const text of fine)
      for (const toChunk of [content, thinking, argument])
        assert.equal(endedAt(text, toChunk), undefined, text.slice(0, 40));
  });

  it('is seen in one piece, too', () => {
    assert.throws(() => new RepetitionGuard().check({ done: false, content: begun + 'again '.repeat(1000) }));
  });

  it('counts each text by itself', () => {
    const guard = new RepetitionGuard();
    const row = '0, 0, 0, 0, 0, 0, 0, 0\n'.repeat(60);
    for (let index = 0; index < 20; index++)
      guard.check({ done: false, content: row.slice(0, 900 + index), toolCallDelta: { index, argumentsText: row } });
  });
});
