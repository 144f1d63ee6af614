import assert from 'node:assert/strict';
import { lazyImport } from '../../../src/protocol/panel/lazyImport.ts';

describe('what is loaded when it is needed', () => {
  it('is loaded once for all who need it meanwhile, and is known to be there from then on', async () => {
    let [loads, makes] = [0, 0];
    const part = lazyImport(
      async () => {
        loads += 1;
        return { name: 'tools' };
      },
      ({ name }) => {
        makes += 1;
        return [name];
      },
    );
    assert.deepEqual([part.made(), loads], [undefined, 0]);
    const [one, other] = await Promise.all([part(), part()]);
    assert.ok(one === other && one === (await part()));
    assert.deepEqual([part.made(), loads, makes], [['tools'], 1, 1]);
  });

  it('says what a person can do when it is not there any more, and is tried again', async () => {
    const gone = Object.assign(new Error("Cannot find module './chunks/a-1.cjs'"), { code: 'MODULE_NOT_FOUND' });
    let isThere = false;
    const part = lazyImport(async () => (isThere ? 'the part' : Promise.reject(gone)));
    const told =
      'A part of Towpath could not be loaded (MODULE_NOT_FOUND). Reload the window: Towpath may have been updated or removed while it was open.';
    await assert.rejects(part(), { message: told, cause: gone });
    assert.equal(part.made(), undefined);
    isThere = true;
    assert.equal(await part(), 'the part');
  });

  it('says so of half a file, too', () =>
    assert.rejects(
      lazyImport(async () => new Function('{')()),
      { message: /\(SyntaxError\)\. Reload the window/ },
    ));

  it('what its making throws is its own, and it is made again', async () => {
    let tries = 0;
    const part = lazyImport(
      async () => 7,
      (number) => {
        tries += 1;
        if (tries === 1) throw new Error('no settings yet');
        return number;
      },
    );
    await assert.rejects(part(), { message: 'no settings yet' });
    assert.equal(await part(), 7);
  });
});
