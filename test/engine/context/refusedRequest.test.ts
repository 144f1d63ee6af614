import assert from 'node:assert/strict';
import { createLLMClient } from '../../../src/llm/createClient.ts';
import type { Message } from '../../../src/protocol/content/messages.ts';
import { type Provider, type ProviderReply, reply, startProvider, type WireRequest } from '../../support/provider.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

const files = { a: 'some words of a file\n'.repeat(1000), b: 'other words of a file\n'.repeat(1000), d: 'short' };
const read = (path: string) => reply.text(`I read ${path}.`).call('fs_read', { path });

/** A server that takes requests of up to so many characters, and refuses longer ones without a word that is known. */
const upTo =
  (characters: number, refusal: ProviderReply, replies: ProviderReply[]) =>
  (request: WireRequest): ProviderReply => {
    if (JSON.stringify(request.messages).length > characters) return refusal;
    return request.tools ? (replies.shift() ?? reply.text('Done.')) : reply.text('In short.');
  };

describe('a request that is refused without a known cause', () => {
  let provider: Provider;
  let talk: Conversation;
  const begin = async (script: Provider['script'], contextWindow?: number) => {
    provider = await startProvider(script);
    talk = new Conversation(await temporaryWorkspace(files), []);
    talk.contextWindow = contextWindow;
    talk.model = createLLMClient({ provider: 'openai-compatible', baseUrl: provider.url, model: 'one' });
  };
  const end = async () => {
    await talk.end();
    await provider.close();
  };
  afterEach(end);
  const compactions = () => talk.events.filter(({ type }) => type === 'compaction').length;
  /** How many answers say that a shorter request was accepted. */
  const warnings = (messages: readonly Message[]) =>
    messages.filter((one) => one.role === 'assistant' && one.warnings?.some((text) => /a shorter one/.test(text)))
      .length;
  const reads = () => [read('a'), read('b'), read('d')];

  const unknown: [what: string, refusal: ProviderReply][] = [
    ['in words of another language', reply.status(400, { error: { code: '77', message: 'Запрос отклонён' } })],
    ['without a body', reply.status(400)],
    ['by a proxy', reply.status(413, '<html><body>413 Request Entity Too Large</body></html>')],
    ['as what cannot be worked on', reply.status(422, { message: 'Unprocessable Entity' })],
    ['within the answer', reply.event({ error: { code: 400, message: 'Ask for less.' } })],
    ['with a fault that names a size', reply.status(400, { message: 'Invalid request: the limit is 40 kB' })],
    ['with an error of the server, twice', reply.status(500, { error: { message: 'Internal Server Error' } })],
  ];
  for (const [what, refusal] of unknown)
    it(`makes room and is asked once more: ${what}`, async () => {
      await begin(upTo(40_000, refusal, reads()));
      const { assistantText, error } = await talk.start('look');
      assert.deepEqual([assistantText, error, compactions() > 0], ['Done.', undefined, true]);
      const run = await talk.kept();
      assert.equal(warnings(run.messages), 1);
      const results = run.messages.flatMap((message) => (message.role === 'tool' ? message.toolResults : []));
      assert.ok(
        results.some(({ content }) => content.length > files.a.length),
        'the run keeps everything',
      );
    });

  it('is tried once, until the model answers', async () => {
    await begin(upTo(40_000, reply.status(400), [read('a')]));
    await talk.start('look');
    const replies = [read('b')];
    provider.script = ({ tools }) => (tools ? (replies.shift() ?? reply.status(400)) : reply.text('In short.'));
    for (const [round, text] of ['go on', 'go on', 'please'].entries()) {
      provider.requests.length = 0;
      const { error } = await talk.continue(text);
      assert.equal(error?.code, 'LLM_HTTP_ERROR');
      const asked = provider.requests.filter(({ body }) => body.tools).length;
      assert.equal(asked, round === 0 ? 3 : 1, `round ${round}`);
      assert.equal(/A shorter request was rejected, too\./.test(error!.message), round === 0);
      talk.build();
    }
    provider.script = upTo(40_000, reply.status(400), [read('a'), read('b')]);
    const before = compactions();
    assert.equal((await talk.continue('once more')).assistantText, 'Done.');
    assert.ok(compactions() > before, 'after an answer it is tried again');
  });

  const never: [what: string, refusal: ProviderReply][] = [
    [
      'a text that is too long for its field',
      reply.status(400, {
        error: {
          message:
            "Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 1024.",
          code: 'string_above_max_length',
          param: 'tools[0].function.description',
        },
      }),
    ],
    ['a parameter', reply.status(400, { error: { message: 'This is wrong.', param: 'tools[3]' } })],
    ['a field of a form', reply.status(422, { detail: [{ loc: ['body', 'tools', 0], msg: 'Field required' }] })],
    ['a schema', reply.status(400, { error: { message: 'Invalid schema for function: maxLength is not permitted' } })],
    ['a key', reply.status(400, { error: { message: 'Incorrect API key provided.' } })],
    ['a model', reply.status(400, { error: { message: 'No such model', code: 'model_not_found' } })],
    ['a filter', reply.status(400, { error: { message: 'No.', code: 'content_filter' } })],
    ['an image', reply.status(400, { error: { message: 'messages.0.image: image exceeds 5 MB maximum' } })],
    ['an account', reply.status(400, { code: 'Arrearage', message: 'Access denied, check your account.' })],
    ['calls', reply.status(400, { message: '`tool_use` ids were found without `tool_result` blocks' })],
    ['too much work', reply.status(400, { message: 'The model is overloaded, please try again later.' })],
    ['a word', reply.status(400, { message: 'Could not read this.' })],
    ['a history', reply.status(400, { error: { message: 'Conversation roles must alternate user/assistant' } })],
  ];
  for (const [what, refusal] of never)
    it(`is refused for good when the provider names another cause: ${what}`, async () => {
      await begin(upTo(40_000, refusal, reads()));
      const { success } = await talk.start('look');
      assert.deepEqual([success, compactions()], [false, 0]);
    });

  it('is not a small first request', async () => {
    await begin([reply.status(400), reply.text('Done.')]);
    assert.equal((await talk.start('look')).error?.code, 'LLM_HTTP_ERROR');
    assert.equal(provider.requests.length, 1);
  });

  it('is not one that is small beside the window', async () => {
    await begin(upTo(40_000, reply.status(400), reads()), 1_000_000);
    assert.equal((await talk.start('look')).error?.code, 'LLM_HTTP_ERROR');
    assert.equal(compactions(), 0);
  });

  it('is one that nearly fills the window', async () => {
    await begin(upTo(1_000_000, reply.status(400), reads()));
    await talk.start('look');
    const sent = talk.events.flatMap((event) => (event.type === 'request' ? [event.sent?.tokens ?? 0] : []));
    await end();
    await begin(upTo(40_000, reply.status(400), reads()), Math.max(...sent) / 0.8);
    assert.equal((await talk.start('look')).assistantText, 'Done.');
    assert.equal(warnings((await talk.kept()).messages), 1);
  });

  it('is not shorter than what the model has answered in another run', async () => {
    await begin(upTo(1_000_000, reply.status(400), reads()));
    await talk.start('look');
    provider.script = upTo(20_000, reply.status(400), [read('a')]);
    const { error } = await talk.engine.start({ runId: `${talk.runId.slice(0, -4)}0000`, userInput: 'look here' });
    assert.equal(error?.code, 'LLM_HTTP_ERROR');
    assert.equal(compactions(), 0);
  });
});
