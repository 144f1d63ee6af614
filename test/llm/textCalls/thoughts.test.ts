import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type ChatStreamChunk, ReplyAccumulator } from '../../../src/llm/core/client.ts';
import { LLMError } from '../../../src/llm/core/errors.ts';
import { createLLMClient } from '../../../src/llm/createClient.ts';
import { readTextToolCalls } from '../../../src/llm/textCalls/textCalls.ts';
import { reply, startProvider } from '../../support/provider.ts';
import { greeting } from '../serve.ts';

async function* streamOf(chunks: readonly ChatStreamChunk[]) {
  yield* chunks;
}

const said = (content: string): ChatStreamChunk => ({ content, done: false });
const end: ChatStreamChunk = { done: true, finishReason: 'stop' };

async function heard(chunks: readonly ChatStreamChunk[]): Promise<ReplyAccumulator> {
  const all = new ReplyAccumulator();
  for await (const chunk of readTextToolCalls(streamOf(chunks), [])) all.add(chunk);
  return all;
}

const cases: [says: string, text: string, thinking: string, content: string][] = [
  ['thinking before the answer', '<think>\nLet me see.\n</think>\n\nFour.', 'Let me see.', 'Four.'],
  ['blanks before it', '\n <think>Hm.</think>Four.', 'Hm.', 'Four.'],
  ['no thought at all', '<think>\n\n</think>\n\nFour.', '', 'Four.'],
  [
    'marks inside it',
    '<think>if a < b && </thing> b <think></think>Four </think>.',
    'if a < b && </thing> b <think>',
    'Four </think>.',
  ],
  ['blanks inside it', `<think>a${' '.repeat(200)}b \n c</think>d`, `a${' '.repeat(200)}b \n c`, 'd'],
  ['thinking that does not end', '<think>And on and', 'And on and', ''],
  ['thinking that ends in half a mark', '<think>And on </thi', 'And on </thi', ''],
  ['thinking and nothing else', '<think>Hm.</think>\n', 'Hm.', ''],
  ['a quotation of the mark', 'Write <think>so</think>.', '', 'Write <think>so</think>.'],
  ['several blocks', '<think>One.</think>\n<think>Two.</think>\nFour.', 'One.Two.', 'Four.'],
  ['a block behind text', '<think>One.</think>First.\n<think>Two.</think>\nThen.', 'One.Two.', 'First.\nThen.'],
  ['no opening mark', 'The sum. It is 4.\n</think>\n\nFour.', 'The sum. It is 4.', 'Four.'],
  ['no opening mark, and code before it', 'So `</think>` ends it.\n</think>Four.', 'So `</think>` ends it.', 'Four.'],
  ['a closing mark in a fence', '```\n</think>\n```\nis it.', '', '```\n</think>\n```\nis it.'],
  [
    'a closing mark behind a fence',
    'So:\n```js\nx\n```\nIt is 4.\n</think>Four.',
    'So:\n```js\nx\n```\nIt is 4.',
    'Four.',
  ],
  ['an end mark behind a fence', '```js\nx\n```<|im_end|>', '', '```js\nx\n```'],
  [
    'an end mark behind a fence in a list',
    '- So:\n     ```\n     x\n     ```\nDone.</s>',
    '',
    '- So:\n     ```\n     x\n     ```\nDone.',
  ],
  [
    'a fence that other marks do not close',
    '```\n~~~\n``\n</think>\n````\nis it.',
    '',
    '```\n~~~\n``\n</think>\n````\nis it.',
  ],
  ['code that other backquotes do not close', 'So ``a ` </think> ` `` is code.', '', 'So ``a ` </think> ` `` is code.'],
  ['code that begins a line is no fence', '```x``` it is.\n</think>Four.', '```x``` it is.', 'Four.'],
  ['a closing mark in a sentence', 'The mark </think> ends it.', '', 'The mark </think> ends it.'],
  ['a closing mark on the line of the answer', 'The sum.</think>Four.', 'The sum.', 'Four.'],
  ['end marks without end', '<|im_end|>'.repeat(400), '', '<|im_end|>'.repeat(297)],
  ['an end mark', 'Four.<|im_end|>\n', '', 'Four.'],
  ['several end marks', 'Four.</s><|endoftext|>', '', 'Four.'],
  ['an end mark in the middle', 'The token <|im_end|> ends a turn.', '', 'The token <|im_end|> ends a turn.'],
  ['Claude-like', '<thinking>so</thinking>Four.', 'so', 'Four.'],
  ['Seed-OSS', '<seed:think>so</seed:think>Four.', 'so', 'Four.'],
  ['MiniMax M3', 'so</mm:think>Four.', 'so', 'Four.'],
  ['Hunyuan 3', '<think:opensource>so</think:opensource>Four.', 'so', 'Four.'],
  ['Magistral', '[THINK]so[/THINK]Four.', 'so', 'Four.'],
  ['Cohere', '<|START_THINKING|>so<|END_THINKING|><|START_RESPONSE|>Four.<|END_RESPONSE|>', 'so', 'Four.'],
  ['Gemma 4', '<|channel>thought\nso<channel|>Four.<turn|>', 'so', 'Four.'],
  ['Apertus', '<|inner_prefix|>so<|inner_suffix|>Four.', 'so', 'Four.'],
  [
    'gpt-oss',
    '<|channel|>analysis<|message|>so<|end|><|start|>assistant<|channel|>final<|message|>Four.<|return|>',
    'so',
    'Four.',
  ],
  [
    'Kimi K3',
    '<|open|>think<|sep|>so<|close|>think<|sep|><|open|>response<|sep|>Four.<|close|>response<|sep|>',
    'so',
    'Four.',
  ],
  ['half a mark', '<thin', '', '<thin'],
  ['an answer with blanks around it', '\n\n Four. \n', '', '\n\n Four. \n'],
  ['blanks', ' \n', '', ' \n'],
  ['as many blanks as may stand before it', `${' '.repeat(64)}<think>Hm.</think>Four.`, 'Hm.', 'Four.'],
  ['more blanks than that', `${'\n'.repeat(65)}<think>`, '', `${'\n'.repeat(65)}<think>`],
];

describe('thinking that a model wrote as text', () => {
  for (const [says, text, thinking, content] of cases) {
    it(`is told apart: ${says}`, async () => {
      const whole = await heard([said(text), end]);
      const atOnce = await heard([{ ...end, content: text }]);
      const characters = await heard([...[...text].map(said), end]);
      const unended = await heard([said(text)]);
      for (const one of [whole, atOnce, characters, unended])
        assert.deepEqual([one.thinking, one.content], [thinking, content]);
    });
  }

  it('is the same however the text is cut, and no letter is lost', async () => {
    const parts = fc.constantFrom('<think>', '</think>', '<', '</', 'think>', ' ', '\n', 'a', 'bc', '🙂');
    await fc.assert(
      fc.asyncProperty(fc.array(parts, { maxLength: 12 }), fc.array(fc.nat(40)), async (words, places) => {
        const text = words.join('');
        const ends = [...new Set(places.map((place) => place % (text.length + 1)))].sort((one, two) => one - two);
        const pieces = [...ends, text.length].map((place, at) => said(text.slice(ends[at - 1] ?? 0, place)));
        const whole = await heard([said(text), end]);
        const cut = await heard([...pieces, end]);
        assert.deepEqual([cut.thinking, cut.content], [whole.thinking, whole.content]);
        const letters = (all: string) => [...all.replace(/[^abc🙂]/gu, '')].sort().join('');
        assert.equal(letters(whole.thinking + whole.content), letters(text));
      }),
      { numRuns: 2000 },
    );
  });

  it('stays text where thinking comes as such', async () => {
    const { thinking, content } = await heard([{ thinking: 'Hm.', done: false }, said('<think>a</think>b'), end]);
    assert.deepEqual([thinking, content], ['Hm.', '<think>a</think>b']);
  });

  it('holds no calls', async () => {
    const tools = greeting.tools!;
    const call = '<tool_call>\n{"name": "fs_read", "arguments": {"path": "a"}}\n</tool_call>';
    const all = new ReplyAccumulator();
    const chunks = streamOf([said(`<think>\n${call}\n</think>\n${call.replace('"a"', '"b"')}`), end]);
    for await (const chunk of readTextToolCalls(chunks, tools)) all.add(chunk);
    assert.deepEqual(
      all.toolCalls.map(({ arguments: given }) => given),
      [{ path: 'b' }],
    );
    assert.equal(all.thinking, call);
  });

  it('is kept when the reply breaks off', async () => {
    async function* broken(): AsyncGenerator<ChatStreamChunk> {
      yield said('<think>Half a though </');
      throw new LLMError('LLM_INCOMPLETE', 'gone');
    }
    const all = new ReplyAccumulator();
    await assert.rejects(
      async () => {
        for await (const chunk of readTextToolCalls(broken(), [])) all.add(chunk);
      },
      { code: 'LLM_INCOMPLETE' },
    );
    assert.equal(all.thinking, 'Half a though </');
  });

  it('comes as thinking from a server, and does not go back to it', async () => {
    const provider = await startProvider(() => reply.text('<think>\nHm.\n</think>\n\nFour.'));
    try {
      const client = createLLMClient({ provider: 'openai-compatible', baseUrl: provider.url, model: 'm' });
      const { content, thinking } = await client.chat({ ...greeting, tools: [] });
      assert.deepEqual([content, thinking], ['Four.', 'Hm.']);
      const message = { role: 'assistant' as const, content: content!, thinking: thinking! };
      await client.chat({ ...greeting, messages: [...greeting.messages, message, { role: 'user', content: 'Why?' }] });
      assert.ok(!JSON.stringify(provider.requests[1]!.body).includes('Hm.'));
    } finally {
      await provider.close();
    }
  });
});
