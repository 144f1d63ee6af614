import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import type { TextSeenByModel } from '../../../src/tools/core/tool.ts';
import { applyEdits } from '../../../src/tools/edit/applyEdits.ts';
import { applyPatch, parsePatch } from '../../../src/tools/edit/patch.ts';
import { tries } from '../../support/tries.ts';

const whole = (text: string): TextSeenByModel => ({ sha256: 'seen', text, startLine: 1, isWhole: true });

const block = ['function load(url) {', '  const body = get(url);', '  check(body);', '  return parse(body);', '}'];
const other = ['function main() {', '  run();', '}'];
const read = [...block, '', ...other].join('\n');
const edit = { oldText: block.join('\n'), newText: block.join('\n').replace('check(body)', 'checkAll(body)') };

/** What the user made of the file after the model had read it, and what becomes of the model's edit. */
const cases: [what: string, now: string[], becomes: 'applied' | 'MOVED'][] = [
  ['lines were inserted above', ['// first', '', ...block, '', ...other], 'applied'],
  ['other lines were changed', [...block, '', 'function main() {', '  runAll();', '}'], 'applied'],
  ['the lines were moved', [...other, '', ...block], 'applied'],
  [
    'the lines were copied, and the first were changed',
    [...block.with(1, '  const body = await get(url);'), '', ...block, '', ...other],
    'MOVED',
  ],
  [
    'a changed copy was added below',
    [...block, '', ...block.with(3, '  return parse(body, url);'), '', ...other],
    'applied',
  ],
  [
    'the lines were copied to the end, and those that were read were changed',
    [...block.with(3, '  return parse(body, url);'), '', ...other, '', ...block],
    'MOVED',
  ],
];

describe('an edit of a file that changed since the model read it', () => {
  for (const [what, now, becomes] of cases)
    it(`${what}: ${becomes === 'applied' ? 'it is applied' : 'it is refused with both places'}`, () => {
      const result = applyEdits(now.join('\n'), [edit], whole(read));
      assert.equal(result.ok ? 'applied' : result.reason, becomes);
      if (!result.ok) assert.ok(result.candidate && result.other, 'both places are named');
    });

  it('is refused too if the file held the text twice, and one of the two was changed', () => {
    const twice = [...block, '', ...block].join('\n');
    const now = [...block.with(2, '  checkNothing(body);'), '', ...block].join('\n');
    const result = applyEdits(now, [edit], whole(twice));
    assert.equal(result.ok || result.reason, 'MOVED');
  });

  it('is applied if the model read nothing of the file', () => {
    assert.equal(applyEdits(cases[3]![1].join('\n'), [edit]).ok, true);
  });

  it('a patch whose line numbers now name the twin is refused', () => {
    const patch = ['--- a/f', '+++ b/f', '@@ -12,5 +12,5 @@', ...block.map((line) => ` ${line}`)].join('\n');
    const wanted = patch.replace('   check(body);', '-  check(body);\n+  checkAll(body);');
    const now = ['// a copy', ...block.with(3, '  return parse(body, url);'), '', ...other, '', ...block].join('\n');
    const [file] = parsePatch(wanted);
    const result = applyPatch(now, file!, whole(read));
    assert.equal(result.ok || result.reason, 'MOVED');
  });

  const name = fc.constantFrom('url', 'method', 'headers', 'body', 'mode', 'cache', 'signal');
  const statement = fc.oneof(
    fc.tuple(name, name).map(([a, b]) => `  request.${a} = options.${b} ?? read('${a}');`),
    fc.tuple(name, name).map(([a, b]) => `  ${a}.append('${b}', value);`),
    fc.tuple(name).map(([a]) => `  log(options.${a});`),
  );

  it('never goes to an exact copy of lines that the user has changed', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(statement, { minLength: 3, maxLength: 8 }),
        fc.nat(7),
        fc.nat(7),
        fc.boolean(),
        fc.nat(3),
        (lines, changeAt, wishAt, isCopyFirst, inserted) => {
          const at = changeAt % lines.length;
          const changed = lines.with(at, lines[at]!.replace(/\w+(?=\W*$)/, '$&Now'));
          const wish = wishAt % lines.length;
          const oldText = lines.join('\n');
          const newText = lines.with(wish, '  wished();').join('\n');
          const seen = ['// top', ...lines, '// end'].join('\n');
          const more = Array.from({ length: inserted }, (_, index) => `// more ${index}`);
          const middle = '// between the two';
          const meant = ['// top', ...more, ...changed, '// end'];
          const sides = isCopyFirst ? [lines, meant] : [meant, lines];
          const now = [...sides[0]!, middle, ...sides[1]!].join('\n');
          const result = applyEdits(now, [{ oldText, newText }], whole(seen));
          assert.equal(result.ok || result.reason, 'MOVED', now);
          const calm = ['// top', ...more, ...lines, '// end'].join('\n');
          const applied = applyEdits(calm, [{ oldText, newText }], whole(seen));
          assert.equal(applied.ok && applied.text, calm.replace(oldText, newText));
        },
      ),
      { numRuns: tries(500, 10_000), seed: 34 },
    );
  });
});
