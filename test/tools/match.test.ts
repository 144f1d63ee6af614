import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { applyEdits, type Edit } from '../../src/tools/files/match.ts';
import { isPlaceholder } from '../../src/tools/files/placeholder.ts';

/** What the file becomes, or in brackets why not and where. */
function check(name: string, text: string, edits: [string, string][], expect: string, matched = 'exact'): void {
  it(name, () => {
    const result = applyEdits(
      text,
      edits.map(([oldText, newText]): Edit => ({ oldText, newText })),
    );
    if (result.ok) assert.deepEqual([result.text, result.matched], [expect, matched]);
    else assert.equal(`[${result.reason} edit ${result.index} lines ${result.lines.join(' ')}]`, expect);
  });
}

describe('edits: exact', () => {
  check('one place', 'a\nb\nc\n', [['b', 'B']], 'a\nB\nc\n');
  check('a part of a line', 'const a = 1;\n', [['1', '2']], 'const a = 2;\n');
  check('several, each on the result of the one before', 'a\n', [['a', 'b'], ['b', 'c']], 'c\n'); // biome-ignore format: one case, one line
  check('one of several fails: none is made', 'a\nb\n', [['a', 'A'], ['x', 'X']], '[ABSENT edit 1 lines ]'); // biome-ignore format: one case, one line
  check('removing', 'a\nb\nc\n', [['b\n', '']], 'a\nc\n');
  check('twice there', 'x\ny\nx\n', [['x', 'z']], '[NOT_UNIQUE edit 0 lines 1 3]');
  check('overlapping itself', 'aXaXa', [['aXa', 'b']], '[NOT_UNIQUE edit 0 lines 1]');
  check('nothing to look for', 'a', [['', 'b']], '[EMPTY edit 0 lines ]');
  check('nothing to change', 'a', [['a', 'a']], '[NO_CHANGE edit 0 lines ]');
  check('dollar signs are text', 'price\n', [['price', "$& $1 $' $$"]], "$& $1 $' $$\n");
  check('Windows line endings stay', 'a\r\nb\r\nc\r\n', [['a\nb', 'a\nx\nb']], 'a\r\nx\r\nb\r\nc\r\n');
  check('a Windows edit on a Unix file', 'a\nb\n', [['a\r\nb', 'a\r\nc']], 'a\nc\n');
  check('no line ending at the end stays none', 'a\nb', [['b', 'c']], 'a\nc');
  check('the nearest candidate is named', 'one\nconst total = sum(all);\n', [['const total = sum(most);', 'x']], '[ABSENT edit 0 lines 2]'); // biome-ignore format: one case, one line
  check(
    'a difference of case is a difference',
    'const Name = 1;\n',
    [['const name = 1;', 'x']],
    '[ABSENT edit 0 lines 1]',
  );
});

describe('edits: by lines, apart from blanks and typography', () => {
  const tolerant = (name: string, text: string, edit: [string, string], expect: string) =>
    check(name, text, [edit], expect, 'tolerant');
  tolerant(
    'the file keeps its indentation',
    'class A {\n    run() {\n        go();\n    }\n}\n',
    ['run() {\n  go();\n}', 'run() {\n  go();\n  stop();\n}'],
    'class A {\n    run() {\n        go();\n        stop();\n    }\n}\n',
  );
  tolerant(
    'tabs in the file, blanks in the edit',
    'if (a) {\n\tb();\n\tif (c) {\n\t\td();\n\t}\n}\n',
    ['if (a) {\n  b();\n  if (c) {', 'if (a) {\n  b();\n  for (;;) {\n    e();\n  }\n  if (c) {'],
    'if (a) {\n\tb();\n\tfor (;;) {\n\t\te();\n\t}\n\tif (c) {\n\t\td();\n\t}\n}\n',
  );
  tolerant(
    'a deeper level than any line of the edit has',
    '    if x:\n        y()\n',
    ['if x:\n  y()', 'if x:\n  while z:\n    y()'],
    '    if x:\n        while z:\n            y()\n',
  );
  tolerant(
    'typographic quotes survive in what is not changed',
    'say “hello” — to all\nend\n',
    ['say "hello" - to all', 'say "hello" - to some'],
    'say “hello” — to some\nend\n',
  );
  tolerant('trailing blanks survive', 'a  \nb\t\nc\n', ['a\nb\nc', 'a\nB\nc'], 'a  \nB\nc\n');
  tolerant('Windows line endings survive', '\ta\r\n\tb\r\n', ['a\nb', 'a\nx\nb'], '\ta\r\n\tx\r\n\tb\r\n');
  tolerant('NFD and NFC are one text', 'cafe\u0301 x\ny\n', ['café x\ny\n', 'café z\ny\n'], 'cafe\u0301 z\ny\n');
  tolerant('no line ending at the end stays none', '  a\n  b', ['a\nb', 'a\nc'], '  a\n  c');
  tolerant('lines at the end are removed', '  a\n  b\n  c\n', ['b\nc', ''], '  a\n');
  check('twice there', '  a();\nx\n\ta();\n', [['    a();', 'b();']], '[NOT_UNIQUE edit 0 lines 1 3]');
  check('blank lines alone match nothing', 'a\n\n\nb\n', [['\n \n', 'x']], '[ABSENT edit 0 lines ]');

  it('properties: what an exact edit puts in can be taken out again', () => {
    const line = fc.stringMatching(/^[a-z (){};"'\t]{0,12}$/);
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 8 }), fc.nat(7), line, (lines, at, inserted) => {
        const marked = `@${inserted}@`;
        const text = lines.with(at % lines.length, '#here#').join('\n');
        const there = applyEdits(text, [{ oldText: '#here#', newText: marked }]);
        assert.ok(there.ok);
        const back = applyEdits(there.text, [{ oldText: marked, newText: '#here#' }]);
        assert.ok(back.ok && back.text === text);
      }),
    );
  });

  it('properties: lines outside the match are never touched', () => {
    const indent = fc.constantFrom('', ' ', '    ', '\t', '\t\t');
    const around = fc.array(fc.stringMatching(/^[ \ta-z]{0,6}$/), { maxLength: 4 });
    fc.assert(
      fc.property(around, around, indent, indent, (before, after, fileIndent, editIndent) => {
        const text = [...before, `${fileIndent}KEEP(1)`, `${fileIndent}OLD(“2”)`, ...after, ''].join('\n');
        const oldText = `${editIndent}KEEP(1)\n${editIndent}OLD("2")`;
        const newText = `${editIndent}KEEP(1)\n${editIndent}NEW("2")`;
        const result = applyEdits(text, [{ oldText, newText }]);
        assert.ok(result.ok);
        assert.equal(result.text, text.replace('OLD', 'NEW'));
      }),
    );
  });
});

describe('edits: text that stands for text left out', () => {
  const placeholders = [
    '// ... rest unchanged',
    '  # ... existing code ...',
    '/* … remaining methods stay the same … */',
    '// rest of the file unchanged',
    '<!-- ... other content ... remains unchanged -->',
    '... rest of the code ...',
    '// existing code here',
    '{/* ... existing JSX ... */}',
    '[... rest of file omitted ...]',
    '-- rest of the function remains the same',
  ];
  const ordinary = [
    '// the rest parameters are collected here, in order',
    'const rest = [...existing, ...remaining];',
    '...rest',
    '  ...existing,',
    '// wait...',
    '# Keep the existing database',
    '// unchanged lines are shown grey',
    'print("...")',
    '// see https://example.com/rest',
    '',
  ];
  for (const line of placeholders) it(`refuses ${line}`, () => assert.equal(isPlaceholder(line), true));
  for (const line of ordinary) it(`accepts ${line || 'an empty line'}`, () => assert.equal(isPlaceholder(line), false));
});
