import assert from 'node:assert/strict';
import { planAgent, workAgent } from '../../../src/protocol/content/agents.ts';
import { isPlanReadyToImplement, planItemsOfRun, planTextForImplementation } from '../../../src/protocol/run/plan.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

describe('a run that plans first', () => {
  let talk: Conversation;
  afterEach(() => talk.end());
  const write = { id: 'w', name: 'fs.write', arguments: { path: 'b', content: 'B' } };
  const list = { id: 'p', name: 'plan.update', arguments: { items: [{ text: 'Write b', status: 'pending' }] } };
  const plan = 'The plan: write b.';
  async function planned(preset: Conversation['preset'] = 'reads-free'): Promise<void> {
    const read = { id: 'r', name: 'fs.read', arguments: { path: 'a' } };
    talk = new Conversation(await temporaryWorkspace({ a: 'A' }), [
      { calls: [read] },
      { calls: [write, list] },
      { text: plan },
      { calls: [{ ...write, id: 'w2' }] },
      { text: 'Done.' },
    ]);
    talk.preset = preset;
    talk.build();
    await talk.engine.start({ runId: talk.runId, userInput: 'Make b', agentId: planAgent });
  }
  const offered = (at: number) => talk.client.requests[at]!.tools!.map(({ name }) => name);

  it('has tools that only read, and is told so when it changes something all the same', async () => {
    await planned('autopilot');
    for (const at of [0, 1, 2]) {
      assert.ok(offered(at).includes('fs.read') && offered(at).includes('ask.person'));
      for (const name of ['fs.write', 'fs.edit', 'fs.delete', 'shell.run'])
        assert.ok(!offered(at).includes(name), name);
    }
    assert.match(talk.client.requests[0]!.systemPrompt ?? '', /You plan:/);
    const sent = talk.client.requests.map(({ systemPrompt, tools }) => JSON.stringify([systemPrompt, tools]));
    assert.equal(new Set(sent).size, 1, 'from turn to turn it is the same');
    const run = await talk.kept();
    const results = run.messages.flatMap((one) => (one.role === 'tool' ? one.toolResults : []));
    assert.match(results.find(({ toolCallId }) => toolCallId === 'w')!.content, /TOOL_NOT_AVAILABLE/);
    assert.equal(talk.file('b'), undefined);
    assert.deepEqual(talk.questions, []);
  });

  it('has its list though that came as JSON text, which the conversation keeps', async () => {
    const items = JSON.stringify(list.arguments.items);
    talk = new Conversation(await temporaryWorkspace({}), [
      { calls: [{ ...list, arguments: { items } }] },
      { text: plan },
    ]);
    await talk.start();
    const run = await talk.kept();
    assert.deepEqual(planItemsOfRun(run), list.arguments.items);
    const [sent] = run.messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []));
    assert.deepEqual(sent!.arguments, { items });
    assert.deepEqual(talk.client.requests[1]!.messages.at(-2), run.messages.at(-3), 'the model is sent what it wrote');
  });

  it('has them also where everything is asked about', async () => {
    await planned('ask-everything');
    assert.ok(offered(0).includes('fs.read'));
    assert.equal(talk.questions.length, 1, 'its reading was asked about');
  });

  it('waits with its plan, which can be handed on without anything else of it', async () => {
    await planned();
    const run = await talk.kept();
    assert.ok(isPlanReadyToImplement(run));
    assert.equal(planTextForImplementation(run), `${plan}\n\nSteps:\n1. Write b`);
    assert.ok(!isPlanReadyToImplement({ ...run, agentId: workAgent }));
    assert.ok(!isPlanReadyToImplement({ ...run, error: { code: 'ENGINE_ABORTED', message: 'Stopped.' } }));
  });

  it('goes on as the one that works once the person says so, also after a reload', async () => {
    await planned();
    assert.equal(await talk.engine.chooseAgent(talk.runId, workAgent), undefined);
    assert.ok(!isPlanReadyToImplement(await talk.kept()));
    talk.build();
    await talk.continue('Do it');
    assert.equal(talk.file('b'), 'B');
    assert.ok(offered(3).includes('fs.write'));
    assert.doesNotMatch(talk.client.requests[3]!.systemPrompt ?? '', /You plan:/);
    assert.equal((await talk.kept()).agentId, workAgent);
  });
});
