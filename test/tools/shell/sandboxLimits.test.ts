import assert from 'node:assert/strict';
import type { ToolOutcome } from '../../../src/protocol/content/tools.ts';
import { builtinTools } from '../../../src/tools/host/builtinTools.ts';
import { type TemporarySandbox, temporarySandbox } from '../../support/commandSandbox.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { conversation } from '../conversation.ts';

describe('tools: shell.run in the sandbox, with limits', () => {
  let sandbox: TemporarySandbox;
  let workspace: TemporaryWorkspace;

  before(async function () {
    const made = await temporarySandbox([], { maxProcesses: 200 });
    if (!made) return this.skip();
    sandbox = made;
    workspace = await temporaryWorkspace({ 'a.txt': 'one\n' });
  });
  after(async () => {
    await sandbox?.cleanup();
    workspace?.cleanup();
  });

  const run = (command: string): Promise<ToolOutcome> =>
    conversation(workspace, {
      tools: builtinTools({ shell: { sandbox, covers: async () => ({ isWhole: true }) } }),
      policy: { preset: 'sandbox' },
      answer: 'deny',
    }).call('shell.run', { command });

  it('names the limit that has ended a command, which has changed nothing', async () => {
    const outcome = await run('echo two > a.txt; echo begun; :(){ :|:& };:; sleep 600');
    assert.ok(!outcome.ok);
    const { code, message, details } = outcome.error;
    const { reason, output } = details as { reason: string; output: string };
    assert.deepEqual([code, reason, output.split('\n')[0]], ['TOOL_EXEC_FAILED', 'PROCESS_LIMIT', 'begun']);
    assert.match(
      message,
      /^The command had more than 200 processes and threads and was stopped\. It has changed nothing\./,
    );
    assert.equal(workspace.read('a.txt'), 'one\n');
  });

  it('does not take another end for it', async () => {
    const outcome = await run('echo two > a.txt; kill -9 $$');
    assert.ok(outcome.ok);
    assert.equal(workspace.read('a.txt'), 'two\n');
  });
});
