import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { applyEdits } from '../../../src/tools/edit/applyEdits.ts';
import { tries } from '../../support/tries.ts';

/** Ways in which a twin of the lines that are meant differs from the text that a model writes, and is matched all the same. */
const tolerances: Record<string, (lines: string[], at: number) => string[]> = {
  'a blank line more': (lines, at) => lines.toSpliced(at + 1, 0, ''),
  'a blank line less': (lines) => lines.toSpliced(lines.lastIndexOf('', lines.length - 2), 1),
  'trailing blanks': (lines, at) => lines.with(at, `${lines[at]}  `),
  'typographic quotes': (lines) => lines.map((line) => line.replace(/'([^']*)'/g, '\u2018$1\u2019')),
  'a dash': (lines) => lines.map((line) => line.replaceAll(' - ', ' \u2013 ')),
  'a no-break space': (lines, at) => lines.with(at, lines[at]!.replace(/(?<=\S) /, '\u00a0')),
  deeper: (lines) => lines.map((line) => (line === '' ? line : `    ${line}`)),
};

/** Changes that a user makes of a line of the lines that are meant, after the model has read them. */
const changes: Record<string, (line: string) => string[]> = {
  'another name': (line) => [line.replace(/\w+(?=\W*$)/, '$&Now')],
  'a comment': (line) => [`${line} // checked`],
  'a line after it': (line) => [line, 'log(everything);'],
  'a line before it': (line) => ['log(everything);', line],
  'another argument': (line) => [line.replace(/\(/, '(context, ')],
};

const wishes: Record<string, (line: string) => string[]> = {
  'another name': (line) => [line.replace(/\w+(?=\W*$)/, 'wished')],
  'a line after it': (line) => [line, 'wished();'],
  'another line': () => ['wished();'],
};

const name = fc.constantFrom('url', 'method', 'headers', 'body', 'mode', 'cache', 'signal');
const statement = fc.oneof(
  fc.tuple(name, name).map(([a, b]) => `request.${a} = options.${b} ?? read('${a}');`),
  fc.tuple(name, name).map(([a, b]) => `check(${a} - ${b}, 'the ${a}');`),
  fc.tuple(name, name).map(([a, b]) => `${a}.append('${b}', value - 1);`),
  fc.tuple(name).map(([a]) => `log(options.${a});`),
);

const cases = fc
  .uniqueArray(statement, { minLength: 4, maxLength: 9 })
  .chain((statements) =>
    fc.record({
      lines: fc.constant(statements.flatMap((line, index) => (index % 2 === 1 ? [line, ''] : [line]))),
      tolerance: fc.constantFrom(...Object.keys(tolerances)),
      toleranceAt: fc.nat(statements.length - 2),
      change: fc.constantFrom(...Object.keys(changes)),
      changeAt: fc.nat(statements.length - 1),
      wish: fc.constantFrom(...Object.keys(wishes)),
      wishAt: fc.nat(statements.length - 1),
      isTwinFirst: fc.boolean(),
    }),
  )
  .map((one) => ({ ...one, lines: one.lines.at(-1) === '' ? one.lines.slice(0, -1) : one.lines }));

const textLines = (lines: readonly string[]) => lines.flatMap((line, index) => (line === '' ? [] : [index]));

describe('an edit of lines that the user changed, with a twin elsewhere in the file that only a tolerance tells apart', () => {
  it('never changes the twin', () => {
    let refused = 0;
    fc.assert(
      fc.property(cases, (one) => {
        const { lines } = one;
        const at = textLines(lines);
        const meant = lines.flatMap((line, index) =>
          index === at[one.changeAt] ? changes[one.change]!(line) : [line],
        );
        const twin = tolerances[one.tolerance]!(lines, at[one.toleranceAt]!);
        const [oldText, newText] = [
          lines.join('\n'),
          lines.flatMap((line, index) => (index === at[one.wishAt] ? wishes[one.wish]!(line) : [line])).join('\n'),
        ];
        const around = (body: string[]) => ['export function request(options) {', ...body, '}', ''];
        const parts = one.isTwinFirst ? [around(twin), around(meant)] : [around(meant), around(twin)];
        const middle = '// between the two';
        const text = [...parts[0]!, middle, ...parts[1]!].join('\n');
        fc.pre(oldText !== newText && !text.includes(oldText) && twin.join('\n') !== oldText);
        const result = applyEdits(text, [{ oldText, newText }]);
        if (!result.ok) {
          refused++;
          return;
        }
        const side = one.isTwinFirst ? 0 : 1;
        assert.equal(
          result.text.split(middle)[side],
          text.split(middle)[side],
          `${one.tolerance}, ${one.change}\n${text}\n--- old\n${oldText}\n--- new\n${newText}`,
        );
      }),
      { numRuns: tries(1000, 10_000, 3000), seed: 33 },
    );
    assert.ok(refused > 300, `${refused} were refused`);
  });
});
