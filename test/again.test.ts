import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { maxFilesAgain, onceMore } from './support/again.ts';
import { forgetReport, readReport, reportFile } from './support/report.ts';

describe('what failed in a run of the tests', () => {
  const part = `once-more-${process.pid}`;
  const parts = [part, `${part}-again`];
  afterEach(() => parts.forEach(forgetReport));

  const reports = (name: string, passed: string[], failed: string[]) => {
    const test = (file: string) => ({ fullTitle: `the test of ${file}`, file, err: { message: 'no\nmore of it' } });
    const [passes, failures] = [passed.map(test), failed.map(test)];
    const stats = { passes: passes.length, pending: 0, failures: failures.length };
    mkdirSync(path.dirname(reportFile(name)), { recursive: true });
    writeFileSync(reportFile(name), JSON.stringify({ stats, passes, pending: [], failures }));
  };
  /** Runs the files once more: `passes` of them do. */
  const again = (passes: boolean, seen: string[][]) => async (name: string, files: string[]) => {
    seen.push(files);
    reports(name, passes ? files : [], passes ? [] : files);
    return passes;
  };

  it('is asked once more, alone, and counts as it went then', async () => {
    const seen: string[][] = [];
    reports(part, ['a.ts', 'a.ts', 'b.ts'], ['b.ts']);
    assert.equal(await onceMore(part, false, again(true, seen)), true);
    assert.deepEqual([seen, readReport(part)], [[['b.ts']], { passed: 3, failed: 0, pending: 0 }]);
  });

  it('has failed when it does so twice', async () => {
    reports(part, ['a.ts'], ['b.ts']);
    assert.equal(await onceMore(part, false, again(false, [])), false);
    assert.deepEqual(readReport(part), { passed: 1, failed: 1, pending: 0 });
  });

  it('is not asked again where it is much, or where all of it passed', async () => {
    const seen: string[][] = [];
    const many = Array.from({ length: maxFilesAgain + 1 }, (_, at) => `${at}.ts`);
    reports(part, ['a.ts'], many);
    assert.equal(await onceMore(part, false, again(true, seen)), false);
    reports(part, ['a.ts'], []);
    assert.equal(await onceMore(part, true, again(true, seen)), true);
    assert.deepEqual(seen, []);
  });

  it('has failed when its process did without a test to blame, or no test ran', async () => {
    reports(part, ['a.ts'], []);
    assert.equal(await onceMore(part, false, again(true, [])), false);
    reports(part, [], []);
    assert.equal(await onceMore(part, true, again(true, [])), false);
  });
});
