import assert from 'node:assert/strict';
import { built } from './support/programs.ts';

describe('The programs, as they are built', function () {
  this.timeout(120_000); // a ceiling for what hangs: a bundle of ours is half a second of work

  it('what the editor starts is nothing but what it needs at once', async () => {
    const { files, inputs } = await built('extension.cjs');
    assert.deepEqual(inputs.sort(), ['src/extension/start.ts', 'src/extension/view/chatPage.ts']);
    assert.ok(Buffer.byteLength(files.get('extension.cjs')!) < 10_000);
    const required = [...files.get('extension.cjs')!.matchAll(/(?:require|import)\("([^"]+)"\)/g)].map(
      ([, name]) => name,
    );
    assert.deepEqual([...new Set(required)].sort(), ['./main.cjs', 'node:crypto', 'vscode']);
  });

  it('the SDK of MCP stays beside what is loaded with the panel', async () => {
    const { inputs } = await built('main.cjs');
    assert.deepEqual(of('@modelcontextprotocol/sdk ajv cross-spawn', inputs), []);
  });

  it('the panel is at most 350 KB, and leaves the colours of code to a script beside it', async () => {
    const { files, inputs } = await built('panel.js');
    assert.ok(Buffer.byteLength(files.get('panel.js')!) <= 350_000);
    assert.ok(files.get('panel.js')!.includes('import("./highlight.js")'));
    assert.deepEqual(of('highlight.js', inputs), []);
    assert.notDeepEqual(of('highlight.js', (await built('highlight.js')).inputs), []);
  });
});

/** The files of these packages. */
const of = (names: string, inputs: string[]): string[] =>
  inputs.filter((file) => names.split(' ').some((name) => file.includes(`node_modules/${name}/`)));
