import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { node } from '../../../support/command.ts';
import { projectRoot } from '../../../support/editor/project.ts';

describe('calls of 40 tools, written by random weights under the call grammar', function () {
  this.timeout(600_000);

  it('are all JSON, none throws, and what the tool’s own schema refuses is beyond any grammar', async () => {
    // In a process of its own, as the engine always is.
    const { stdout } = await promisify(execFile)(process.execPath, node('test/llm/local/sample.ts'), {
      cwd: projectRoot,
    });
    const counts = JSON.parse(stdout.trim().split('\n').at(-1)!);
    console.log(`      ${JSON.stringify(counts)}`);
    assert.equal(counts.calls, Number(process.env.TOWPATH_SAMPLED ?? 2) * counts.tools);
    assert.ok(counts.tools >= 40);
  });
});
