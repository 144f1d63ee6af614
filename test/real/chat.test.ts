import assert from 'node:assert/strict';
import type { ChatRequest } from '../../src/llm/core/client.ts';
import type { LocalModelClient } from '../../src/llm/local/host/client.ts';
import { stopAt, Talk } from '../llm/local/setup.ts';
import { eventually } from '../support/eventually.ts';
import { describeTrained } from './trained.ts';

const chat: Partial<ChatRequest> = {
  tools: [],
  temperature: 0,
  maxTokens: 12,
  // Long enough for its state to be stored.
  systemPrompt: `You answer in one line. You know these rivers: ${'the Rhine, the Danube, the Seine, the Po, '.repeat(20)}and more.`,
};
const questions = ['Tell me about the sea.', 'And about rivers?', 'Name one color.'];

describeTrained('a chat with a trained model', (model) => {
  const evaluated = ({ last: { usage } }: Talk) => usage!.promptTokens - (usage!.cachedTokens ?? 0);
  const textOf = async (talk: Talk, text: string) => String((await talk.ask(text)).content);
  const known = ({ last: { usage } }: Talk) => usage!.promptTokens + usage!.completionTokens;
  const isStored = (run = 'run-1') =>
    eventually('the state is stored', () =>
      model.log.some((line) => line.startsWith(`kept on disk what was read of ${run}:`)),
    );
  /** Replies of a conversation that nothing interrupts. */
  const expected: string[] = [];

  it('evaluates nothing twice in a conversation', async () => {
    const talk = new Talk(await model.client(), chat);
    const turns: string[] = [];
    let before = 0;
    for (const question of questions) {
      expected.push(await textOf(talk, question));
      assert.notEqual(expected.at(-1)!.trim(), '');
      const { promptTokens, cachedTokens = 0 } = talk.last.usage!;
      // The end of a reply is evaluated with the next message.
      assert.ok(cachedTokens >= before - 2, `${cachedTokens} of ${before} known tokens were not read again`);
      turns.push(`${evaluated(talk)} of ${promptTokens}`);
      before = known(talk);
    }
    model.figure('tokens evaluated of each prompt', ...turns);
    model.figure('a reply', JSON.stringify(expected[0]));
  });

  it('answers without a system message', async () => {
    const talk = new Talk(await model.client(), { ...chat, systemPrompt: undefined });
    assert.notEqual((await textOf(talk, 'Say hello.')).trim(), '');
  });

  /** What happens before the second message; returns the client that it goes to. */
  const between: Record<string, (client: LocalModelClient) => Promise<LocalModelClient>> = {
    'an unload': async (client) => {
      await isStored();
      await eventually('it is unloaded', () => client.unload());
      return client;
    },
    'a kill of its process': async (client) => {
      await isStored();
      process.kill(client.pid()!, 'SIGKILL');
      await eventually('the process is gone', () => client.pid() === undefined);
      return client;
    },
    'a reload of the window': async (client) => {
      await isStored();
      await client.dispose();
      return model.client();
    },
    'a turn of another run': async (client) => {
      await isStored();
      await new Talk(client, { ...chat, systemPrompt: `You know lakes. ${chat.systemPrompt}`, cacheKey: 'run-2' }).ask(
        'Tell me about lakes.',
      );
      return client;
    },
  };
  for (const [what, happen] of Object.entries(between))
    it(`continues with the same text after ${what}, and reads no old token again`, async () => {
      await model.forgetStates();
      const before = new Talk(await model.client(), chat);
      assert.equal(await textOf(before, questions[0]!), expected[0]);
      const after = new Talk(await happen(before.client), chat);
      after.messages.push(...before.messages);
      assert.equal(await textOf(after, questions[1]!), expected[1]);
      const again = known(before) - 2 - (after.last.usage!.cachedTokens ?? 0);
      assert.ok(again <= 0, `${again} old tokens were read again`);
      model.figure(`after ${what}`, `${evaluated(after)} of ${after.last.usage!.promptTokens} evaluated`, 'same text');
    });

  it('stops while it loads, reads and writes, and answers afterwards', async () => {
    await model.forgetStates();
    const client = await model.client();
    const loading = new AbortController();
    const reason = new Error('Stop while it loads.');
    const asked = new Talk(client, chat).ask('Hello', loading.signal);
    loading.abort(reason);
    await assert.rejects(asked, (error) => error === reason);
    const long = { ...chat, systemPrompt: 'Some words about boats. '.repeat(60) };
    await stopAt(new Talk(client, long), 'Hello', ({ progress }) => progress !== undefined);
    const counting = new Talk(client, { ...chat, maxTokens: 200, systemPrompt: undefined });
    await stopAt(counting, 'Count to one hundred.', ({ content }) => Boolean(content));
    assert.notEqual((await textOf(new Talk(client, chat), 'Say hello.')).trim(), '');
  });
});
