import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { built } from './support/programs.ts';

// Holds activation-is-small.
describe('The programs, as they are built', function () {
  this.timeout(120_000); // a ceiling for what hangs: a bundle of ours is half a second of work

  it('what the editor starts is nothing but what it needs at once', async () => {
    const { files, inputs } = await built('extension.cjs');
    assert.deepEqual(inputs.sort(), [
      'src/extension/mentions/lightbulb.ts',
      'src/extension/modelProvider/registerProvider.ts',
      'src/extension/providers/editorApi.ts',
      'src/extension/settings/settingScopes.ts',
      'src/extension/start.ts',
      'src/extension/useEditorLanguage.ts',
      'src/extension/view/chatPage.ts',
      'src/protocol/panel/lazyImport.ts',
      'src/protocol/text/l10n.ts',
    ]);
    assert.ok(Buffer.byteLength(files.get('extension.cjs')!) < 10_000);
    const required = [...files.get('extension.cjs')!.matchAll(/(?:require|import)\("([^"]+)"\)/g)].map(
      ([, name]) => name,
    );
    assert.deepEqual([...new Set(required)].sort(), ['./main.cjs', 'node:crypto', 'vscode']);
  });

  it('what the panel can be shown without is loaded when it is needed', async () => {
    const { inputs, files } = await built('main.cjs');
    const late = [
      '@modelcontextprotocol/client @modelcontextprotocol/core ajv cross-spawn', // servers
      'yaml @huggingface/jinja', // workflows
      'html-to-text htmlparser2 ipaddr.js', // pages
      'yauzl minisearch jsonc-parser eventsource-parser',
    ].join(' ');
    assert.deepEqual(of(late, inputs), []);
    const ours = [
      'tools/host/builtinTools',
      'tools/host/host',
      'tools/commands/grants/',
      'tools/mcp/',
      'llm/createClient',
      'llm/adapter/adapter',
      'llm/models/modelCatalog',
      'llm/models/catalog.json',
    ];
    const dialogs = [
      'extension/commands',
      'extension/doctor/',
      'extension/models/modelPicker',
      'records/insights',
      'workflows/template/',
    ];
    assert.deepEqual(
      inputs.filter((file) => [...ours, ...dialogs].some((one) => file.includes(`src/${one}`))),
      [],
    );
    const required = [...files.values()].flatMap((text) => [...text.matchAll(/require\("(\.[^"]+)"\)/g)]);
    for (const [, file] of required) assert.ok(files.has(path.basename(file!)), file);
  });

  for (const name of ['main.cjs', 'parser.cjs'])
    it(`no module is in two files of ${name}: what it remembers it remembers once`, async () => {
      const { parts } = await built(name);
      const all = [...parts.values()].flat();
      assert.deepEqual(
        all.filter((file, index) => all.indexOf(file) !== index),
        [],
      );
    });

  it('the thread that takes apart what strangers wrote has no tool in it, and loads less than 500 KB for any job', async () => {
    const { files, parts, late } = await built('parser.cjs');
    const tools =
      /^src\/tools\/(?:host|shell\/shell|web\/web|run|files|edit|search|code|notebook|editorTools|mention|commands\/(grants|loss))\b/;
    assert.deepEqual(
      [...parts.values()].flat().filter((file) => tools.test(file)),
      [],
    );
    const sizes = late.map((loaded) => [
      loaded[0],
      [...new Set(['parser.cjs', ...loaded])].reduce((sum, file) => sum + Buffer.byteLength(files.get(file)!), 0),
    ]);
    assert.ok(sizes.length > 5, `${sizes.length}`);
    assert.deepEqual(
      sizes.filter(([, bytes]) => (bytes as number) >= 500_000),
      [],
    );
  });

  it('has the tables of commands as data, without their texts, reasons and parser', async () => {
    const { files, parts } = await built('main.cjs');
    const [file] = [...parts].find(([, inputs]) => inputs.includes('src/tools/commands/grants/tables.ts'))!;
    const text = files.get(file)!;
    assert.ok(text.includes('cargo nextest') && text.includes('--test-threads'));
    assert.ok(!text.includes('asked about, and installs') && !text.includes('It shows what Git has recorded'));
    const all = [...parts.values()].flat();
    assert.ok(!all.some((input) => input.endsWith('parseTable.ts')));
  });

  it('parts share what they remember, and one that is gone from the disk says what to do, until it is there again', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'towpath-parts-'));
    const write = (name: string, text: string) => writeFileSync(path.join(folder, name), text);
    try {
      const lazyImport = JSON.stringify(path.resolve(import.meta.dirname, '../src/protocol/panel/lazyImport.ts'));
      write('count.ts', 'let all = 0; export const count = () => ++all;');
      for (const name of ['one', 'other'])
        write(`${name}.ts`, `import { count } from './count.ts'; export const ${name} = count;`);
      const parts =
        "export const one = lazyImport(() => import('./one.ts')), other = lazyImport(() => import('./other.ts'));";
      write('entry.ts', `import { lazyImport } from ${lazyImport}; ${parts}`);
      mkdirSync(path.join(folder, 'dist/chunks'), { recursive: true });
      for (const [name, text] of (await built('main.cjs', path.join(folder, 'entry.ts'))).files)
        write(name === 'main.cjs' ? `dist/${name}` : `dist/chunks/${name}`, text);
      const { one, other } = createRequire(import.meta.url)(path.join(folder, 'dist/main.cjs'));
      const chunks = readdirSync(path.join(folder, 'dist/chunks'));
      const gone = path.join(folder, 'dist/chunks', chunks.find((name) => name.startsWith('other-'))!);
      assert.equal((await one()).one(), 1);
      renameSync(gone, `${gone}.old`);
      await assert.rejects(other(), /could not be loaded \(MODULE_NOT_FOUND\)\. Reload the window/);
      renameSync(`${gone}.old`, gone);
      assert.equal((await other()).other(), 2);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('the panel is at most 350 KB: it knows no schemas, and leaves the colours of code to a script beside it', async () => {
    const { files, inputs } = await built('panel.js');
    assert.ok(Buffer.byteLength(files.get('panel.js')!) <= 350_000);
    assert.ok(!files.get('panel.js')!.includes('<blockquote>'), 'the renderer of marked to HTML');
    assert.deepEqual(of('zod', inputs), []);
    assert.ok(files.get('panel.js')!.includes('import("./highlight.js")'));
    assert.deepEqual(of('highlight.js', inputs), []);
    assert.notDeepEqual(of('highlight.js', (await built('highlight.js')).inputs), []);
  });
});

/** The files of these packages. */
const of = (names: string, inputs: string[]): string[] =>
  inputs.filter((file) => names.split(' ').some((name) => file.includes(`node_modules/${name}/`)));
