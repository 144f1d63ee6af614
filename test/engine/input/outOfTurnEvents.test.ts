import assert from 'node:assert/strict';
import { runTitle } from '../../../src/protocol/run/run.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

describe('an event that is recorded while a run opens', () => {
  let talk: Conversation;
  beforeEach(async () => {
    talk = new Conversation(await temporaryWorkspace({}), [{ text: 'Hello.' }, { text: 'Still here.' }]);
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
});
