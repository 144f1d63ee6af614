import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { doctorStoreFindings } from '../../../src/extension/doctor/storeFindings.ts';

describe('what Doctor says of kept runs', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'doctor-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const findings = async () =>
    (await doctorStoreFindings(folder, new AbortController().signal)).map(({ level, text }) => `${level}: ${text}`);
  const keep = (name: string, file: string, bytes: number) => {
    mkdirSync(path.join(folder, 'store', name), { recursive: true });
    writeFileSync(path.join(folder, 'store', name, file), Buffer.alloc(bytes));
  };

  it('that they can be kept, how many there are and how large, the deleted ones apart; nothing of the look stays', async () => {
    assert.match((await findings())[1]!, /^fact: 0 runs are stored, 0 kB$/);
    keep('runs/run-1', 'journal.jsonl', 150_000);
    keep('runs/run-1/contents', 'a', 150_000);
    keep('runs/run-2', 'journal.jsonl', 200_000);
    keep('deleted/1.run-3', 'journal.jsonl', 2_000_000);
    const [room, size] = await findings();
    assert.match(room!, /^(ok|warning): Runs can be stored in .* are free/);
    assert.equal(size, 'fact: 2 runs are stored, 0.5 MB, and 1 deleted one, 2 MB');
    assert.deepEqual(readdirSync(folder), ['store']);
  });

  it('that they cannot be kept', async () => {
    rmSync(folder, { recursive: true });
    writeFileSync(folder, 'a file');
    await assert.rejects(findings(), /EEXIST|ENOTDIR/);
  });
});
