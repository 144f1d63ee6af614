import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { node } from './support/command.ts';
import { projectRoot } from './support/editor/project.ts';
import { forgetReport, mochaArguments, readReport } from './support/report.ts';

describe('a whole run of the tests', () => {
  const run = (parts: string[], minutes: string) =>
    new Promise<{ code: unknown; said: string }>((resolve) => {
      const env = { ...process.env, TOWPATH_TEST_MINUTES: minutes };
      execFile(process.execPath, node('test/run.ts', ...parts), { cwd: projectRoot, env }, (error, stdout, stderr) =>
        resolve({ code: error?.code ?? 0, said: stdout || stderr }),
      );
    });

  it('that takes longer than its limit is ended, and has failed', async () => {
    const { code, said } = await run(['check', 'host'], '0');
    assert.match(said, /host +not run\nEnded after 0 minutes\.\n0 passed, 2 failed\n/);
    assert.equal(code, 1);
  });

  it('reports a failed comparison of an object without a prototype, and ends', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'towpath-diff-'));
    const part = `diff-${process.pid}`;
    const text = `require('node:assert').deepStrictEqual(Object.create(null), {});`;
    const file = path.join(folder, 'one.test.cjs');
    writeFileSync(file, `it('one', () => Promise.resolve().then(() => { ${text} }));`);
    try {
      const options = ['--no-config', '--no-package', '--parallel'];
      const mocha = node(...mochaArguments(part), ...options, file);
      await promisify(execFile)(process.execPath, mocha, { timeout: 60_000 }).catch(() => undefined);
      assert.deepEqual(readReport(part), { passed: 0, failed: 1, pending: 0 });
    } finally {
      rmSync(folder, { recursive: true });
      forgetReport(part);
    }
  });

  it('says which parts there are', async () => {
    const { code, said } = await run(['chekc'], '1');
    assert.match(said, /^There is no part chekc\. Parts: check, build, .*, all\.$/m);
    assert.equal(code, 2);
  });
});
