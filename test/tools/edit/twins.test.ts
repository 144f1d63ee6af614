import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { applyEdits } from '../../../src/tools/edit/applyEdits.ts';
import { tries } from '../../support/tries.ts';

/** A block that a file has twice, at two indentations, and what the person made of the one that an edit is for. */
interface Twins {
  lines: string[];
  /** Of the one that is meant, and of the other. */
  indents: [string, string];
  unit: string;
  meantFirst: boolean;
  change: (line: string) => string[];
  at: number;
  wish: (line: string) => string[];
  wishAt: number;
  ending: string;
  /** The edit begins where the words do. */
  bare: boolean;
  /** The person changed a second line, too. */
  alsoAt?: number;
}

const name = fc.constantFrom('item', 'total', 'cache', 'user', 'index', 'options', 'result', 'key');
const statement = fc.oneof(
  fc.tuple(name, name, name).map(([a, b, c]) => `const ${a} = ${b}.get(${c});`),
  fc.tuple(name, name).map(([a, b]) => `${a}.push(${b});`),
  fc.tuple(name, fc.nat(9)).map(([a, n]) => `${a} += ${n};`),
  fc.tuple(name, name).map(([a, b]) => `return ${a} ?? ${b};`),
  fc.tuple(name, name).map(([a, b]) => `if (${a} === ${b}) update(${a});`),
);
/** Statements, some of them within a loop, some between lines that stand at the margin wherever the rest does. */
const block = fc
  .tuple(
    fc.array(statement, { minLength: 1, maxLength: 4 }),
    fc.option(fc.tuple(name, name, fc.array(statement, { minLength: 1, maxLength: 3 }))),
    fc.option(fc.tuple(name, statement)),
  )
  .map(([plain, loop, guarded]) => [
    ...plain,
    ...(loop ? [`for (const ${loop[0]} of ${loop[1]}) {`, ...loop[2].map((line) => `>${line}`), '}'] : []),
    ...(guarded ? [`<#if ${guarded[0]}`, guarded[1], '<#endif'] : []),
  ]);
const change: fc.Arbitrary<Twins['change']> = fc.constantFrom(
  (line: string) => [line.replace(/\w+(?=\W*$)/, '$&Now')],
  (line: string) => [`${line} // checked`],
  (line: string) => [line, 'log(everything);'],
  (line: string) => ['log(everything);', 'log(more);', line],
  (line: string) => ['if (ready) {', line, '}'],
  (line: string) => [line.replace(/\w+/, 'await $&')],
);
const wish: fc.Arbitrary<Twins['wish']> = fc.constantFrom(
  (line: string) => [line.replace(/\w+(?=\W*$)/, 'wished')],
  (line: string) => [line, 'wished();'],
  () => ['wished();'],
);
const twins: fc.Arbitrary<Twins> = fc
  .tuple(fc.constantFrom('  ', '    ', '\t'), fc.nat(3), fc.nat(3), block)
  .filter(([, meant, other]) => meant !== other)
  .chain(([unit, meant, other, lines]) =>
    fc.record({
      lines: fc.constant(lines),
      unit: fc.constant(unit),
      indents: fc.constant([unit.repeat(meant), unit.repeat(other)] as [string, string]),
      meantFirst: fc.boolean(),
      change,
      at: fc.nat(lines.length - 1),
      wish,
      wishAt: fc.nat(lines.length - 1),
      ending: fc.constantFrom('', '\n'),
      bare: lines.length > 1 ? fc.boolean() : fc.constant(false),
      alsoAt: lines.length > 4 ? fc.option(fc.nat(lines.length - 1), { nil: undefined }) : fc.constant(undefined),
    }),
  );

const middle = '// between the two';

/** The block at an indentation, some of its lines made others; `>` is a level deeper, `<` at the margin. */
function put(
  { lines, unit }: Twins,
  indent: string,
  at: (number | undefined)[] = [],
  make = (line: string) => [line],
): string[] {
  return lines.flatMap((line, index) => {
    const own = line.startsWith('<') ? '' : indent + (line.startsWith('>') ? unit : '');
    const text = line.replace(/^[<>]/, '');
    return (at.includes(index) ? make(text) : [text]).map((one) => own + one);
  });
}

function play(one: Twins) {
  const { indents, meantFirst, at, wishAt, ending } = one;
  const changed = put(one, indents[0], [at, one.alsoAt], one.change);
  const other = put(one, indents[1]);
  const around = (lines: string[]) => ['function a() {', ...lines, '}', ''];
  const sides = meantFirst ? [around(changed), around(other)] : [around(other), around(changed)];
  const text = [...sides[0]!, middle, ...sides[1]!].join('\n');
  const from = one.bare ? indents[0].length : 0;
  const oldText = put(one, indents[0]).join('\n').slice(from) + ending;
  const newText = put(one, indents[0], [wishAt], one.wish).join('\n').slice(from) + ending;
  return { text, oldText, newText, result: applyEdits(text, [{ oldText, newText }]) };
}

describe('a block that is in a file twice, at two indentations, and that the person changed in one place', () => {
  it('is never edited in the other', () => {
    let refused = 0;
    fc.assert(
      fc.property(twins, (one) => {
        const { text, oldText, newText, result } = play(one);
        fc.pre(oldText !== newText && !text.includes(oldText));
        if (!result.ok) refused++;
        else {
          const side = one.meantFirst ? 1 : 0;
          const [before, after] = [text, result.text].map((whole) => whole.split(middle)[side]);
          assert.equal(after, before, JSON.stringify({ text, oldText, newText }, undefined, 1));
        }
      }),
      { numRuns: tries(1500, 5000), seed: 5 },
    );
    assert.ok(refused > tries(300, 1000), `${refused} were refused`);
  });
});
