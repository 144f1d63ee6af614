import assert from 'node:assert/strict';
import type { ChatRequest } from '../../../src/llm/core/client.ts';
import { exportableEvents } from '../../../src/protocol/run/exchange.ts';
import type { ThinkingEffort } from '../../../src/protocol/values/thinkingEffort.ts';
import { call, type ScriptedReply, scriptedClient } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

const one = 'scripted/one';
const said = (text: string): ScriptedReply => ({ text });
const thinking = (requests: readonly ChatRequest[]) =>
  requests.map(({ thinkingBudget, thinkingOff }) => (thinkingOff ? 'off' : (thinkingBudget ?? 'default')));

describe('the thinking effort of a run', () => {
  let talk: Conversation;
  afterEach(() => talk.end());
  const begin = async (...replies: ScriptedReply[]) => {
    talk = new Conversation(await temporaryWorkspace({ a: 'a\n' }), replies);
  };
  const asked = () => thinking(talk.client.requests);
  const recorded = async () => (await talk.kept()).models?.map(({ model, effort = 'default' }) => `${model} ${effort}`);
  const choose = (effort?: ThinkingEffort) =>
    talk.engine.chooseEffort(talk.runId, { model: one, ...(effort && { effort }) });

  it('is the default as long as nobody has chosen one', async () => {
    await begin(said('One.'));
    await talk.start();
    assert.deepEqual(asked(), ['default']);
    assert.deepEqual(await recorded(), [`${one} default`]);
  });

  it('is what was chosen last for its model when it begins', async () => {
    await begin(said('One.'));
    talk.efforts.set(one, 'high');
    await talk.start();
    assert.deepEqual(asked(), [24_576]);
    assert.deepEqual(await recorded(), [`${one} high`]);
  });

  it('stays after a reload, whatever was chosen in another run meanwhile', async () => {
    await begin(said('One.'), said('Two.'));
    talk.efforts.set(one, 'high');
    await talk.start();
    talk.efforts.set(one, 'off');
    talk.build();
    await talk.continue('and?');
    assert.deepEqual(asked(), [24_576, 24_576]);
    assert.deepEqual(await recorded(), [`${one} high`]);
  });

  it('of a run from before there were efforts stays the default', async () => {
    await begin(said('One.'), said('Two.'));
    await talk.start();
    talk.efforts.set(one, 'high');
    talk.build();
    await talk.continue('and?');
    assert.deepEqual(asked(), ['default', 'default']);
  });

  it('changes at rest for this run, also after a reload; the default is a choice, too', async () => {
    await begin(said('One.'), said('Two.'), said('Three.'));
    await talk.start();
    assert.equal(await choose('off'), undefined);
    talk.build();
    await talk.continue('and?');
    await choose();
    await talk.continue('and now?');
    assert.deepEqual(asked(), ['default', 'off', 'default']);
    assert.deepEqual(await recorded(), [`${one} default`, `${one} off`, `${one} default`]);
  });

  it('changes during the run with the next request', async () => {
    await begin({ calls: [call('fs.read', { path: 'a' })] }, said('Read.'));
    talk.told = ({ type }) => {
      if (type === 'tool-start') void choose('low');
    };
    await talk.start();
    assert.deepEqual(asked(), ['default', 2048]);
    assert.deepEqual(await recorded(), [`${one} default`, `${one} low`]);
  });

  it('keeps what the model has counted: the conversation is the same', async () => {
    await begin(said('One.'));
    await talk.start();
    const { contextTokens } = await talk.kept();
    assert.ok(contextTokens > 0);
    await choose('high');
    assert.equal((await talk.kept()).contextTokens, contextTokens);
  });

  it('belongs to its model: another one has its own', async () => {
    await begin(said('One.'), said('One again.'));
    const two = scriptedClient([said('Two.')]);
    talk.others.set('scripted/two', { client: two });
    talk.efforts.set(one, 'high').set('scripted/two', 'medium');
    await talk.start();
    await talk.continue('and you?', 'scripted/two');
    talk.efforts.set(one, 'low');
    await talk.continue('and you again?');
    assert.deepEqual([asked(), thinking(two.requests)], [[24_576, 2048], [8192]]);
    assert.deepEqual(await recorded(), [`${one} high`, 'scripted/two medium', `${one} low`]);
  });

  it('is not exported: what another person pays for is theirs', async () => {
    await begin(said('One.'));
    talk.efforts.set(one, 'high');
    await talk.start();
    await choose('off');
    const events = exportableEvents((await talk.store.events(talk.runId)).events, (text) => text);
    const models = events.filter(({ type }) => type === 'run-start' || type === 'model');
    assert.deepEqual(
      models.map((event) => 'effort' in event),
      [false, false],
    );
  });
});
