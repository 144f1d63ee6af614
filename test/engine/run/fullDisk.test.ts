import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { undoableCallIds } from '../../../src/runs/undoSteps.ts';
import { call } from '../../support/scriptedClient.ts';
import { growDisk, mountEmpty, unmount, whyNotMounted } from '../../support/smallDisk.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

const notStarted = 'The command was not started: the disk is full, so its changes could not be undone.';

describe('a disk that is too full to record files', () => {
  let talk: Conversation;
  let snapshots: string;
  before(function () {
    if (whyNotMounted() !== undefined) this.skip();
  });
  beforeEach(async () => {
    snapshots = mkdtempSync(path.join(tmpdir(), 'towpath-snapshots-'));
    const replies = ['one', 'two'].map((text) => ({ calls: [call('shell.run', { command: `echo ${text} > large` })] }));
    talk = new Conversation(await temporaryWorkspace({ large: 'x'.repeat(100_000) }), [...replies, { text: 'Done.' }]);
    talk.recordCommands(snapshots);
  });
  afterEach(async () => {
    await talk.end();
    unmount(snapshots);
    rmSync(snapshots, { recursive: true, force: true });
  });

  for (const [what, kilobytes] of [
    ['contents', 64],
    ['list of the files', 100],
  ] as const)
    it(`starts no command without the ${what}: the run ends with the reason, and a retry with space goes on`, async () => {
      mountEmpty(snapshots, kilobytes);
      const { error } = await talk.start();
      assert.deepEqual([error?.code, error?.message], ['STORE_FULL', notStarted]);
      assert.equal(talk.file('large')?.length, 100_000, 'it did not run');
      assert.equal(talk.client.requests.length, 1, 'the model is not called meanwhile');
      assert.deepEqual(
        readdirSync(snapshots).filter((name) => /\.(snapshot|tmp)$/.test(name)),
        [],
        'nothing incomplete takes space',
      );
      await talk.engine.stop(talk.runId); // and is on disk
      const stored = await talk.kept();
      assert.deepEqual(
        [stored.error?.code, Object.values(stored.calls).map(({ code }) => code)],
        ['STORE_FULL', ['STORE_FULL']],
      );
      growDisk(snapshots);
      assert.equal((await talk.continue()).assistantText, 'Done.');
      assert.match(JSON.stringify(talk.client.requests[1]), /The command was not started: the disk is full/);
      assert.equal(talk.file('large'), 'two\n');
      const toolCallIds = undoableCallIds(await talk.kept(), 'run');
      await talk.engine.undo(talk.runId, { toolCallIds }, talk.workspace, async () => 'all');
      assert.equal(talk.file('large')?.length, 100_000);
    });
});
