import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { applyEdits, type SearchReplaceEdit } from '../../../src/tools/edit/applyEdits.ts';
import { normalizeLineForMatch, normalizeText } from '../../../src/tools/edit/normalizeText.ts';
import { isOmittedCodePlaceholder } from '../../../src/tools/edit/placeholder.ts';
import { randomFrom } from '../../support/random.ts';

/** What the file becomes, or in brackets why not and where. */
function check(name: string, text: string, edits: [string, string][], expect: string, matched = 'exact'): void {
  it(name, () => {
    const result = applyEdits(
      text,
      edits.map(([oldText, newText]): SearchReplaceEdit => ({ oldText, newText })),
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

describe('edits: exact text that is not all there is to it', () => {
  check('a word of the file is cut: it has been changed since', 'total = 10\n', [['total = 1', 'total = 2']], '[CUTS_WORD edit 0 lines 1]'); // biome-ignore format: one case, one line
  check('a cut word that stays is no harm', 'sayHello();\n', [['Hello()', 'Hello(1)']], 'sayHello(1);\n');
  check(
    'lines given without their indentation come in with it',
    '  a();\n',
    [['a();', 'a();\nb();']],
    '  a();\n  b();\n',
  );
  check('so do those before', '  a();\n', [['a();', 'b();\na();']], '  b();\n  a();\n');
  check('and those around', '  a();\n', [['a();', 'if (b) {\n  a();\n}']], '  if (b) {\n    a();\n  }\n');
  check('only the first was given without', '  a();\n', [['a();', 'a();\n  b();']], '  a();\n  b();\n');
  check('the first line goes away', '  a();\n}\n', [['a();\n}', '}']], '}\n');
  check('it goes away alone', '    if a:\n        b()\n    c()\n', [['b()\n', '']], '    if a:\n    c()\n');
  check('with less than its indentation, too', '    a();\n  b();\n', [['  a();\n', '']], '  b();\n');
  check(
    'and what comes first then stays as it is',
    '    if a:\n        b()\n    c()\n',
    [['b()\n    c()', 'c()']],
    '    if a:\n    c()\n',
  );
  check('unless it was in what goes away', '    if a:\n        b()\n', [['if a:\n        b()', 'b()']], '    b()\n');
  check(
    'a line before lines of which only the first was given without',
    '    for a in b:\n        c()\n',
    [['for a in b:\n        c()', 'd()\n    for a in b:\n        c()\n    e()']],
    '    d()\n    for a in b:\n        c()\n    e()\n',
  );
  check(
    'the same where blanks at an end differ',
    '    for a in b:  \n        c()\n',
    [['for a in b:\n        c()', 'd()\n    for a in b:\n        c()']],
    '    d()\n    for a in b:  \n        c()\n',
    'tolerant',
  );
  check('the same on the last line', '  a();', [['a();\n', 'b();\n  c();\n']], '  b();\n  c();', 'tolerant');
  check('blanks at the end of a kept line stay there', 'a  \nb\n', [['a', 'a\nx']], 'a  \nx\nb\n');
  check('blanks at the end of a changed line stay, too', 'a  \nb\n', [['a', 'x\ny']], 'x\ny  \nb\n');
  check(
    'a part of a line, where another line is that',
    '  if (a) {\n    b();\n    } else {\n    c();\n\t}\n',
    [['    }', '    }\n    d();']],
    '[NOT_UNIQUE edit 0 lines 3 5]',
  );
  check(
    'a part of lines from a line end on',
    'a;\n  return x;\n}\n',
    [['\n  return x', '\n  return y']],
    'a;\n  return y;\n}\n',
  );
  check(
    'more indentation than the file has is no less',
    'a {\n  b;\n}\n',
    [['    b;\n}', '    b;\n    c;\n}']],
    'a {\n  b;\n  c;\n}\n',
    'tolerant',
  );
  check(
    'of equal lines the one in its place is kept',
    'a  \nx\nx  \nb\n',
    [['a\nx\nx\nb', 'a\ny\nx\nb']],
    'a  \ny\nx  \nb\n',
    'tolerant',
  );
  check('a forgotten line ending at the end', 'a\nb\n', [['a\n', 'c']], 'c\nb\n');
  check('two lines are joined', 'a\nb\n', [['a\n', 'a']], 'ab\n');
  check('a byte order mark in the edit is none', 'a\n', [['\ufeffa', 'b']], 'b\n');
  check(
    'lines without their indentation are looked for everywhere',
    '  a();\n  b();\n\n\ta();\n\tb();\n',
    [['a();\n  b();', 'c();']],
    '[NOT_UNIQUE edit 0 lines 1 4]',
  );
  check(
    'it is done already',
    'const total = computeTheSum();\n',
    [['const total = 0;', 'const total = computeTheSum();']],
    '[DONE_ALREADY edit 0 lines 1]',
  );
});

describe('edits: by lines, one in ten only similar', () => {
  const lines = ['const one = first(1);', ...Array.from({ length: 9 }, (_, index) => `  line number ${index} of ten;`)];
  const text = `${lines.join('\n')}\n`;
  const typo = (line: string, own: string[] = lines) => own.with(0, line);
  const changed = (own: string[]) => own.with(5, '  changed();');
  const edit = (own: string[]): [string, string] => [own.join('\n'), changed(own).join('\n')];
  check('a slip in kept context', text, [edit(typo('const one = frist(1);'))], `${changed(lines).join('\n')}\n`, 'tolerant'); // biome-ignore format: one case, one line
  check(
    'with fewer than ten lines',
    text,
    [edit(typo('const one = frist(1);').slice(0, 9))],
    '[ABSENT edit 0 lines 1 9]',
  );
  check('too different', text, [edit(typo('const two = other(1);'))], '[ABSENT edit 0 lines 1 10]');
  check('of case alone', text, [edit(typo('const One = first(1);'))], '[ABSENT edit 0 lines 1 10]');
  check('another number', text, [edit(typo('const one = first(2);'))], '[ABSENT edit 0 lines 1 10]');
  check('another name', text, [edit(typo('const one = firstSync(1);'))], '[ABSENT edit 0 lines 1 10]');
  check('several other marks', `read({ key: '&=&' });\n${text}`, [edit(lines).map((side) => `read({ key: '=&&&' });\n${side}`) as [string, string]], '[ABSENT edit 0 lines 1 11]'); // biome-ignore format: one case, one line
  check('other quotes', `read({ key: 'a-key' });\n${text}`, [edit(lines).map((side) => `read({ key: "a-key" });\n${side}`) as [string, string]], `read({ key: 'a-key' });\n${changed(lines).join('\n')}\n`, 'tolerant'); // biome-ignore format: one case, one line
  check('a word more', text, [edit(typo('const one = first(1); or'))], '[ABSENT edit 0 lines 1 10]');
  check(
    'in one of several equal lines, one of which changes',
    `${lines.slice(0, 8).join('\n')}\ncalls();\nfoos();\ncalls();\nend();\n`.replaceAll('calls()', 'callOnce()').replace('foos()', 'callOnces()'), // biome-ignore format: one case, one line
    [
      [
        [...lines.slice(0, 8), 'callOnce();', 'callOnce();', 'callOnce();'].join('\n'),
        [...lines.slice(0, 8), 'callOnce();', 'other();', 'callOnce();'].join('\n'),
      ],
    ],
    '[CHANGES_SIMILAR edit 0 lines 1 11]',
  );
  check('two of ten', text, [edit(typo('const one = frist(1);').with(9, '  line number 8 of tne;'))], '[ABSENT edit 0 lines 1 10]'); // biome-ignore format: one case, one line
  check(
    'in the line that changes',
    text,
    [[typo('const one = frist(1);').join('\n'), typo('const two = 2;').join('\n')]],
    '[CHANGES_SIMILAR edit 0 lines 1 10]',
  );
  check('twice', text + text, [edit(typo('const one = frist(1);'))], '[NOT_UNIQUE edit 0 lines 1 11]');
});

describe('edits: by lines, with other blank lines', () => {
  const blank = (name: string, text: string, edit: [string, string], expect: string) =>
    check(name, text, [edit], expect, 'tolerant');
  blank('one is missing in the search', 'a;\n\nb;\nc;\n', ['a;\nb;\nc;', 'a;\nb;\nd;'], 'a;\n\nb;\nd;\n');
  blank('one too many in the search', 'a;\nb;\nc;\n', ['a;\n\nb;\nc;', 'a;\n\nb;\nd;'], 'a;\nb;\nd;\n');
  blank('between two that change', 'a;\n\nb;\n', ['a;\nb;', 'c;\nd;'], 'c;\n\nd;\n');
  blank('at the beginning of the search', 'a;\nb;\n', ['\na;\nb;', '\na;\nc;'], 'a;\nc;\n');
  check('the change is about them', 'a;\n\nb;\n', [['a;\nb;', 'a;\n\nb;']], '[CHANGES_BLANKS edit 0 lines 1 3]');
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
  tolerant('a kind of line ending for every line', ' a\r\n b\n', ['a\nb', 'c\nd'], ' c\r\n d\n');
  check(
    'found only at another indentation, while something like it is at its own: somebody changed that since',
    'if (a) {\n  count(1);\n}\nfor (;;) {\n  if (a) {\n    count();\n  }\n}\n',
    [['if (a) {\n  count();\n}\n', 'if (a) {\n  count(2);\n}\n']],
    '[OTHER_INDENTATION edit 0 lines 5 7]',
  );
  check(
    'the same of a line that is found within a deeper one',
    'total += item;\nif (a) {\n    total += 1;\n}\n',
    [['total += 1;', 'total += 2;']],
    '[OTHER_INDENTATION edit 0 lines 3]',
  );
  tolerant(
    'what is like it stands deeper than it was written, too',
    'x:\n    count(1)\ny:\n        count(2)\n        stop()\n',
    ['count(2)\nstop()', 'count(3)\nstop()'],
    'x:\n    count(1)\ny:\n        count(3)\n        stop()\n',
  );
  check(
    'the same behind a long beginning that is not indented',
    `${'// note\n'.repeat(20)}  count(all, 1);\n  stop();\n${'// more\n'.repeat(3)}${'// note\n'.repeat(20)}    count(all);\n    stop();\n`,
    [[`${'// note\n'.repeat(20)}  count(all);\n  stop();`, `${'// note\n'.repeat(20)}  stop();`]],
    '[OTHER_INDENTATION edit 0 lines 26 47]',
  );
  check(
    'at another indentation in more lines than are looked through for something like it',
    `${'x\n'.repeat(50_000)}  a();\n  b();\n`,
    [['a();\nb();', 'c();\nb();']],
    '[INDENTATION edit 0 lines 50001 50002]',
  );
  check(
    'new lines whose depth cannot be told',
    'if a:\n    b()\nc()\n',
    [['if a:\nb()\nc()\n', 'if a:\nb()\nd()\nc()\n']],
    '[INDENTATION edit 0 lines 1 3]',
  );
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

describe('edits: several in one text', () => {
  check('two that change each other', 'one\ntwo\n', [['one', 'two'], ['two', 'one']], 'two\none\n'); // biome-ignore format: one case, one line
  check('text that an edit makes twice', 'a1\nb1\n', [['a1', 'b1'], ['b1', 'c1']], 'b1\nc1\n'); // biome-ignore format: one case, one line
  check('one that changes nothing', 'a\nb\n', [['a', 'a'], ['b', 'c']], 'a\nc\n'); // biome-ignore format: one case, one line
  check('both change a line', 'x\ny\nz\n', [['x\ny', '1\n2'], ['y\nz', '3\n4']], '[OVERLAP edit 1 lines 2]'); // biome-ignore format: one case, one line
  check('the same one twice', 'x\n', [['x', 'y'], ['x', 'y']], '[OVERLAP edit 1 lines 1]'); // biome-ignore format: one case, one line
  check('one within another', 'x\ny\nz\n', [['x\ny\nz', '1'], ['y', '2']], '[OVERLAP edit 1 lines 2]'); // biome-ignore format: one case, one line
  check('both insert at the line that they share', 'x\ny\nz\n', [['x\ny', 'x\n1\ny'], ['y\nz', '2\ny\nz']], '[OVERLAP edit 1 lines 2]'); // biome-ignore format: one case, one line
  check('they share a line that stays', 'x\ny\nz\n', [['x\ny', '1\ny'], ['y\nz', 'y\n2']], '1\ny\n2\n'); // biome-ignore format: one case, one line
  check('they insert between neighbours', 'x\ny\n', [['y', '2\ny'], ['x', 'x\n1']], 'x\n1\n2\ny\n'); // biome-ignore format: one case, one line
  check('a line that occurs twice and inserted', 'a\na\nb\n', [['a\na\nb', 'a\na\na\nb'], ['a\nb', 'c\nb']], '[OVERLAP edit 1 lines 2]'); // biome-ignore format: one case, one line
  check('tolerant ones', 'f(“a”);\ng(“b”);\n', [['f("a");', 'f("c");'], ['g("b");', '']], 'f(“c”);\n', 'tolerant'); // biome-ignore format: one case, one line

  it('become what each line becomes alone', () => {
    const word = fc.constantFrom('ab', 'cd', 'ef', 'gh', 'ij', 'kl', 'mn', 'op');
    const lines = fc.uniqueArray(word, { minLength: 1, maxLength: 8 });
    const change = fc.oneof(
      fc.constant(undefined),
      fc.constant(''),
      word,
      fc.tuple(word, word).map((all) => all.join('\n')),
    );
    fc.assert(
      fc.property(
        lines,
        fc.array(change, { minLength: 8, maxLength: 8 }),
        fc.boolean(),
        (lines, changes, isReversed) => {
          const now = lines.map((line, index) => changes[index] ?? line);
          const edits = lines.flatMap((line, index) =>
            now[index] === line ? [] : [{ oldText: line, newText: now[index]! }],
          );
          if (edits.length === 0) return;
          const result = applyEdits(lines.map((line) => `${line}\n`).join(''), isReversed ? edits.toReversed() : edits);
          const wanted = now.map((line) => (line === '' ? '' : `${line}\n`)).join('');
          assert.deepEqual(result, { ok: true, text: wanted, matched: 'exact' });
        },
      ),
      { numRuns: 1000 },
    );
  });
});

describe('edits: text that stands for text left out', () => {
  const placeholders = [
    '… 12,345 characters left out …',
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
    '# …',
    '  // ...',
    '<!-- ... -->',
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
  for (const line of placeholders) it(`refuses ${line}`, () => assert.equal(isOmittedCodePlaceholder(line), true));
  for (const line of ordinary)
    it(`accepts ${line || 'an empty line'}`, () => assert.equal(isOmittedCodePlaceholder(line), false));
});

describe('edits: a line as it is compared', () => {
  it('is the same with its places and without, however its letters are put together', () => {
    const random = randomFrom(15);
    const pieces = [
      'e',
      '\u0301',
      ' ',
      '\u00a0',
      '\u2014',
      '\u201c',
      '\ufb01',
      '\uff9e',
      '\u30ab',
      '\u1100\u1161',
      '\u200d',
      '😀',
      '\u00a8',
      '\ud800',
    ];
    for (let time = 0; time < 3000; time++) {
      const line = Array.from({ length: random.upTo(8) }, () => random.pick(pieces)).join('');
      assert.equal(normalizeLineForMatch(line), normalizeText(line.trim()).text.trim(), JSON.stringify(line));
    }
  });
});
