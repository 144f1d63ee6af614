import assert from 'node:assert/strict';
import { promptPrefixTokens } from '../../../src/engine/core/tokenCount.ts';
import { LLMError } from '../../../src/llm/core/errors.ts';
import { createLLMClient } from '../../../src/llm/createClient.ts';
import type { Message } from '../../../src/protocol/content/messages.ts';
import { longText } from '../../support/longText.ts';
import { startProvider } from '../../support/provider.ts';
import { reply } from '../../support/reply.ts';
import { call, type ScriptedReply } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

const uncounted = { usage: null };
const read = (path: string): ScriptedReply => ({
  text: `I read ${path}.`,
  calls: [call('fs.read', { path })],
  ...uncounted,
});
const said = (text: string): ScriptedReply => ({ text, ...uncounted });
const words = (count: number): string => longText('some words of a file\n', count / 5);
const files = { a: words(2000), b: words(2000), c: words(2000), d: 'short' };

/** What a model was sent, a line each, long texts by their length. */
function sent(messages: readonly Message[]): string {
  const short = (text: string) =>
    text.length < 80 ? text : /characters left out/.test(text) ? '(shortened)' : '(whole)';
  return messages
    .flatMap((message) => {
      if (message.role === 'tool') return message.toolResults.map(({ content }) => `result ${short(content)}`);
      const text = message.content.replace(/^\(A summary stands.*\)\n\n/, 'SUMMARY: ');
      return [`${message.role} ${text.startsWith('SUMMARY: ') ? text : short(text)}`];
    })
    .join('\n');
}

// Holds messages-are-append-only.
describe('a full window', () => {
  let talk: Conversation;
  afterEach(() => talk.end());
  const begin = async (contextWindow: number | undefined, ...replies: ScriptedReply[]) => {
    talk = new Conversation(await temporaryWorkspace(files), replies);
    talk.contextWindow = contextWindow;
    talk.padPrompt();
  };
  const asked = (index: number) => sent(talk.client.requests[index]!.messages);
  const compactions = () =>
    talk.events.flatMap((event) =>
      event.type === 'compaction' ? [{ upTo: event.upTo, summary: event.summary !== undefined }] : [],
    );

  it('is not touched while there is room', async () => {
    await begin(100_000, read('a'), read('b'), said('Done.'));
    await talk.start('compare a and b');
    assert.deepEqual(compactions(), []);
  });

  it('is what there is the memory for now; what is sent before is as it was', async () => {
    await begin(20_000, read('a'), read('b'), read('c'), said('All three are alike.'));
    const before = talk.promptTokens;
    talk.windowNow = 10_000;
    await talk.start('compare');
    assert.deepEqual(compactions(), [{ upTo: 5, summary: false }]);
    const [{ systemPrompt, tools }] = talk.client.requests as [(typeof talk.client.requests)[number]];
    assert.equal(promptPrefixTokens({ model: 'one', systemPrompt, tools }), before);
  });

  it('old tool output is shortened first; the last turn, the task and what is kept stay whole', async () => {
    await begin(10_000, read('a'), read('b'), read('c'), said('All three are alike.'), said('Yes.'));
    await talk.start('compare');
    assert.deepEqual(compactions(), [{ upTo: 5, summary: false }]);
    assert.equal(
      asked(3),
      `user compare
assistant I read a.
result (shortened)
assistant I read b.
result (shortened)
assistant I read c.
result (whole)`,
    );
    const results = (await talk.kept()).messages.flatMap((message) =>
      message.role === 'tool' ? message.toolResults : [],
    );
    assert.deepEqual(
      results.map(({ content }) => content.length > files.a.length),
      [true, true, true],
    );
  });

  it('a reload sends the same, and the beginning stays the same from then on', async () => {
    await begin(10_000, read('a'), read('b'), read('c'), said('Alike.'), said('Yes.'));
    await talk.start('compare');
    talk.build();
    await talk.continue('sure?');
    const [before, after] = [talk.client.requests[3]!.messages, talk.client.requests[4]!.messages];
    assert.deepEqual(after.slice(0, before.length), before);
  });

  const long = (name: string) => ({ text: `${name}: ${words(1500)}`, ...uncounted });

  it('then the oldest turns are summarised by the model; the task and the newest request stay', async () => {
    await begin(7800, long('one'), long('two'), long('three'), said('Two essays were written.'), said('Four.'));
    await talk.start('write an essay');
    await talk.continue('another');
    await talk.continue('a third');
    await talk.continue('and a fourth, short');
    assert.match(talk.client.requests[3]!.messages[0]!.content, /^Person: write an essay\n\nAgent: one: some words/);
    assert.equal(talk.client.requests[3]!.tools, undefined);
    assert.equal(
      asked(4),
      `user write an essay
user SUMMARY: Two essays were written.

What the person said and decided on the way, oldest first:
- another
user a third
assistant (whole)
user and a fourth, short`,
    );
    const run = await talk.kept();
    assert.deepEqual([run.messages.length, run.compactions.length, run.error], [8, 1, undefined]);
  });

  const failing: Record<string, ScriptedReply> = {
    fails: { error: new LLMError('LLM_HTTP_ERROR', 'Out of order.') },
    'is a loop': { text: `I am glad. ${'The test has passed. '.repeat(50)}` },
  };
  for (const [what, summary] of Object.entries(failing))
    it(`a summary that ${what} is a plain list, and the work goes on`, async () => {
      await begin(7800, long('one'), long('two'), long('three'), summary, said('Four.'));
      for (const text of ['first', 'second', 'third'])
        await (text === 'first' ? talk.start(text) : talk.continue(text));
      assert.equal((await talk.continue('fourth')).assistantText, 'Four.');
      assert.match((await talk.kept()).compactions[0]!.summary!, /^- Person: first\n- Agent: one: some words/);
    });

  it('long arguments of old calls are shortened too, and what is kept stays whole', async () => {
    const content = words(2000);
    const write = (path: string): ScriptedReply => ({ calls: [call('fs.write', { path, content })], ...uncounted });
    await begin(7000, write('x'), write('y'), said('Written.'));
    await talk.start('write');
    const [first, second] = talk.client.requests[2]!.messages.flatMap((message) =>
      message.role === 'assistant' ? (message.toolCalls ?? []) : [],
    );
    assert.deepEqual([first?.arguments.path, first?.cut, second?.arguments.content === content], ['x', true, true]);
    assert.match(String(first?.arguments.content), /^some words[\s\S]{300,}characters left out[\s\S]{200,}$/);
    const kept = (await talk.kept()).messages.flatMap((one) => (one.role === 'assistant' ? (one.toolCalls ?? []) : []));
    assert.deepEqual(
      kept.map(({ arguments: args, cut }) => [args.content === content, cut]),
      [
        [true, undefined],
        [true, undefined],
      ],
    );
  });

  it('a summary takes a share of the window, however long it is', async () => {
    const essay = { text: Array.from({ length: 1000 }, (_, at) => `All of ${at} again. `).join(''), ...uncounted };
    await begin(7800, long('one'), long('two'), long('three'), essay, said('Four.'));
    for (const text of ['first', 'second', 'third']) await (text === 'first' ? talk.start(text) : talk.continue(text));
    await talk.continue('fourth');
    const { summary = '' } = (await talk.kept()).compactions[0]!;
    assert.ok(summary.length > 1000 && summary.length < 4500, `${summary.length} characters`);
    assert.match(summary, /characters left out/);
  });

  it('the open plan, changed files and decisions survive word for word, whatever the summary says', async () => {
    const items = [
      { text: 'Find where it is.', status: 'done' },
      { text: 'Mend the parser, and nothing else.', status: 'active' },
      { text: 'Run `npm test -- parser`.', status: 'pending' },
    ];
    const fill = (name: string) => ({ text: `${name}: ${words(1500)}`, ...uncounted });
    await begin(
      7000,
      { calls: [call('plan.update', { items })], ...uncounted },
      { calls: [call('fs.write', { path: 'new.ts', content: 'x' })], ...uncounted },
      { calls: [call('fs.delete', { path: 'd' })], ...uncounted },
      said('Not that one, then.'),
      fill('one'),
      fill('two'),
      fill('three'),
      said('It went well.'),
      said('Yes.'),
    );
    talk.answers = [{ decision: 'allow' }, { decision: 'deny', words: 'd is mine.' }];
    await talk.start('mend it');
    await talk.continue('Never touch the lexer.');
    await talk.continue('on');
    await talk.continue('and on');
    await talk.continue('well?');
    assert.equal(talk.client.requests[7]!.tools, undefined, 'it is the summary');
    const { content } = talk.client.requests.at(-1)!.messages[1]!;
    assert.equal(
      content.slice(content.indexOf('It went well.')),
      `It went well.

Your plan, what is open:
- Mend the parser, and nothing else. (at work on it)
- Run \`npm test -- parser\`.

Changed files:
- new.ts (created)

What the person said and decided on the way, oldest first:
- Not allowed: fs.delete {"path":"d"}
  The person did not allow this and said: d is mine.
- Never touch the lexer.
- on`,
    );
    const still = talk.client.requests
      .at(-1)!
      .messages.slice(2)
      .filter(({ role }) => role === 'user');
    assert.deepEqual(
      still.map(({ content }) => content),
      ['and on', 'well?'],
    );
    talk.build();
    await talk.continue('sure?');
    assert.equal(talk.client.requests.at(-1)!.messages[1]!.content, content, 'a reload sends the same');
  });

  it('stop ends a summary at once, and nothing is left out', async () => {
    await begin(7800, long('one'), long('two'), long('three'), { text: 'They', endless: true }, said('Four.'));
    await talk.start('first');
    await talk.continue('second');
    await talk.continue('third');
    const done = talk.continue('fourth');
    while (talk.client.requests.length < 4) await new Promise((resolve) => setTimeout(resolve, 1));
    assert.equal(talk.client.requests[3]!.tools, undefined, 'it is the summary');
    await talk.engine.stop(talk.runId);
    assert.equal((await done).error?.code, 'ENGINE_ABORTED');
    assert.deepEqual((await talk.kept()).compactions, []);
  });

  it('a task that fills the window by itself is not summarised again and again', async () => {
    await begin(5000, said('Long.'), said('Still long.'));
    await talk.start(words(6000));
    await talk.continue('well?');
    assert.deepEqual([compactions(), talk.client.requests.length], [[], 2]);
  });

  it('goes by what the provider has counted', async () => {
    const usage = { promptTokens: 9500, completionTokens: 100, totalTokens: 9600 };
    await begin(10_000, read('a'), { ...read('d'), usage }, said('Done.'));
    await talk.start('look');
    assert.deepEqual(compactions(), [{ upTo: 3, summary: false }]);
  });

  describe('that only the provider knows of', () => {
    const overflow = reply.status(400, {
      error: { message: "This model's maximum context length is 8192 tokens.", code: 'context_length_exceeded' },
    });
    const reads = (path: string) => reply.text(`I read ${path}.`).call('fs_read', { path });
    const through = async (script: Parameters<typeof startProvider>[0]) => {
      const provider = await startProvider(script);
      await begin(undefined);
      talk.model = createLLMClient({ provider: 'openai-compatible', baseUrl: provider.url, model: 'one' });
      return provider;
    };

    it('makes room once and asks again', async () => {
      const provider = await through([reads('a'), reads('b'), reads('d'), overflow, reply.text('Done.')]);
      try {
        assert.deepEqual(await talk.start('look'), { success: true, phase: 'WaitingUser', assistantText: 'Done.' });
        assert.deepEqual(compactions(), [{ upTo: 5, summary: false }]);
        const [refused, taken] = provider.requests.slice(3).map(({ body }) => JSON.stringify(body).length);
        assert.ok(taken! < refused! / 2, `${taken} of ${refused} characters`);
      } finally {
        await provider.close();
      }
    });

    it('each time that it is full, also later in the same run', async () => {
      const replies = [...'aba'].map(reads);
      const script = [...replies, overflow, ...replies, overflow, reply.text('Done.')];
      const provider = await through(({ tools }) => (tools ? script.shift()! : reply.text('In short.')));
      try {
        assert.equal((await talk.start('look')).error, undefined);
        assert.ok(compactions().length >= 2);
      } finally {
        await provider.close();
      }
    });

    it('says so when that did not help', async () => {
      const provider = await through([reads('a'), reads('b'), overflow, overflow]);
      try {
        const { error, phase } = await talk.start('look');
        assert.deepEqual([error?.code, phase, provider.requests.length], ['LLM_CONTEXT_OVERFLOW', 'Failed', 4]);
      } finally {
        await provider.close();
      }
    });
  });
});
