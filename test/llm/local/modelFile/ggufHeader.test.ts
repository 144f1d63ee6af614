import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { writeDemoModel } from '../../../../src/llm/local/demo/demoModel.ts';
import { invalidGgufReason } from '../../../../src/llm/local/modelFile/ggufHeader.ts';
import { toEnglishText } from '../../../../src/protocol/text/l10n.ts';

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
    const trouble = invalidGgufReason(file);
    assert.equal(trouble && toEnglishText(trouble), expected);
  };
  const changed = (change: (bytes: Buffer) => void) => {
    const copy = Buffer.from(whole);
    change(copy);
    return copy;
  };
  const damaged = 'Its header is damaged or cut off.';

  it('is fine', () => check(whole, undefined));
  it('of another file', () => check(Buffer.from('PK\u0003\u0004 and so on'), 'It is not a GGUF file.'));
  it('of a version to come', () =>
    check(
      changed((bytes) => bytes.writeUInt32LE(9, 4)),
      'It has GGUF version 9; 2 and 3 are known.',
    ));
  it('with lengths beyond the file', () => {
    check(
      changed((bytes) => bytes.fill(0xff, 24, 32)),
      damaged,
    );
  });
  const most = (what: string, limit = '65,536') => `Its header is damaged: ${what}; at most ${limit} are read.`;
  const many = (tensors: bigint, entries: bigint, rest: Buffer) => {
    const head = Buffer.alloc(24);
    head.write('GGUF');
    head.writeUInt32LE(3, 4);
    head.writeBigUInt64LE(tensors, 8);
    head.writeBigUInt64LE(entries, 16);
    return Buffer.concat([head, rest]);
  };
  /** `k` = 1 as a byte, so often: each is a whole entry. */
  const entries = (count: number) =>
    Buffer.concat(Array.from({ length: count }, () => Buffer.from([1, 0, 0, 0, 0, 0, 0, 0, 107, 0, 0, 0, 0, 1])));

  it('with more entries or tensors than any model has is not walked through', () => {
    check(many(0n, 65_536n, entries(65_536)), undefined);
    check(many(0n, 65_537n, entries(65_537)), most('65,537 metadata entries'));
    check(many(0n, 3_000_000n, Buffer.alloc(0)), most('3,000,000 metadata entries'));
    check(
      changed((bytes) => bytes.writeBigUInt64LE(5_000_000_000n, 8)),
      most('5,000,000,000 tensors'),
    );
  });
  it('with a tensor of endless dimensions, or lists of endless texts, neither', () => {
    const tensor = Buffer.alloc(12 + 8 * 9);
    tensor.writeUInt32LE(9, 8);
    check(many(1n, 0n, tensor), most('a tensor with 9 dimensions', '4'));
    const list = Buffer.alloc(9 + 4 + 4 + 8);
    list.writeBigUInt64LE(1n, 0);
    list.writeUInt32LE(9, 9); // an array
    list.writeUInt32LE(8, 13); // of texts
    list.writeBigUInt64LE(9_000_000n, 17);
    check(many(0n, 1n, list), most('9,000,000 texts in lists', '4,000,000'));
    list.writeUInt32LE(9, 13); // of lists
    check(many(0n, 1n, list), most('9,000,000 texts in lists', '4,000,000'));
  });
  it('without its tensors', () => check(whole.subarray(0, 220_000), 'It is cut off: its last tensors are missing.'));

  it('cut anywhere is told, at once', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 150_000 }), (length) => {
        writeFileSync(file, whole.subarray(0, length));
        assert.ok(invalidGgufReason(file));
      }),
      { numRuns: 100 },
    );
  });
});
