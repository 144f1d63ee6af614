import assert from 'node:assert/strict';
import { built } from './support/programs.ts';

describe('The programs, as they are built', () => {
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
