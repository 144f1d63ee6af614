import assert from 'node:assert/strict';
import { runTitle } from '../../../src/protocol/run/run.ts';
import { createSideEffectTool } from '../../../src/tools/core/tool.ts';
import { call, type ScriptedReply } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

describe('an event that is recorded while a run opens', () => {
  let talk: Conversation;
  let replies: ScriptedReply[];
  beforeEach(async () => {
    replies = [{ text: 'Hello.' }, { text: 'Still here.' }];
    talk = new Conversation(await temporaryWorkspace({}), replies);
    await talk.start('one');
  });
  afterEach(() => talk.end());

  const noteWhileOpening = () => {
    const resting = talk.continue('two');
    return { noted: talk.engine.note(talk.runId, { type: 'title', title: 'Mine' }), resting };
  };

  it('is stored when its record resolves', async () => {
    const { noted, resting } = noteWhileOpening();
    assert.equal(await noted, undefined);
    assert.equal(runTitle(await talk.kept()), 'Mine');
    await resting;
  });

  it('is stored also if the run cannot go on', async () => {
    const { open } = talk.store;
    talk.store.open = async () => {
      talk.store.open = open;
      throw new Error('The disk is away.');
    };
    const { noted, resting } = noteWhileOpening();
    assert.equal((await resting).error?.message, 'The disk is away.');
    assert.equal(await noted, undefined);
    assert.equal(runTitle(await talk.kept()), 'Mine');
  });

  it('is stored before that if the work before it waits for the event', async () => {
    let isNext = () => {};
    const next = new Promise<void>((resolve) => (isNext = resolve));
    const notes = async () => {
      await next;
      return { failure: await talk.engine.note(talk.runId, { type: 'title', title: 'Mine' }) };
    };
    const plan = { what: 'Note', where: 'here', why: 'x', run: notes };
    talk.tools = [
      createSideEffectTool({ name: 'test.note', description: '', arguments: {} }, 'execute', async () => plan),
    ];
    replies.splice(1, 1, { calls: [call('test.note', {})] }, { text: 'Noted.' });
    talk.build();
    const stopped = talk.continue('two');
    await talk.seen('tool-start');
    const going = talk.engine.stop(talk.runId);
    const resting = talk.continue('three');
    isNext();
    await Promise.all([stopped, going, resting]);
    assert.equal(runTitle(await talk.kept()), 'Mine');
  });
});
