import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import * as paths from 'node:path';
import type {
  CodeLocation,
  CodeSymbol,
  LanguageProblem,
  LanguageService,
  OpenEditor,
} from '../../../src/tools/code/language.ts';
import { builtinTools } from '../../../src/tools/host/builtinTools.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { conversation, data, error } from '../conversation.ts';

/** An editor that knows what it is told, and remembers what it was asked. */
class KnownLanguage implements LanguageService {
  asked: unknown[] = [];
  problems: LanguageProblem[] = [];
  symbols: CodeSymbol[] | undefined = [];
  places: CodeLocation[] | undefined = [];
  editors: OpenEditor[] = [];
  diagnostics(path?: string) {
    return this.answer(this.problems, 'diagnostics', path);
  }
  workspaceSymbols(query: string) {
    return this.answer(this.symbols, 'workspaceSymbols', query);
  }
  documentSymbols(path: string) {
    return this.answer(this.symbols, 'documentSymbols', path);
  }
  definitions(...at: [string, number, number]) {
    return this.answer(this.places, 'definitions', ...at);
  }
  references(...at: [string, number, number]) {
    return this.answer(this.places, 'references', ...at);
  }
  openEditors() {
    return this.editors;
  }
  private async answer<Value>(value: Value, ...asked: unknown[]): Promise<Value> {
    this.asked.push(asked);
    return value;
  }
}

describe('tools: what the editor knows', () => {
  let workspace: TemporaryWorkspace;
  let language: KnownLanguage;
  let outside: string;
  const at = (path: string) => paths.join(workspace.root, path);
  const place = (path: string, line: number): CodeLocation => ({ path, name: paths.basename(path), line });
  const talk = () => conversation(workspace, { tools: builtinTools({ language }) });

  beforeEach(async () => {
    language = new KnownLanguage();
    workspace = await temporaryWorkspace({
      'src/a.ts': 'const total = 1;\nconst subtotal = total + 2;\nexport { total };\n',
      'src/b.ts': "import { total } from './a.ts';\n",
      '.env': 'KEY=CANARY\n',
    });
    outside = paths.join(paths.dirname(workspace.root), 'outside');
    mkdirSync(outside);
    writeFileSync(paths.join(outside, 'lib.d.ts'), 'declare const CANARY = 1;\n');
    symlinkSync(outside, at('link'));
  });
  afterEach(() => workspace.cleanup());

  it('problems: errors first, by file, without secrets and what is outside', async () => {
    const problem = (
      path: string,
      line: number,
      severity: LanguageProblem['severity'],
      message: string,
    ): LanguageProblem => ({
      path,
      line,
      severity,
      message,
      source: 'ts 1',
    });
    language.problems = [
      problem(at('src/b.ts'), 3, 'warning', 'unused'),
      problem(at('src/a.ts'), 2, 'error', 'not a\n  number'),
      problem(at('.env'), 1, 'error', 'CANARY'),
      problem(paths.join(outside, 'lib.d.ts'), 1, 'error', 'CANARY'),
      problem(at('link/lib.d.ts'), 1, 'error', 'CANARY'),
      problem(at('src/b.ts'), 1, 'error', 'not found'),
    ];
    const a = { path: 'src/a.ts', lines: ['2: error: not a number (ts 1)'] };
    const b = { path: 'src/b.ts', lines: ['1: error: not found (ts 1)', '3: warning: unused (ts 1)'] };
    const { call } = talk();
    assert.deepEqual(await data(call('code.diagnostics')), { errors: 2, warnings: 1, files: [a, b] });
    assert.deepEqual(await data(call('code.diagnostics', { path: 'src' })), { errors: 2, warnings: 1, files: [a, b] });
    assert.deepEqual(await data(call('code.diagnostics', { path: 'src/a.ts' })), {
      errors: 1,
      warnings: 0,
      files: [a],
    });
    assert.deepEqual(language.asked, [
      ['diagnostics', undefined],
      ['diagnostics', undefined],
      ['diagnostics', at('src/a.ts')],
    ]);
  });

  it('problems of a secret file are asked about', async () => {
    language.problems = [{ path: at('.env'), line: 1, severity: 'error', message: 'no value' }];
    const talking = talk();
    const { files } = await data(talking.call('code.diagnostics', { path: '.env' }));
    assert.deepEqual(files, [{ path: '.env', lines: ['1: error: no value'] }]);
    assert.equal(talking.asked[0]!.plan.what, 'Search .env');
  });

  it('many problems are cut, with a way on', async () => {
    language.problems = Array.from({ length: 500 }, (_, index) => ({
      path: at('src/a.ts'),
      line: index,
      severity: 'error' as const,
      message: 'x',
    }));
    const { errors, files, cut } = await data<{ errors: number; files: { lines: string[] }[]; cut: string }>(
      talk().call('code.diagnostics'),
    );
    assert.deepEqual([errors, files[0]!.lines.length, cut], [500, 200, '300 more. Give a path.']);
  });

  it('symbols of a file, and of the workspace by name', async () => {
    language.symbols = [
      { ...place(at('src/a.ts'), 1), symbol: 'total', kind: 'constant' },
      { ...place(at('src/a.ts'), 2), symbol: 'of', kind: 'method', container: 'Total' },
    ];
    const files = [{ path: 'src/a.ts', lines: ['1: constant total', '2: method of (in Total)'] }];
    const { call } = talk();
    assert.deepEqual(await data(call('code.symbols', { path: 'src/a.ts' })), { files });
    language.symbols.push({ ...place(paths.join(outside, 'lib.d.ts'), 1), symbol: 'CANARY', kind: 'constant' });
    language.symbols.push({ ...place(at('.env'), 1), symbol: 'CANARY', kind: 'constant' });
    assert.deepEqual(await data(call('code.symbols', { query: 'tot' })), { files });
    for (const args of [{}, { path: 'src/a.ts', query: 'x' }])
      assert.equal((await error(call('code.symbols', args))).code, 'TOOL_ARGS_INVALID');
  });

  for (const rule of [
    { effect: 'deny', tool: 'fs.read', path: 'src/b.ts' },
    { effect: 'ask', tool: 'fs.*', path: 'src/b.*' },
  ] as const)
    it(`nothing is told of the text of a file that a rule guards: ${rule.effect} ${rule.tool} ${rule.path}`, async () => {
      language.places = [place(at('src/b.ts'), 1), place(at('src/a.ts'), 1)];
      language.symbols = [{ ...place(at('src/b.ts'), 1), symbol: 'total', kind: 'constant' }];
      const selection = { startLine: 1, endLine: 1, text: 'import' };
      language.editors = [{ path: at('src/b.ts'), name: 'b.ts', active: true, unsaved: false, selection }];
      const rules = [{ scope: 'user' as const, ...rule }];
      const { call } = conversation(workspace, { tools: builtinTools({ language }), policy: { rules } });
      assert.deepEqual(
        [
          await data(call('code.references', { path: 'src/a.ts', line: 2, symbol: 'total' })),
          await data(call('code.symbols', { query: 'tot' })),
          await data(call('editor.context')),
        ],
        [
          {
            places: 2,
            files: [
              { path: 'src/b.ts', lines: ['1:'] },
              { path: 'src/a.ts', lines: ['1: const total = 1;'] },
            ],
          },
          { files: [] },
          {
            active: { path: 'src/b.ts', secret: true },
            open: [{ path: 'src/b.ts', secret: true }],
          },
        ],
      );
    });

  it('a rule about references counts for a definition that is asked for its references', async () => {
    language.places = [place(at('src/a.ts'), 1)];
    const rules = [{ scope: 'user' as const, effect: 'deny' as const, tool: 'code.references' }];
    const { call } = conversation(workspace, { tools: builtinTools({ language }), policy: { rules } });
    const named = { path: 'src/a.ts', line: 2, symbol: 'total' };
    assert.equal((await error(call('code.definition', { ...named, references: true }))).code, 'TOOL_DENIED');
    assert.equal((await data(call('code.definition', named))).places, 1);
  });

  it('a name on a line is found as a whole word, and the places are told with their lines', async () => {
    language.places = [
      place(at('src/b.ts'), 1),
      place(at('src/a.ts'), 1),
      place(paths.join(outside, 'lib.d.ts'), 1),
      place(at('.env'), 1),
      { path: undefined, name: 'Untitled-1', line: 7 },
    ];
    const { call } = talk();
    const told = await data(call('code.references', { path: 'src/a.ts', line: 2, symbol: 'total' }));
    assert.deepEqual(told, {
      places: 5,
      files: [
        { path: 'src/b.ts', lines: ["1: import { total } from './a.ts';"] },
        { path: 'src/a.ts', lines: ['1: const total = 1;'] },
        { path: 'lib.d.ts', outside: true, lines: ['1:'] },
        { path: '.env', lines: ['1:'] },
        { path: 'Untitled-1', outside: true, lines: ['7:'] },
      ],
    });
    await data(call('code.definition', { path: 'src/a.ts', line: 3, symbol: 'total' }));
    await data(call('code.definition', { path: 'src/a.ts', line: 3, symbol: 'total', references: true }));
    assert.deepEqual(language.asked, [
      ['references', at('src/a.ts'), 2, 18],
      ['definitions', at('src/a.ts'), 3, 10],
      ['references', at('src/a.ts'), 3, 10],
    ]);
  });

  it('the text a person sees counts, not the disk', async () => {
    workspace.openInEditor('src/a.ts', '// new\n\nconst total = 1;\n');
    await data(talk().call('code.definition', { path: 'src/a.ts', line: 3, symbol: 'total' }));
    assert.deepEqual(language.asked, [['definitions', at('src/a.ts'), 3, 7]]);
  });

  it('a name that is not on the line: the lines that hold it are named', async () => {
    const { call } = talk();
    const failed = await error(call('code.definition', { path: 'src/b.ts', line: 9, symbol: 'total' }));
    assert.deepEqual(
      [failed.code, failed.message],
      ['TOOL_ARGS_INVALID', 'Line 9 of "src/b.ts" does not hold "total". It is on line 1.'],
    );
    assert.deepEqual(language.asked, []);
  });

  const refused: [tool: string, args: object, reason: string][] = [
    ['code.diagnostics', { path: '../outside' }, 'OUTSIDE'],
    ['code.diagnostics', { path: 'link' }, 'SYMLINK_ESCAPE'],
    ['code.symbols', { path: 'src' }, 'NOT_A_FILE'],
    ['code.symbols', { path: 'link/lib.d.ts' }, 'SYMLINK_ESCAPE'],
    ['code.definition', { path: '/etc/passwd', line: 1, symbol: 'root' }, 'OUTSIDE'],
    ['code.references', { path: 'src', line: 1, symbol: 'x' }, 'NOT_A_FILE'],
  ];
  for (const [tool, args, reason] of refused)
    it(`${tool} ${JSON.stringify(args)} is refused`, async () => {
      assert.equal((await error(talk().call(tool, args))).reason, reason);
      assert.deepEqual(language.asked, []);
    });

  it('without a language server, what to do instead is said', async () => {
    language.places = undefined;
    const failed = await error(talk().call('code.definition', { path: 'src/a.ts', line: 1, symbol: 'total' }));
    assert.deepEqual(
      [failed.code, failed.message],
      ['TOOL_EXEC_FAILED', 'No language server of the editor gives definitions here. Use fs.search.'],
    );
  });

  it('what is open and selected is told, but no text of secrets and of what is outside', async () => {
    const editor = (path: string, more: Partial<OpenEditor> = {}): OpenEditor => ({
      path,
      name: paths.basename(path),
      active: false,
      unsaved: false,
      ...more,
    });
    const selection = { startLine: 2, endLine: 3, text: 'CANARY' };
    const context = () => data<{ active?: unknown; open: unknown[] }>(talk().call('editor.context'));
    language.editors = [editor(at('src/a.ts'), { active: true, selection }), editor(at('src/b.ts'), { unsaved: true })];
    assert.deepEqual(await context(), {
      active: { path: 'src/a.ts', selection },
      open: [{ path: 'src/a.ts' }, { path: 'src/b.ts', unsaved: true }],
    });
    language.editors = [editor(at('.env'), { active: true, selection })];
    assert.deepEqual(await context(), {
      active: { path: '.env', secret: true },
      open: [{ path: '.env', secret: true }],
    });
    language.editors = [editor(paths.join(outside, 'lib.d.ts'), { active: true, selection })];
    assert.deepEqual(await context(), {
      active: { path: 'lib.d.ts', outside: true },
      open: [{ path: 'lib.d.ts', outside: true }],
    });
    language.editors = [editor(at('src/a.ts'), { active: true, selection: { ...selection, text: '' } })];
    assert.deepEqual((await context()).active, { path: 'src/a.ts', line: 2 });
  });

  it('an edit tells the errors that it caused', async () => {
    workspace.watchProblems = (path) => async () => [`line 1: of ${paths.basename(path)}`];
    const { newProblems } = await data(talk().call('fs.write', { path: 'src/a.ts', content: 'broken' }));
    assert.deepEqual(newProblems, ['line 1: of a.ts']);
    workspace.watchProblems = () => undefined;
    assert.equal('newProblems' in (await data(talk().call('fs.write', { path: 'src/a.ts', content: 'fine' }))), false);
  });
});
