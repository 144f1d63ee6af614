import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  createLocalModelClient,
  type LocalModelClient,
  type LocalModelClientOptions,
} from '../../../src/llm/local/host/client.ts';
import { truncateLongMessages } from '../../../src/llm/local/worker/truncateResults.ts';
import type { Message } from '../../../src/protocol/content/messages.ts';
import { said, testScript } from '../../support/scripted.ts';
import { localModel, rejection, Talk, tools } from './setup.ts';

const long = (words: number) => 'along the canal the boat is pulled '.repeat(words);
const dropped = /^Other runs needed the memory/;

describe('the window of a local model', () => {
  let client: LocalModelClient;
  let options: LocalModelClientOptions;
  let close: () => Promise<void>;
  before(async () => {
    const model = await localModel(testScript(tools));
    ({ options } = model);
    client = createLocalModelClient({ ...model.options, contextSize: 4096 });
    close = async () => {
      await client.dispose();
      await model.close();
    };
  });
  after(() => close());

  it('is known when the model is loaded', async () => {
    await new Talk(client).ask('hi');
    assert.deepEqual(await client.listModels!(), [{ id: 'test', contextWindow: 4096 }]);
  });

  it('is too small for a message: it is refused with its size and the room there is, and the run goes on', async () => {
    const talk = new Talk(client, { cacheKey: 'message' });
    await talk.ask('hi');
    const error = await rejection(talk.ask(long(2000)));
    assert.equal(error.code, 'LLM_CONTEXT_OVERFLOW');
    const { messageTokens, room, contextSize } = error.details as Record<string, number>;
    assert.equal(contextSize, 4096);
    assert.ok(messageTokens! > 10_000 && room! > 1000 && room! < 4096, error.message);
    const sizes = [messageTokens, room].map((count) => count!.toLocaleString('en-US'));
    assert.ok(
      error.message.startsWith(
        `Your message is ${sizes[0]} tokens long, and the local model has space for ${sizes[1]} besides`,
      ),
      error.message,
    );
    await talk.ask('hi');
    assert.equal(talk.last.content, said.hello);
    assert.match(talk.last.warnings.join(), /^Long results were truncated/);
  });

  it('is too small for a result: the middle is left out, which is said, once', async () => {
    const talk = new Talk(client, { cacheKey: 'result' });
    await talk.ask('[[edit]]');
    await talk.answer({ ok: true, data: { text: long(3000) } }).ask();
    assert.equal(talk.last.content, said.edit);
    assert.match(talk.last.warnings.join(), /^Long results were truncated for the local model: [\d,]+ characters are/);
    const before = talk.last.usage!;
    await talk.answer({ ok: true, data: {} }).ask();
    assert.equal(talk.last.content, said.edited);
    assert.deepEqual(talk.last.warnings, []);
    assert.ok(talk.last.usage!.cachedTokens! >= before.promptTokens, 'it is cut at the same place again');
  });

  it('is too small for all that was said', async () => {
    const talk = new Talk(client, { cacheKey: 'all' });
    for (let turn = 0; turn < 30; turn++)
      talk.messages.push({ role: 'user', content: 'Go on.' }, { role: 'assistant', content: long(40) });
    const error = await rejection(talk.ask('hi'));
    assert.match(error.message, /^This conversation is [\d,]+ tokens long and the local model has space for 4,096/);
    assert.match(error.message, /Start a new run, or give the model a larger context size in the settings\.$/);
  });

  const sizes: [what: string, contextSize: number, words: number, says: RegExp][] = [
    [
      'than the instructions and tools need: no new run would help',
      512,
      1,
      /^The instructions and tools alone are [\d,]+ tokens long, and .* space for 512, 64 of .* answer\. Give the model a larger context size in the settings\.$/,
    ],
    ['by training: no setting would help', 1_048_576, 3000, /, or pick a model with a larger context window\.$/],
  ];
  for (const [what, contextSize, words, says] of sizes)
    it(`is smaller ${what}`, async () => {
      const small = createLocalModelClient({ ...options, contextSize });
      try {
        const error = await rejection(new Talk(small).ask(long(words)));
        assert.equal(error.code, 'LLM_CONTEXT_OVERFLOW');
        assert.match(error.message, says);
      } finally {
        await small.dispose();
      }
    });

  it('of one run is dropped for others, the least recent first: it is said, and the conversation is read again', async () => {
    const [one, two, three] = ['one', 'two', 'three'].map((cacheKey) => new Talk(client, { cacheKey }));
    for (const talk of [one!, two!, one!, three!]) await talk.ask('hi');
    assert.deepEqual(three!.last.warnings, []);
    await one!.ask('hi');
    assert.deepEqual(one!.last.warnings, [], 'it had been used after the second');
    assert.ok(one!.last.usage!.cachedTokens! > 500);
    await two!.ask('hi');
    assert.match(two!.last.warnings.join(), dropped);
    assert.equal(two!.last.content, said.hello);
    await two!.ask('hi');
    assert.deepEqual(two!.last.warnings, []);
  });
});

describe('a conversation made shorter', () => {
  const result = (content: string): Message => ({
    role: 'tool',
    content: '',
    toolResults: [{ toolCallId: 'a', content }],
  });

  it('keeps head and tail of what is long, and says how much is gone', () => {
    const text = `${'a'.repeat(80)}${'b'.repeat(80)}`;
    const messages: Message[] = [
      { role: 'user', content: text },
      { role: 'assistant', content: text },
      result(JSON.stringify({ ok: true, data: { text, path: 'x' } })),
      { role: 'user', content: text },
    ];
    const short = `${'a'.repeat(60)}\n… 60 characters left out …\n${'b'.repeat(40)}`;
    assert.deepEqual(truncateLongMessages(messages, 100), {
      messages: [
        { role: 'user', content: short },
        messages[1],
        result(JSON.stringify({ ok: true, data: { text: short, path: 'x' } })),
        messages[3],
      ],
      texts: 2,
      characters: 120,
    });
  });

  it('cuts a result of many short parts as text', () => {
    const { messages, texts } = truncateLongMessages([result(JSON.stringify(Array(500).fill('word')))], 100);
    const { content } = (messages[0] as Extract<Message, { role: 'tool' }>).toolResults[0]!;
    assert.match(content, /^\["word",.*\n… [\d,]+ characters left out …\n.*"word"\]$/s);
    assert.equal(texts, 1);
  });

  it('is never longer than asked but for the note, breaks no character, and is the same every time', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 400 }),
        fc.integer({ min: 20, max: 200 }),
        (text, most) => {
          const once = truncateLongMessages([result(text)], most);
          assert.deepEqual(truncateLongMessages([result(text)], most), once);
          const { content } = (once.messages[0] as Extract<Message, { role: 'tool' }>).toolResults[0]!;
          assert.ok(content.length <= most * 2 + 80);
          assert.ok(!/\p{Surrogate}/u.test(content));
        },
      ),
    );
  });
});
