import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sharedStorage } from '../../../src/extension/runs/storage.ts';

describe('the storage of a workspace', () => {
  let folder: string;
  const place = (workspace: string) => path.join(folder, workspace, 'towpath.towpath');
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'storage-'));
    for (const name of ['4f2a', '-5c8', '4f2a-1', '-5c8-2']) mkdirSync(path.join(folder, name));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const cases: [given: string, shared: string][] = [
    ['4f2a', '4f2a'],
    ['4f2a-1', '4f2a'],
    ['-5c8', '-5c8'], // a hash can be negative
    ['-5c8-2', '-5c8'],
    ['-5', '-5'],
    ['77-1', '77-1'], // nobody had that one before
  ];
  for (const [given, shared] of cases)
    it(`of a window that the editor gives ${given} is ${shared}`, () =>
      assert.equal(sharedStorage(place(given)), place(shared)));
});
