import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findKnownModelFile } from '../../../../src/llm/local/modelFile/findModelFile.ts';

describe('a model file that a workflow names', () => {
  let folder: string;
  before(() => {
    folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'known-')));
    for (const name of ['models/deep', 'models-of-others', 'picked', 'repository/models']) {
      mkdirSync(path.join(folder, name), { recursive: true });
      writeFileSync(path.join(folder, name, 'a.gguf'), '');
    }
    symlinkSync(path.join(folder, 'repository/models/a.gguf'), path.join(folder, 'models/link.gguf'));
    symlinkSync(path.join(folder, 'models/deep/a.gguf'), path.join(folder, 'repository/link.gguf'));
    symlinkSync(path.join(folder, 'models'), path.join(folder, 'listed'));
    writeFileSync(path.join(folder, 'models/..a.gguf'), '');
    writeFileSync(path.join(folder, 'repository/picked.gguf'), '');
  });
  after(() => rmSync(folder, { recursive: true }));

  const cases: [name: string, file: string, real: string | undefined][] = [
    ['in a folder of mine, however deep', 'models/deep/a.gguf', 'models/deep/a.gguf'],
    ['by a way round', 'models/../models/deep/a.gguf', 'models/deep/a.gguf'],
    ['whose name begins with dots', 'models/..a.gguf', 'models/..a.gguf'],
    ['in a folder of mine that is listed by a link', 'listed/deep/a.gguf', 'models/deep/a.gguf'],
    ['in the repository', 'repository/models/a.gguf', undefined],
    ['a link from my folder into the repository', 'models/link.gguf', undefined],
    ['a link from the repository to a model of mine: that one', 'repository/link.gguf', 'models/deep/a.gguf'],
    ['beside my folder, with a name that begins alike', 'models-of-others/a.gguf', undefined],
    ['elsewhere, but picked by me', 'picked/a.gguf', 'picked/a.gguf'],
    ['in the repository, but picked by me', 'repository/picked.gguf', 'repository/picked.gguf'],
    ['beside one that I picked', 'picked/b.gguf', undefined],
    ['that is not there', 'models/none.gguf', undefined],
  ];
  for (const [name, file, real] of cases)
    it(`${name}: ${real === undefined ? 'refused' : 'used'}`, async () => {
      const at = (place: string) => path.join(folder, place);
      const found = await findKnownModelFile(`${folder}/${file}`, {
        folders: [at('listed'), at('repository/models'), at('gone')],
        files: [at('picked/a.gguf'), at('repository/picked.gguf')],
        foreign: [at('repository')],
      });
      assert.equal(found, real && at(real));
    });

  it('a path that is not whole is none: it would depend on where the editor was started', async () => {
    const known = { folders: [process.cwd()], files: [], foreign: [] };
    assert.equal(await findKnownModelFile('package.json', known), undefined);
    assert.equal(await findKnownModelFile('', known), undefined);
  });
});
