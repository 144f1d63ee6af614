import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync } from 'node:fs';
import * as paths from 'node:path';
import { runSandboxed, type TemporarySandbox, temporarySandbox } from '../../../support/commandSandbox.ts';

describe('the sockets of the networks of runs', () => {
  let sandbox: TemporarySandbox;
  const { TMPDIR } = process.env;

  before(async function () {
    const made = await temporarySandbox();
    if (!made) return this.skip();
    sandbox = made;
  });
  after(async () => {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    await sandbox?.cleanup();
  });

  it('are not visible to commands, wherever the editor has its temporary files', async () => {
    const folder = paths.join(sandbox.folder, 'ws');
    const temporary = mkdtempSync(paths.join(sandbox.folder, 'tmp-'));
    mkdirSync(folder);
    process.env.TMPDIR = temporary;
    const questions = { mayConnect: async () => false, mayKeep: async () => false };
    const command = await sandbox.begin({ runId: 'run', folder, folders: [folder], questions });
    const { output } = await runSandboxed(command, `find ${temporary} /tmp /var/tmp -name '*.sock'; echo end`);
    assert.equal(output, 'end\n');
  });
});
