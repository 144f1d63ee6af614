import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { RunEvent } from '../../../src/protocol/run/events.ts';
import { undoableCallIds } from '../../../src/runs/undoSteps.ts';
import { BackgroundRecordings } from '../../../src/tools/host/backgroundRecordings.ts';
import { builtinTools } from '../../../src/tools/host/builtinTools.ts';
import { BackgroundCommands } from '../../../src/tools/shell/background.ts';
import { compareSnapshot } from '../../../src/tools/snapshot/compareSnapshot.ts';
import { createFileRecorder } from '../../../src/tools/snapshot/fileRecorder.ts';
import { removeSnapshot } from '../../../src/tools/snapshot/snapshotFile.ts';
import { takeSnapshot } from '../../../src/tools/snapshot/takeSnapshot.ts';
import { StillClock } from '../../support/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { call, type ScriptedReply } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

const until = (name: string) => `until [ -e ${name} ]; do sleep 0.02; done`;
const script = `echo listening; ${until('one')}; echo 1 > a; rm b; ${until('two')}; echo 2 > a; echo c > c`;

describe('what a command changes in the background', () => {
  let talk: Conversation;
  let background: BackgroundCommands;
  let snapshots: string;
  const clock = new StillClock();

  /** As the extension connects them. */
  function connect(one: Conversation): BackgroundCommands {
    const commands = new BackgroundCommands({
      after: clock.after,
      keep: (runId, text) => one.store.contents.keep(runId, text),
      async ended(key, end) {
        await recordings.end(key);
        await one.engine.note(key.runId, { type: 'command-end', toolCallId: key.toolCallId, ...end });
      },
    });
    const discard = async ({ store, id }: { store: string; id: string }) => removeSnapshot(store, id);
    const recorder = createFileRecorder({
      workspace: one.workspace,
      store: snapshots,
      isOn: () => true,
      budget: () => 1_000_000,
      isBusy: (but) => commands.atWork.some(({ toolCallId }) => toolCallId !== but),
      take: takeSnapshot,
      compare: compareSnapshot,
      discard,
    });
    const recordings = new BackgroundRecordings({
      recorder,
      emit: (runId, body) => one.engine.note(runId, body),
      newPack: (runId) => one.store.contents.newPack(runId),
      isAtWork: (id) => commands.atWork.some(({ toolCallId }) => toolCallId === id),
    });
    one.recorder = recorder;
    one.backgroundRecordings = recordings;
    one.background = commands;
    one.tools = builtinTools({ shell: { background: commands } });
    one.told = (event) => {
      recordings.onEvent(event);
      if (event.type === 'phase' && event.phase !== 'Running') void recordings.rest(one.runId);
    };
    one.build();
    return commands;
  }
  const begin = async (...replies: ScriptedReply[]) => {
    const run = { calls: [call('shell.run', { command: script, background: true })] };
    talk = new Conversation(await temporaryWorkspace({ a: 'A\n', b: 'B\n' }), [run, ...replies]);
    background = connect(talk);
    const resting = talk.start();
    await talk.seen('tool-output');
    clock.pass(1000);
    await resting;
    await records(1);
  };
  const changes = () =>
    talk.events.filter(({ type }) => type === 'command-changes') as (RunEvent & { type: 'command-changes' })[];
  const records = (count: number) => eventually(`${count} records`, async () => changes().length >= count);
  const changed = (index: number) => (changes()[index]?.changes ?? []).map(({ path }) => path);
  const at = (name: string) => path.join(talk.workspace.roots[0]!.path, name);
  const goOn = async (name: string, isDone: () => boolean) => {
    writeFileSync(at(name), '');
    await eventually(`the command has gone on after ${name}`, async () => isDone());
  };
  const undo = async () =>
    talk.engine.undo(
      talk.runId,
      { toolCallIds: undoableCallIds(await talk.kept(), 'run'), paths: ['a', 'b', 'c'] },
      talk.workspace,
      async () => 'all',
    );
  const files = () => ['a', 'b', 'c'].map((name) => talk.file(name));

  beforeEach(() => {
    snapshots = mkdtempSync(path.join(tmpdir(), 'towpath-snapshots-'));
  });
  afterEach(async () => {
    for (const name of ['one', 'two']) writeFileSync(at(name), '');
    await background.close();
    await talk.end();
    rmSync(snapshots, { recursive: true, force: true });
  });

  it('is recorded at each rest and at its end, and undone at any time', async () => {
    await begin({ text: 'It runs.' }, { text: 'And on.' }, { text: 'Still.' });
    assert.deepEqual(changed(0), []);
    await goOn('one', () => talk.file('b') === undefined);
    await talk.continue('And now?');
    await records(2);
    assert.deepEqual(changed(1), ['b', 'a', 'one']);
    await undo();
    assert.deepEqual(files(), ['A\n', 'B\n', undefined]);
    await goOn('two', () => talk.events.some(({ type }) => type === 'command-end'));
    assert.deepEqual(changed(2), ['a', 'c', 'two']); // without what the undo has changed
    await undo();
    assert.deepEqual(files(), ['A\n', 'B\n', undefined]);
    const [state] = Object.values((await talk.kept()).calls);
    assert.equal(state!.unrecorded, undefined);
  });

  it('does not contain what a file tool changes meanwhile', async () => {
    await begin(
      { text: 'It runs.' },
      {
        calls: [call('fs.write', { path: 'b', content: 'mine\n' }), call('fs.write', { path: 'a', content: 'edit\n' })],
      },
      { text: 'Edited.' },
    );
    await talk.continue('Edit them.');
    await records(2);
    assert.deepEqual(changed(1), []);
    await goOn('one', () => talk.file('b') === undefined);
    await talk.continue('And now?');
    await records(3);
    assert.deepEqual(changed(2), ['b', 'a', 'one']);
    await undo();
    assert.deepEqual(files(), ['A\n', 'B\n', undefined]);
  });

  it('is recorded after the window is gone', async () => {
    await begin({ text: 'It runs.' }, { text: 'Lost.' });
    await goOn('one', () => talk.file('b') === undefined);
    const former = background;
    try {
      talk.events.length = 0;
      background = connect(talk); // another window, which does not know the command
      talk.client.requests.length = 1;
      await talk.continue('And now?');
      assert.deepEqual(changed(0), ['b', 'a', 'one']);
      assert.deepEqual(
        changes()[0]!.changes!.map(({ mixed }) => mixed),
        [true, true, true],
        'anything may have changed them',
      );
      await undo();
      assert.deepEqual(files(), ['A\n', 'B\n', undefined]);
    } finally {
      writeFileSync(at('two'), '');
      await former.close();
    }
  });
});
