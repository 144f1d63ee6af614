import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { writeDemoModel } from '../../../src/llm/local/demo/demoModel.ts';
import { ggufTrouble } from '../../../src/llm/local/ggufHeader.ts';

describe('the header of a model file', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'towpath-header-'));
  const file = path.join(folder, 'model.gguf');
  let whole: Buffer;
  before(() => {
    writeDemoModel(file);
    whole = readFileSync(file);
  });
  after(() => rmSync(folder, { recursive: true }));

  const check = (bytes: Buffer, expected: string | undefined) => {
    writeFileSync(file, bytes);
    assert.equal(ggufTrouble(file), expected);
  };
  const changed = (change: (bytes: Buffer) => void) => {
    const copy = Buffer.from(whole);
    change(copy);
    return copy;
  };
  const damaged = 'Its header is damaged or cut off.';

  it('is fine', () => check(whole, undefined));
  it('of another file', () => check(Buffer.from('PK\u0003\u0004 and so on'), 'It does not begin like a GGUF file.'));
  it('of a version to come', () =>
    check(
      changed((bytes) => bytes.writeUInt32LE(9, 4)),
      'It has GGUF version 9; 2 and 3 are known.',
    ));
  it('with lengths beyond the file', () => {
    check(
      changed((bytes) => bytes.writeBigUInt64LE(5_000_000_000n, 8)),
      damaged,
    );
    check(
      changed((bytes) => bytes.fill(0xff, 24, 32)),
      damaged,
    );
  });
  it('without its tensors', () => check(whole.subarray(0, 220_000), 'It is cut off: its last tensors are missing.'));

  it('cut anywhere is told, at once', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 150_000 }), (length) => {
        writeFileSync(file, whole.subarray(0, length));
        assert.ok(ggufTrouble(file));
      }),
      { numRuns: 100 },
    );
  });
});
