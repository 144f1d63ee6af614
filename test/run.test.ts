import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { node } from './support/command.ts';
import { projectRoot } from './support/editor/project.ts';

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

  it('says which parts there are', async () => {
    const { code, said } = await run(['chekc'], '1');
    assert.match(said, /^There is no part chekc\. Parts: check, build, .*, all\.$/m);
    assert.equal(code, 2);
  });
});
