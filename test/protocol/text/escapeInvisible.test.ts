import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  escapeCommandOutput,
  escapeInvisible,
  escapeInvisibleInLine,
  escapeInvisibleInProseLine,
  escapeInvisibleProse,
  withNoBreakUnits,
} from '../../../src/protocol/text/escapeInvisible.ts';

const shalom = '\u05e9\u05dc\u05d5\u05dd';
const marhaba = '\u0645\u0631\u062d\u0628\u0627';

describe('what a person sees is what is there', () => {
  const cases: [name: string, text: string, seen: string][] = [
    ['plain text', 'npm test\n\tx', 'npm test\n\tx'],
    ['an override', 'a\u202eb', 'a⟨U+202E⟩b'],
    ['a word from the right, which would move the words beside it', `rm ${shalom} 1 2`, `rm ⟨RTL ${shalom} RTL⟩ 1 2`],
    ['two of them: each in its place', `cp ${shalom} ${marhaba}`, `cp ⟨RTL ${shalom} RTL⟩ ⟨RTL ${marhaba} RTL⟩`],
    ['an Arabic number', 'head -n \u0661\u0662 x', 'head -n ⟨RTL \u0661\u0662 RTL⟩ x'],
    ['a Persian word with its joiner', '\u0645\u06cc\u200c\u062e', '⟨RTL \u0645\u06cc\u200c\u062e RTL⟩'],
    ['Adlam, of another plane', '\u{1E922}\u{1E923}', '⟨RTL \u{1E922}\u{1E923} RTL⟩'],
    ['a letter from the right that carries too much', `\u05d0${'\u05b0'.repeat(9)}`, '⟨RTL \u05d0⟨U+05B0 × 9⟩ RTL⟩'],
    ['a no-break space', 'rm\u00a0-rf', 'rm⟨U+00A0⟩-rf'],
    ['blanks of every width', 'a\u2003\u2003b\u3000c\u202fd', 'a⟨U+2003 × 2⟩b⟨U+3000⟩c⟨U+202F⟩d'],
    ['the blank of Braille', `x${'\u2800'.repeat(10)}y`, 'x⟨U+2800 × 10⟩y'],
    ['a note without a head', 'x\u{1D159}y', 'x⟨U+1D159⟩y'],
    ['a filler', 'x\u3164\uffa0y', 'x⟨U+3164⟩⟨U+FFA0⟩y'],
    ['a picture that is blank', 'x\u{13441}y', 'x⟨U+13441⟩y'],
    ['the place of an object that is not there', 'x\ufffcy', 'x⟨U+FFFC⟩y'],
    ['a variation that nothing varies', 'rm\ufe0f x', 'rm⟨U+FE0F⟩ x'],
    ['a format control that is in no list', 'x\u{13430}y', 'x⟨U+13430⟩y'],
    ['stacked marks', 'e\u0301\u0302\u0302\u0303x', 'e⟨U+0301⟩⟨U+0302 × 2⟩⟨U+0303⟩x'],
    ['a circle around what was before it', 'rm\u20dd x', 'rm⟨U+20DD⟩ x'],
    ['two marks, as Vietnamese has them', 'e\u0302\u0301', 'e\u0302\u0301'],
    ['Thai and Devanagari', '\u0e17\u0e35\u0e48 \u0915\u094d\u200d\u0937\u093f', '\u0e17\u0e35\u0e48 \u0915\u094d\u200d\u0937\u093f'],
    ['emoji, a family and a key', '👩‍👩‍👧 1️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿', '👩‍👩‍👧 1️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿'],
    ['words in tags', `x${'hi'.replace(/./g, (one) => String.fromCodePoint(0xe0000 + one.charCodeAt(0)))}`, 'x⟨hidden text: hi⟩'],
    ['half of a pair', 'a\ud800b', 'a\ufffdb'],
  ]; // biome-ignore format: a table
  for (const [name, text, seen] of cases) {
    it(name, () => assert.equal(escapeInvisible(text), seen));
    it(`${name}: seen twice it is the same`, () => {
      if (!/\p{M}{7}/u.test(text)) assert.equal(escapeInvisible(escapeInvisible(text)), seen);
    });
  }

  const scripts =
    'Hebrew Arabic Syriac Thaana Nko Samaritan Mandaic Adlam Hanifi_Rohingya Mende_Kikakui Yezidi Old_Hungarian Phoenician'.split(
      ' ',
    );
  for (const script of scripts)
    it(`no letter of ${script} stands unmarked`, () => {
      const letter = new RegExp(`\\p{Script=${script}}`, 'u');
      const loose: string[] = [];
      for (let code = 0x590; code < 0x1f000; code++) {
        if (code >= 0xd800 && code <= 0xdfff) continue;
        const one = String.fromCodePoint(code);
        if (letter.test(one) && escapeInvisible(`a${one}b`) === `a${one}b`) loose.push(code.toString(16));
      }
      assert.deepEqual(loose, []);
    });

  const sentences: [text: string, drawn: string][] = [
    ['Done · 3 files · 2 min 15 s', 'Done · 3 files · 2_min 15_s'],
    ['Ran for 9.1 s, 40 ms, 3 h', 'Ran for 9.1_s, 40_ms, 3_h'],
    ['12 KB of 1.2 MB', '12_KB of 1.2_MB'],
    ['97 % in 2 Std. 5 Tg.', '97_% in 2_Std. 5_Tg.'],
    ['Fork 2 sources of 3 dishes in 1 minute', 'Fork 2 sources of 3 dishes in 1 minute'],
    ['in 5 straße', 'in 5 straße'],
  ];
  for (const [text, drawn] of sentences)
    it(`no line ends between a number and its unit: ${text}`, () =>
      assert.equal(withNoBreakUnits(text), drawn.replaceAll('_', '\u00a0')));

  it('no blank but the plain one is left, and no format control', () =>
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        assert.doesNotMatch(escapeInvisible(text), /[^\P{Zs} ]|[\u2800\u{1D159}]/u);
      }),
    ));

  it('what is said keeps the letters and blanks of its language, and hides nothing either', () => {
    assert.equal(escapeInvisibleProse(`${shalom}\u3000\u202e!`), `${shalom}\u3000⟨U+202E⟩!`);
    assert.equal(escapeInvisibleInProseLine(`${shalom}\nx`), `${shalom} ⏎ x`);
    assert.equal(escapeCommandOutput(`\u001b[2K${marhaba}\rx`), `${marhaba}\nx`);
    assert.equal(escapeInvisibleInLine(`${shalom}\nx`), `⟨RTL ${shalom} RTL⟩ ⏎ x`);
  });
});
