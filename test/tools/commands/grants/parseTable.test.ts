import assert from 'node:assert/strict';
import { parseGrantTable } from '../../../../src/tools/commands/grants/parseTable.ts';
import { expandGrantRows } from '../../../../src/tools/commands/grants/tableRows.ts';
import { grantTables } from '../../../../src/tools/commands/grants/tables.ts';

const rows = (text: string) => expandGrantRows(parseGrantTable(text, 'a.txt'));

describe('a table of commands', () => {
  it('gives a row for each command, with what its section and its sets say', () => {
    const text = `
# Options that all of them have.
@shared
  -v --verbose

@more
  @shared --format,-f=json|text

[checks]
  why: It checks the project. Options that
    write are asked about.
  installed by: npm, pip
  one dash

lint {,run?}
check
  -q @more -n=#
    --dry-run
  before: @shared
  operands: files, /^[/|, ]+$/i, fast | slow
  count: 1-3
  needs: -q -n
  also: /^a$/
  also: /^b$/
  rest: --all
  rest operands: text
  second shell

[looks]
  why: It shows the project.

show
`;
    const common = {
      kind: 'checks',
      why: 'It checks the project. Options that write are asked about.',
      installedBy: ['npm', 'pip'],
      oneDash: true,
      options: '-q -v --verbose --format,-f=json|text -n=# --dry-run',
      before: '-v --verbose',
      operands: ['files', '/^[/|, ]+$/i', 'fast|slow'],
      min: 1,
      max: 3,
      needs: ['-q', '-n'],
      also: '/^a$|^b$/',
      rest: { options: '--all', operands: 'text' },
      secondShell: true,
    };
    assert.deepEqual(rows(text), [
      { command: 'lint', ...common },
      { command: 'lint run', ...common, unseen: true },
      { command: 'check', ...common },
      { command: 'show', kind: 'looks', why: 'It shows the project.' },
    ]);
  });

  const section = '[looks]\n  why: It looks.\n\n';
  const mistakes: [what: string, text: string, says: string][] = [
    ['a command in front of every section', 'a\n', 'a.txt:1: it is in no section: a'],
    ['an unknown kind', '[writes]\n  why: x\n', 'a.txt:1: no kind of looks, checks, asks, loads: [writes]'],
    ['a section without a reason', '[looks]\n', 'a.txt:1: it says not why: [looks]'],
    [
      'a tool of the project that runs none of its code',
      '[looks]\n  why: x\n  installed by: npm\n',
      'a.txt:1: the copy of a tool that a project has installed is code of the project: [looks]',
    ],
    ['an unknown set', `${section}a\n  -v @more\n`, 'a.txt:5: there is no @more above: -v @more'],
    ['a set twice', '@a\n  -v\n\n@a\n  -q\n', 'a.txt:4: it is there twice: @a'],
    ['an attribute in a set', '@a\n  operands: text\n', 'a.txt:1: a set has nothing but options: @a'],
    ['a word that is no option', `${section}a\n  -v x\n`, 'a.txt:5: x is no option: -v x'],
    ['an unknown type of value', `${section}a\n  -v=<nmae>\n`, 'a.txt:5: <nmae> is no type of a value: -v=<nmae>'],
    ['unknown operands', `${section}a\n  operands: pahts\n`, 'a.txt:5: no operands: pahts: operands: pahts'],
    ['a broken pattern', `${section}a\n  operands: /(/\n`, 'a.txt:5: no operands: /(/: operands: /(/'],
    ['a pattern that remembers', `${section}a\n  also: /a/g\n`, 'a.txt:5: it is no pattern: also: /a/g'],
    ['patterns with other flags', `${section}a\n  also: /a/\n  also: /b/i\n`, 'a.txt:6: its flags differ: also: /b/i'],
    ['an unknown attribute', `${section}a\n  oprands: text\n`, 'a.txt:5: oprands is no attribute: oprands: text'],
    ['an unknown mark', `${section}a\n  two dashes\n`, 'a.txt:5: two dashes is no attribute: two dashes'],
    ['an attribute twice', `${section}a\n  count: 1\n  count: 2\n`, 'a.txt:6: it is there twice: count: 2'],
    ['a mark twice', `${section}a\n  one dash\n  one dash\n`, 'a.txt:6: it is there twice: one dash'],
    ['a count of nothing', `${section}a\n  count: some\n`, 'a.txt:5: some is no count: count: some'],
    ['an unknown installer', `${section}a\n  installed by: apt\n`, 'a.txt:5: apt installs nothing: installed by: apt'],
    ['a line in between', `${section}a\n   -v\n`, 'a.txt:5: lines are indented by two blanks, and those that continue another one by four: -v'],
    ['a line below nothing', '  -v\n', 'a.txt:1: nothing is above it: -v'],
    ['a line that continues nothing', `${section}a\n    -v\n`, 'a.txt:5: lines are indented by two blanks, and those that continue another one by four: -v'],
    ['a blank that nobody sees', `${section}a\n  -v \n`, 'a.txt:5: a blank at its end, or a tab: -v'],
    ['braces in the middle', `${section}a {b,c} d\n`, 'a.txt:4: no command: a {b,c} d'],
    ['a comma between commands', `${section}a, b\n`, 'a.txt:4: no command: a, b'],
  ]; // biome-ignore format: a table
  for (const [what, text, says] of mistakes)
    it(`that has ${what} is not read`, () => {
      assert.throws(() => rows(text), { message: says });
    });

  it('has all rows of a program, so that their order is the one that is read', () => {
    const programs = grantTables.map(
      (table) => new Set(expandGrantRows(table).map(({ command }) => command.split(' ')[0])),
    );
    const all = programs.flatMap((those) => [...those]);
    assert.deepEqual(
      all.filter((program, at) => all.indexOf(program) !== at),
      [],
    );
  });

  it('takes no package manager and no interpreter from the project', () => {
    const never = /^(npm|pnpm|yarn|bun|deno|node|uv|poetry|pdm|pip|conda|bundle|gem|ruby|composer|php|direnv|rustup)$/;
    const own = grantTables.flatMap(expandGrantRows).filter(({ installedBy }) => installedBy);
    assert.ok(own.length > 200, `${own.length}`);
    assert.deepEqual(
      own.filter(({ command }) => never.test(command.split(' ')[0]!)).map(({ command }) => command),
      [],
    );
  });
});
