import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runsPrograms, temporaryInMemory } from './support/inMemory.ts';

describe('temporary files in memory', () => {
  let memory: string;
  beforeEach(() => {
    memory = mkdtempSync(path.join(tmpdir(), 'memory-'));
  });
  afterEach(() => rmSync(memory, { recursive: true }));

  it('are not there where somebody said where else, or where there is no such place', () => {
    assert.equal(temporaryInMemory(memory, '/tmp'), undefined);
    assert.equal(temporaryInMemory(path.join(memory, 'none'), ''), undefined);
    assert.deepEqual(readdirSync(memory), []);
  });

  it('of a run that was killed are removed by the next, and of one at work left', function () {
    for (const name of [`tests-${2 ** 30}`, `tests-${process.ppid}`, 'other'])
      mkdirSync(path.join(memory, name, 'a'), { recursive: true });
    const folder = temporaryInMemory(memory, '');
    if (folder === undefined) this.skip(); // too little memory or room
    assert.equal(folder, path.join(memory, `tests-${process.pid}`));
    assert.deepEqual(readdirSync(memory).sort(), ['other', `tests-${process.pid}`, `tests-${process.ppid}`].sort());
    assert.deepEqual(readdirSync(folder), []);
  });

  it('are where programs run', () => assert.equal(runsPrograms(memory), true));
});
