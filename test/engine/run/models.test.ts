import assert from 'node:assert/strict';
import type { LLMClient } from '../../../src/llm/core/client.ts';
import { LLMError } from '../../../src/llm/core/errors.ts';
import type { Message } from '../../../src/protocol/content/messages.ts';
import { runTitle } from '../../../src/protocol/run/run.ts';
import { longText } from '../../support/longText.ts';
import { call, type ScriptedReply, scriptedClient } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

const refused = new LLMError('LLM_AUTH_FAILED', 'No API key for One.');
const said = (text: string): ScriptedReply => ({ text, usage: null });
const words = (count: number): string => longText('some words of a file\n', count / 5);

/** Its own form of each reply goes with it, as with providers that sign what they thought. */
function signing(client: LLMClient, provider: string): LLMClient {
  return {
    ...client,
    async *chatStream(request, signal) {
      for await (const chunk of client.chatStream(request, signal))
        yield chunk.done ? { ...chunk, native: { provider, content: `signed by ${request.model}` } } : chunk;
    },
  };
}

const natives = (messages: readonly Message[]) =>
  messages.flatMap((message) => (message.role === 'assistant' ? [message.native?.content ?? 'plain'] : []));

describe('a run that goes on with another model', () => {
  let talk: Conversation;
  afterEach(() => talk.end());
  const begin = async (...replies: ScriptedReply[]) => {
    talk = new Conversation(await temporaryWorkspace({ a: words(2000), b: words(2000) }), replies);
  };
  const other = (...replies: ScriptedReply[]) => {
    const client = scriptedClient(replies);
    talk.others.set('scripted/two', { client });
    return client;
  };
  const models = async () => (await talk.kept()).models?.map(({ model, at }) => `${model} at ${at}`);

  it('does so when the person says so, and not before; the record says from when', async () => {
    await begin({ error: refused }, { error: refused });
    const two = other(said('Here I am.'));
    assert.equal((await talk.start()).error?.code, 'LLM_AUTH_FAILED');
    assert.equal((await talk.continue()).error?.code, 'LLM_AUTH_FAILED');
    assert.equal(two.requests.length, 0);
    assert.deepEqual(await talk.continue(undefined, 'scripted/two'), {
      success: true,
      phase: 'WaitingUser',
      assistantText: 'Here I am.',
    });
    assert.equal(two.requests[0]!.model, 'two');
    assert.deepEqual(await models(), ['scripted/one at 0', 'scripted/two at 1']);
  });

  it('keeps it until it rests; then what is picked is asked, and that is recorded, too', async () => {
    await begin({ error: refused }, said('Back.'), said('Still.'));
    other({ calls: [call('fs.read', { path: 'a' })] }, said('Read.'));
    await talk.start();
    await talk.continue(undefined, 'scripted/two');
    await talk.continue('and now?');
    talk.build();
    await talk.continue('still?');
    assert.deepEqual(await models(), ['scripted/one at 0', 'scripted/two at 1', 'scripted/one at 5']);
  });

  it('says to each model only what that one has written itself in its own form', async () => {
    await begin(said('One.'), said('One again.'));
    const one = talk.client;
    talk.model = signing(one, 'scripted');
    const two = scriptedClient([said('Two.')]);
    talk.others.set('scripted/two', { client: signing(two, 'scripted') });
    await talk.start();
    await talk.continue('and you?', 'scripted/two');
    await talk.continue('and you again?');
    assert.deepEqual(natives(two.requests[0]!.messages), ['plain']);
    assert.deepEqual(natives(one.requests[1]!.messages), ['signed by one', 'plain']);
    assert.deepEqual(
      one.requests[1]!.messages.map(({ content }) => content),
      ['hi', 'One.', 'and you?', 'Two.', 'and you again?'],
    );
  });

  it('goes by the window of the new one', async () => {
    await begin({ calls: [call('fs.read', { path: 'a' })], usage: null }, said('Read.'));
    const two = scriptedClient([said('Short.')]);
    talk.others.set('scripted/two', { client: two, contextWindow: 4000 });
    talk.padPrompt();
    await talk.start('read a');
    await talk.continue('and?', 'scripted/two');
    assert.equal((await talk.kept()).compactions.length, 1);
    const content = JSON.stringify(two.requests.at(-1)!.messages);
    assert.ok(content.length < 4000, `${content.length} characters`);
  });

  it('forgets what the one before had counted', async () => {
    const usage = { promptTokens: 90_000, completionTokens: 100, totalTokens: 90_100 };
    await begin({ text: 'Long, as I count.', usage });
    talk.others.set('scripted/two', { client: scriptedClient([said('Short.')]), contextWindow: 10_000 });
    await talk.start();
    await talk.continue('and?', 'scripted/two');
    assert.deepEqual((await talk.kept()).compactions, []);
  });

  it('goes on after a break with what was shown, which is marked as a part', async () => {
    const broken = new LLMError('LLM_INCOMPLETE', 'It broke off.', { retryable: true });
    await begin({ text: 'I thi', error: broken });
    const two = other(said('I think so.'));
    assert.equal((await talk.start()).error?.code, 'LLM_INCOMPLETE');
    await talk.continue(undefined, 'scripted/two');
    assert.deepEqual(
      (await talk.kept()).messages.map((message) => [message.content, 'incomplete' in message]),
      [
        ['hi', false],
        ['I thi', true],
        ['I think so.', false],
      ],
    );
    assert.equal(two.requests.length, 1);
  });

  it('that cannot be had says why, and stays where it was', async () => {
    await begin({ error: refused }, said('Here I am.'));
    await talk.start();
    talk.others.set('scripted/two', { client: scriptedClient([{ error: refused }]) });
    assert.equal((await talk.continue(undefined, 'scripted/two')).error?.code, 'LLM_AUTH_FAILED');
    assert.equal((await talk.continue()).assistantText, 'Here I am.');
  });
});

describe('a model for small work', () => {
  let talk: Conversation;
  afterEach(() => talk.end());
  /** Three turns, of which the oldest no longer fit; then what makes the summary is asked. */
  const fill = async (small: Conversation['small'], ...more: ScriptedReply[]) => {
    talk = new Conversation(await temporaryWorkspace(), [
      said(words(2000)),
      said(words(2000)),
      said(words(2000)),
      ...more,
    ]);
    talk.contextWindow = 7800;
    talk.padPrompt();
    talk.small = small;
    for (const text of ['first', 'second', 'third', 'fourth'])
      await (text === 'first' ? talk.start(text) : talk.continue(text));
    return (await talk.kept()).compactions.map(({ summary }) => summary);
  };

  it('makes the summaries; the conversation stays with its model', async () => {
    const client = scriptedClient([said('They talked.')]);
    assert.deepEqual(await fill({ client }, said('Fourth.')), ['They talked.']);
    assert.equal(client.requests[0]!.model, 'small');
    assert.deepEqual(
      (await talk.kept()).models?.map(({ model }) => model),
      ['scripted/one'],
    );
    assert.deepEqual(
      talk.client.requests.map(({ model }) => model),
      ['one', 'one', 'one', 'one'],
    );
  });

  const without: [why: string, small: () => Conversation['small']][] = [
    ['none is set', () => undefined],
    ['it is not set up', () => new Error('No API key for Small.')],
    ['it fails', () => ({ client: scriptedClient([{ error: refused }, { error: refused }]) })],
  ];
  for (const [why, small] of without)
    it(`where ${why}, the run's own model makes them`, async () => {
      assert.deepEqual(await fill(small(), said('We talked.'), said('Fourth.')), ['We talked.']);
    });

  it('is not asked for more than it can read', async () => {
    const client = scriptedClient([said('They talked.')]);
    await fill({ client, contextWindow: 1000 }, said('Fourth.'));
    const [asked] = client.requests[0]!.messages;
    assert.ok(asked!.content.length < 2000, `${asked!.content.length} characters`);
  });
});

describe('a run', () => {
  let talk: Conversation;
  afterEach(() => talk.end());
  const title = async () => runTitle(await talk.kept());
  const begin = async (replies: ScriptedReply[] = [said('Hello.')]) => {
    talk = new Conversation(await temporaryWorkspace(), replies);
  };
  /** Names the run; the model at work says hello once that is told. */
  const nameBy = (namer: LLMClient): void => {
    const named = new Promise<void>((resolve) => {
      talk.told = ({ type }) => type === 'title' && resolve();
    });
    talk.naming = namer;
    talk.model = {
      ...talk.client,
      async *chatStream() {
        await named;
        yield { content: 'Hello.', done: false };
        yield { content: '', done: true, finishReason: 'stop' };
      },
    };
  };

  const names: [answer: string, shown: string][] = [
    ['Mend the greeting', 'Mend the greeting'],
    ['# **"Mend the greeting."**\nIt says hello.', 'Mend the greeting'],
    ['Das Grüßen mehrerer Menschen', 'Das Grüßen mehrerer Menschen'],
    ['a name '.repeat(20), 'Please mend the greeting.'],
    ['***', 'Please mend the greeting.'],
    ['Here is a fix to this error:', 'Please mend the greeting.'],
    ['```javascript', 'Please mend the greeting.'],
    [`Mend the greeting\n${'It says hello. '.repeat(5000)}`, 'Mend the greeting'],
  ];
  for (const [answer, shown] of names)
    it(`is named by a model for small work: ${JSON.stringify(answer.slice(0, 40))} → ${shown}`, async () => {
      await begin();
      const namer = scriptedClient([{ text: answer }]);
      nameBy(namer);
      await talk.start('Please mend the greeting.');
      assert.equal(await title(), shown);
      assert.deepEqual(
        namer.requests.map(({ messages, tools }) => [messages.map(({ content }) => content), tools]),
        [[['Please mend the greeting.'], undefined]],
      );
    });

  it('is named once, and what that took is counted', async () => {
    await begin();
    const namer = scriptedClient([{ text: 'The greeting' }, { text: 'Another' }]);
    nameBy(namer);
    await talk.start();
    const { usage } = await talk.kept();
    talk.model = undefined;
    await talk.continue('More.');
    assert.equal(await title(), 'The greeting');
    assert.equal(namer.requests.length, 1);
    assert.ok(usage.totalTokens > 0);
  });

  it('has its first words for a name where nothing names it, and goes on where that fails', async () => {
    await begin([said('One.'), said('Two.')]);
    assert.equal((await talk.start('Please mend the greeting.')).success, true);
    talk.naming = new Error('No API key for Small.');
    assert.equal((await talk.continue('More.')).success, true);
    assert.equal(await title(), 'Please mend the greeting.');
  });

  it('rests without a name that takes too long, and asks for it again with the next words', async () => {
    await begin([said('One.')]);
    talk.naming = scriptedClient([{ endless: true }]);
    assert.equal((await talk.start('Please mend the greeting.')).phase, 'WaitingUser');
    assert.equal(await title(), 'Please mend the greeting.');
    nameBy(scriptedClient([said('The greeting')]));
    await talk.continue('More.');
    assert.equal(await title(), 'The greeting');
  });

  it('is not asked about for ever by a model that finds no name', async () => {
    await begin();
    const namer = scriptedClient(Array(9).fill({ text: '***' }));
    for (const text of ['One.', 'Two.', 'Three.', 'Four.', 'Five.']) {
      if (namer.requests.length < 3) nameBy(namer);
      else talk.model = undefined;
      await (text === 'One.' ? talk.start(text) : talk.continue(text));
    }
    assert.equal(namer.requests.length, 3);
    assert.equal(await title(), 'One.');
  });
});
