import assert from 'node:assert/strict';
import type { StoredEvent } from '../../../src/protocol/run/events.ts';
import { applyEvent } from '../../../src/protocol/run/fold.ts';
import { newRun } from '../../../src/protocol/run/run.ts';
import { StoreError } from '../../../src/runs/journal.ts';
import { eventually } from '../../support/eventually.ts';
import type { ScriptedReply } from '../../support/scriptedClient.ts';
import { call } from '../../support/scriptedClient.ts';
import { transcript } from '../../support/transcript.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';
import { type Disk, stuckDisk } from '../stuckDisk.ts';

describe('a stop while the disk takes nothing', () => {
  let talk: Conversation;
  let disk: Disk;
  const begin = async (...replies: ScriptedReply[]) => {
    talk = new Conversation(await temporaryWorkspace({ a: 'A' }), replies);
    disk = stuckDisk(talk);
  };
  afterEach(async () => {
    disk.release();
    await talk.end();
  });

  const types = () => talk.events.map(({ type }) => type);
  const phases = () =>
    talk.events.flatMap((event) => (event.type === 'phase' ? [event.error?.code ?? event.phase] : []));
  const isReply = (event: StoredEvent | 'open') =>
    event !== 'open' && event.type === 'message' && event.message.role === 'assistant';

  it('ends the run, nothing arrives after that, and what was told is what is on disk in the end', async () => {
    await begin({ text: 'I begin', endless: true });
    disk.sticksAt(isReply);
    const done = talk.start();
    await talk.seen('chunk');
    const stopped = talk.engine.stop(talk.runId);
    assert.deepEqual((await done).error?.code, 'ENGINE_ABORTED');
    assert.deepEqual([types().at(-1), phases(), disk.waits], ['phase', ['Running', 'ENGINE_ABORTED'], true]);
    const told = transcript(talk.engine.live(talk.runId)!);
    const count = talk.events.length;
    assert.deepEqual(talk.engine.liveIds, []);
    assert.equal((await talk.kept()).phase, 'Running', 'a kill now would show it as interrupted');
    disk.release();
    await stopped;
    assert.equal(talk.events.length, count);
    await talk.reads(told);
  });

  it('lets the next words wait until all of it is on disk', async () => {
    await begin({ text: 'I begin', endless: true }, { text: 'Yes?' });
    disk.sticksAt(isReply);
    const done = talk.start();
    await talk.seen('chunk');
    void talk.engine.stop(talk.runId);
    await done;
    const next = talk.continue('go on');
    assert.deepEqual(talk.engine.liveIds, [talk.runId]);
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(talk.client.requests.length, 1);
    disk.release();
    assert.equal((await next).assistantText, 'Yes?');
    const { messages } = await talk.kept();
    assert.deepEqual(
      messages.map(({ role }) => role),
      ['user', 'assistant', 'user', 'assistant'],
    );
  });

  it('says so when it then cannot be written, and writes nothing behind the gap', async () => {
    await begin({ text: 'I begin', endless: true }, { text: 'Yes?' });
    disk.sticksAt(isReply);
    const done = talk.start();
    await talk.seen('chunk');
    const stopped = talk.engine.stop(talk.runId);
    await done;
    disk.fails(new StoreError('STORE_FULL', 'The disk is full.'));
    await stopped;
    assert.deepEqual(phases(), ['Running', 'ENGINE_ABORTED', 'STORE_FULL']);
    assert.equal(transcript(await talk.kept()), 'user       hi\nRunning');
    assert.equal((await talk.continue('go on')).assistantText, 'Yes?');
    const shown = newRun(talk.runId);
    for (const event of talk.events) applyEvent(shown, event);
    assert.deepEqual(
      shown.messages.map(({ content }) => content.slice(0, 4)),
      ['hi', 'I be', 'go o', 'Yes?'],
      'a panel that saw all of it misses nothing of what follows',
    );
  });

  it('before the run could be opened: it has ended, and its words are kept all the same', async () => {
    await begin({ text: 'Never said.' });
    disk.sticksAt((event) => event === 'open');
    const done = talk.start('do it');
    const stopped = talk.engine.stop(talk.runId);
    assert.equal((await done).error?.code, 'ENGINE_ABORTED');
    assert.deepEqual([types(), talk.engine.liveIds], [[], []]);
    disk.release();
    await stopped;
    assert.deepEqual([phases().at(-1), talk.client.requests.length], ['ENGINE_ABORTED', 0]);
    await talk.reads('user       do it\nFailed ENGINE_ABORTED');
  });

  it('waits for the record of a change, for Undo is promised with it', async () => {
    await begin({ calls: [call('fs.write', { path: 'a', content: 'B' })] });
    disk.sticksAt((event) => event !== 'open' && event.type === 'tool-end');
    const done = talk.start();
    await eventually('the end of the write', () => disk.waits);
    const stopped = talk.engine.stop(talk.runId);
    await new Promise((resolve) => setTimeout(resolve, 150));
    assert.deepEqual([types().includes('tool-end'), phases()], [false, ['Running']]);
    disk.release();
    await stopped;
    assert.equal((await done).error?.code, 'ENGINE_ABORTED');
    assert.equal(Object.values((await talk.kept()).calls)[0]?.changes?.length, 1);
  });

  it('runs no call whose start is not on disk', async () => {
    await begin({ calls: [call('fs.write', { path: 'a', content: 'B' })] });
    disk.sticksAt((event) => event !== 'open' && event.type === 'tool-start');
    const done = talk.start();
    await eventually('the start of the write', () => disk.waits);
    const stopped = talk.engine.stop(talk.runId);
    assert.equal((await done).error?.code, 'ENGINE_ABORTED');
    disk.release();
    await stopped;
    assert.deepEqual([talk.file('a'), talk.workspace.effects], ['A', []]);
  });
});

describe('a stop that is not heeded', () => {
  it('ends the run all the same, and what comes later is dropped', async () => {
    const talk = new Conversation(await temporaryWorkspace({}), []);
    let goOn = () => {};
    let over: Promise<void> | undefined;
    talk.workflow = {
      ...talk.workflow,
      advance: (context) => {
        const deaf = new Promise<void>((resolve) => {
          goOn = resolve;
        });
        void context.emit({ type: 'progress', text: 'at it' });
        over = deaf.then(() => context.emit({ type: 'message', message: { role: 'assistant', content: 'late' } }));
        return over.then(() => ({ phase: 'WaitingUser' }));
      },
    };
    const done = talk.start();
    await talk.seen('progress');
    await talk.engine.stop(talk.runId);
    assert.equal((await done).error?.code, 'ENGINE_ABORTED');
    const told = talk.events.length;
    goOn();
    await assert.rejects(over!, { code: 'ENGINE_ABORTED' });
    assert.equal(talk.events.length, told);
    await talk.reads('user       hi\nFailed ENGINE_ABORTED');
    await talk.end();
  });
});
