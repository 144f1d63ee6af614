import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { breaches } from './support/imports.ts';
import { productFiles } from './support/sourceFiles.ts';

const root = path.resolve(import.meta.dirname, '..');

// Holds vscode-only-in-extension.
// Holds no-indirection.
// Holds one-place-asks-models.
// Holds one-abort-listener.
describe('the house', () => {
  it('imports point one way and there is no cycle', () => assert.deepEqual(breaches(root), []));

  const planted: [string, Record<string, string>, string[]][] = [
    [
      'the protocol reaching into the engine',
      { 'src/protocol/a.ts': "import { b } from '../engine/b.ts';", 'src/engine/b.ts': '' },
      ['src/protocol/a.ts imports src/engine/b.ts'],
    ],
    [
      'layers that must not know each other',
      { 'src/llm/a.ts': "import type { B } from '../tools/b.ts';", 'src/tools/b.ts': '' },
      ['src/llm/a.ts imports src/tools/b.ts'],
    ],
    [
      'the editor outside the extension, in any form',
      { 'src/engine/a.ts': "const v = await import('vscode');", 'src/tools/b.ts': "import type * as v from 'vscode';" },
      ['src/engine/a.ts imports vscode', 'src/tools/b.ts imports vscode'],
    ],
    [
      'the local engine outside its process',
      { 'src/llm/local/host/client.ts': "import { getLlama } from 'node-llama-cpp';" },
      ['src/llm/local/host/client.ts imports node-llama-cpp'],
    ],
    [
      'the SDK of MCP outside its folder',
      { 'src/extension/a.ts': "import { Client } from '@modelcontextprotocol/client';" },
      ['src/extension/a.ts imports @modelcontextprotocol/client'],
    ],
    [
      'the panel reaching into the host or the machine',
      { 'webview/a.ts': "import '../src/engine/b.ts'; import 'node:fs';", 'src/engine/b.ts': '' },
      ['webview/a.ts imports src/engine/b.ts', 'webview/a.ts imports node:fs'],
    ],
    [
      'folders that import each other',
      {
        'src/extension/view/a.ts': "import '../panel/b.ts';",
        'src/extension/panel/b.ts': '',
        'src/extension/panel/c.ts': "import '../view/d.ts';",
        'src/extension/view/d.ts': '',
      },
      ['cycle: src/extension/panel → src/extension/view'],
    ],
    [
      'a folder of too many files, and a file of too many lines',
      Object.fromEntries([
        ...Array.from({ length: 26 }, (_, at) => [`src/runs/a${at}.ts`, ''] as const),
        ['src/tools/long.ts', '// a line\n'.repeat(451)],
      ]),
      ['src/runs holds 26 files', 'src/tools/long.ts has 451 lines'],
    ],
    [
      'a cycle',
      {
        'src/runs/a.ts': "import './b.ts';",
        'src/runs/b.ts': "import './c.ts';",
        'src/runs/c.ts': "export * from './a.ts';",
      },
      ['cycle: src/runs/a.ts → src/runs/b.ts → src/runs/c.ts'],
    ],
  ];
  for (const [what, files, expected] of planted)
    it(`notices ${what}`, () => {
      const folder = mkdtempSync(path.join(tmpdir(), 'house-'));
      try {
        for (const name of ['src', 'webview']) mkdirSync(path.join(folder, name));
        for (const [name, text] of Object.entries(files)) {
          mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
          writeFileSync(path.join(folder, name), text);
        }
        assert.deepEqual(breaches(folder), expected);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });

  it('loads the SDK of MCP only where a server is started', () => {
    const folder = path.join(root, 'src/tools/mcp');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const others = files.filter((file) => file.endsWith('.ts') && file !== 'sdk.ts');
    const loading = others.flatMap((file) => {
      const text = readFileSync(path.join(folder, file), 'utf8');
      const imports =
        /^(import|export)\b(?! type\b)[^;(]*'(@modelcontextprotocol|ajv|cross-spawn|\.{1,2}\/sdk\.ts)/m.test(text);
      return imports ? [file] : [];
    });
    assert.deepEqual(loading, []);
  });

  it('loads nothing late but by what says what to do when that fails', () => {
    const files = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' });
    const late = files
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => {
        const text = readFileSync(path.join(root, 'src', file), 'utf8');
        return [...text.matchAll(/(?<!typeof )\bimport\('(?!node-llama-cpp')/g)].map(({ index }) => ({
          file,
          before: text.slice(0, index),
        }));
      });
    assert.ok(late.length > 5);
    assert.deepEqual(
      late
        .filter(({ before }) => !/lazyImport\(\s*\(\) =>\s*(Promise\.all\(\[[^\]]*)?$/.test(before))
        .map(({ file }) => file),
      [],
    );
  });

  it('asks models in one place, which knows the limits of money', () => {
    const files = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' });
    const asking = files.filter(
      (file) =>
        /^(?!llm\b).*\.ts$/.test(file) &&
        /\badapter\b\s*\.complete\(/.test(readFileSync(path.join(root, 'src', file), 'utf8')),
    );
    // The context makes an adapter of another; it asks nothing by itself.
    assert.deepEqual(
      asking.sort(),
      ['engine/core/modelCall.ts', 'engine/run/runContext.ts'].map((file) => path.normalize(file)),
    );
  });

  it('listens to the abort of a signal in one place, which removes its listeners', () => {
    const listening = productFiles(root).filter((file) =>
      /\b(add|remove)EventListener\(\s*['"]abort['"]|\.onabort\b/.test(readFileSync(path.join(root, file), 'utf8')),
    );
    assert.deepEqual(listening, ['src/protocol/values/abort.ts']);
  });

  it('takes no folder of the window for one of a disk: of a virtual one a path means somebody else’s folder, or nothing', () => {
    const folder = path.join(root, 'src/extension');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
    const asking = files.filter((file) => /\bworkspaceFolders\b/.test(readFileSync(path.join(folder, file), 'utf8')));
    // Beside the one place: two that go on by addresses, and one that only asks whether there are any.
    assert.deepEqual(
      asking.sort(),
      ['approvals/approvalsMenu.ts', 'dialogs/folders.ts', 'language/workflowFiles.ts', 'start.ts'].map((file) =>
        path.normalize(file),
      ),
    );
  });

  it('installs no GPU engine unasked', () => {
    const lock = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'));
    const names = Object.entries<{ name?: string }>(lock.packages).map(([place, entry]) => entry.name ?? place);
    assert.deepEqual(
      names.filter((name) => /node-llama-cpp\/.*(cuda|vulkan)/.test(name)),
      [],
    );
  });
});
