import assert from 'node:assert/strict';
import { runTitle } from '../../../src/protocol/run/run.ts';
import { RunStore } from '../../../src/runs/store.ts';
import { scriptedClient } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

describe('a run that a person names and pins', () => {
  let talk: Conversation;
  afterEach(() => talk.end());
  const listed = async () => {
    const [run] = await talk.store.list();
    return [run!.title, run!.pinned];
  };

  it('keeps the name whatever a model calls it, until the person gives it up', async () => {
    talk = new Conversation(await temporaryWorkspace({}), [{ text: 'Hello.' }, { text: 'Yes.' }, { text: 'Well.' }]);
    await talk.start('one');
    assert.equal(await talk.engine.rename(talk.runId, 'Mine'), undefined);
    assert.equal(await talk.engine.pin(talk.runId, true), undefined);
    talk.naming = scriptedClient([{ text: 'A model’s name' }, { text: 'Another name' }]);
    await talk.engine.continue({ runId: talk.runId, userInput: 'two' });
    await talk.engine.note(talk.runId, { type: 'title', title: 'Late' });
    assert.deepEqual(await listed(), ['Mine', true]);
    await talk.engine.rename(talk.runId, '');
    await talk.engine.pin(talk.runId, false);
    assert.deepEqual(await listed(), ['one', undefined]);
    await talk.engine.continue({ runId: talk.runId, userInput: 'three' });
    assert.deepEqual(await listed(), ['A model’s name', undefined]);
  });

  it('while it is at work, too', async () => {
    talk = new Conversation(await temporaryWorkspace({}), [{ text: 'Hello.' }]);
    talk.told = (event) => {
      if (event.type === 'phase' && event.phase === 'Running')
        void talk.engine.rename(talk.runId, 'In the middle of it');
    };
    await talk.start('one');
    assert.equal(runTitle(await talk.store.read(talk.runId)), 'In the middle of it');
  });

  it('not while another window has it, which is said', async () => {
    talk = new Conversation(await temporaryWorkspace({}), [{ text: 'Hello.' }]);
    await talk.start('one');
    const open = await new RunStore(talk.folder).open(talk.runId);
    try {
      assert.equal((await talk.engine.rename(talk.runId, 'Mine'))?.code, 'STORE_LOCKED');
      assert.equal((await talk.engine.pin('run-nobody', true))?.code, 'ENGINE_RUN_NOT_FOUND');
    } finally {
      await open.close();
    }
    assert.deepEqual(await listed(), ['one', undefined]);
  });

  it('not before it has begun: its record begins with that', async () => {
    talk = new Conversation(await temporaryWorkspace({}), [{ text: 'Hello.' }]);
    const working = talk.start('one');
    assert.equal((await talk.engine.rename(talk.runId, 'Mine'))?.code, 'ENGINE_BUSY');
    await working;
    assert.deepEqual(await listed(), ['one', undefined]);
    assert.equal((await talk.store.workflowIds())[0], 'chat');
  });

  it('in a branch is called by what is said there', async () => {
    talk = new Conversation(await temporaryWorkspace({}), [{ text: 'Hello.' }, { text: 'There.' }]);
    await talk.start('one');
    await talk.engine.rename(talk.runId, 'Mine');
    await talk.engine.pin(talk.runId, true);
    const branch = await talk.store.fork(talk.runId, (await talk.kept()).seq);
    await talk.engine.continue({ runId: branch, userInput: 'in the branch' });
    assert.deepEqual(
      (await talk.store.list()).map(({ title, pinned, named }) => [title, pinned, named]),
      [
        ['in the branch', undefined, undefined],
        ['Mine', true, true],
      ],
    );
  });
});
