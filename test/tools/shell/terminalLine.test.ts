import assert from 'node:assert/strict';
import { appendTerminalOutput, joinTerminalOutput } from '../../../src/protocol/text/lineUpdates.ts';
import { CommandOutput, TerminalOutputCleaner } from '../../../src/tools/shell/output.ts';
import { TerminalLine } from '../../../src/tools/shell/terminalLine.ts';

const long = 'x'.repeat(5000);

const cases: [what: string, written: string, shown: string][] = [
  ['a line end of Windows', 'a\r\nb\r\n', 'a\nb\n'],
  ['a line end behind two returns', 'abc\r\r\nd', 'abc\nd'],
  ['a longer line over a shorter one', 'a\rbc', 'bc'],
  ['a shorter line over a longer one', 'abc\rX\n', 'Xbc\n'],
  ['a bar that ends its line', '10%\r50%\r100%\ndone\n', '100%\ndone\n'],
  ['a bar that is erased by blanks', 'loading 50%\r           \rdone\n', 'done\n'],
  ['erasing to the end of the line', 'abcdef\rxy\x1b[K\n', 'xy\n'],
  ['erasing from the beginning to the cursor', 'abcdef\x1b[3D\x1b[1K\n', '    ef\n'],
  ['erasing the line and going to its first column', 'abc\x1b[2K\x1b[1Gx\n', 'x\n'],
  ['erasing by the one-character form', 'abc\r\x9bKx\n', 'x\n'],
  ['a spinner', '|\b/\b-\b\\\bdone\n', 'done\n'],
  ['a spinner behind a word', 'wait |\b/\b-\b \b\n', 'wait\n'],
  ['backspaces beyond the beginning', 'a\b\b\bbc\n', 'bc\n'],
  ['the cursor to the right', 'ab\r\x1b[1Cx\x1b[3Cy\n', 'ax   y\n'],
  ['wide characters', '进度一\r完成\n', '完成一\n'],
  ['half of a wide character', '日本\rx\n', 'x 本\n'],
  ['an emoji that is taken back', 'a🌍\b\b🌎\n', 'a🌎\n'],
  ['combining marks', 'e\u0301\rx\n', 'x\n'],
  ['tabs', 'a\tb\rx\n', 'x\tb\n'],
  ['a tab that is overwritten', '\tb\rxy\n', 'xy      b\n'],
  ['colours within a bar', '\x1b[32m10%\x1b[0m\r\x1b[32m20%\x1b[0m\n', '20%\n'],
  ['bars of several lines: nothing is lost', 'a 1\nb 1\n\x1b[2Aa 2\nb 2\n', 'a 1\nb 1\na 2\nb 2\n'],
  ['a return in a line that no terminal shows as one', `${long}\rabc\n`, `${long}\nabc\n`],
  ['backspaces in such a line', `${long}\b\b!\n`, `${long}!\n`],
  ['such a line after a return', `a\r${long}b\n`, `${long}b\n`],
  ['blanks that are written themselves', 'a  \nb', 'a  \nb'],
  ['no end of the last line', 'a\n1\r2', 'a\n2'],
];

describe('tools: a line of a terminal', () => {
  for (const [what, written, shown] of cases)
    it(`is what was drawn last: ${what}`, () => {
      for (const size of [1, 2, 3, 7, 100_000]) {
        const kept = new CommandOutput();
        let live = '';
        let waiting = '';
        const cleaner = new TerminalOutputCleaner();
        const take = (piece: string, last = false) => {
          kept.add(piece);
          waiting = joinTerminalOutput(waiting, piece);
          if (!last && waiting.length % 2 === 1) return;
          live = appendTerminalOutput(live, waiting);
          waiting = '';
        };
        const bytes = Buffer.from(written.replaceAll('\x9b', '\u009b'));
        for (let at = 0; at < bytes.length; at += size) take(cleaner.add(bytes.subarray(at, at + size)));
        take(cleaner.end(), true);
        assert.deepEqual({ size, kept: kept.text(), live }, { size, kept: shown, live: shown });
      }
    });

  it('is shared by the streams of a command', () => {
    const line = new TerminalLine();
    const [output, errors] = [new TerminalOutputCleaner(line), new TerminalOutputCleaner(line)];
    const kept = new CommandOutput();
    for (const [cleaner, text] of [
      [output, '10%'],
      [errors, '\nwarning\n'],
      [output, '\r20%\r'],
      [output, '30%\n'],
    ] as const)
      kept.add(cleaner.add(Buffer.from(text)));
    assert.equal(kept.text(), '10%\nwarning\n30%\n');
  });

  it('gives whoever begins to listen in the middle the whole line', () => {
    const line = new TerminalLine();
    line.write('step 1');
    assert.equal(appendTerminalOutput('', line.write('\rstep 2')), 'step 2');
  });

  for (const unit of ['\rx', '\bx', '\r\tx', '\x1b[2K\rx', '\x1b[Kx\b', 'x'])
    it(`takes work in proportion to what is written: ${JSON.stringify(unit)}`, () => {
      const piece = new TerminalLine().write('x'.repeat(4000) + unit.repeat(200_000)); // by the square it takes hours
      assert.ok(piece.length <= 4001 || unit === 'x');
    });
});
