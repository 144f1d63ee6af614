import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { Ollama } from 'ollama';
import OpenAI, { AzureOpenAI } from 'openai';
import { type Deed, fakeProviders, type RunningProvider } from '../support/providers.ts';

/** What an SDK understood of a reply: calls as `name arguments`. */
interface Understood {
  text: string;
  thinking: string;
  calls: string[];
  tokens: [prompt: number, completion: number];
}

const deed: Deed = {
  parts: [
    { thinking: 'Let me see.' },
    { text: 'Reading 🙂.' },
    { call: 'fs_read', args: { path: 'a/日本.ts' } },
    { call: 'fs_read', args: { path: 'b' } },
  ],
};
const expected: Understood = {
  text: 'Reading 🙂.',
  thinking: 'Let me see.',
  calls: ['fs_read {"path":"a/日本.ts"}', 'fs_read {"path":"b"}'],
  tokens: [12, 5],
};
const model = 'scripted';

type Read = (choice: RunningProvider['choice']) => Promise<Understood>;

async function readOpenAI(client: OpenAI): Promise<Understood> {
  let thinking = '';
  const stream = client.chat.completions
    .stream({ model, messages: [{ role: 'user', content: 'hi' }], stream_options: { include_usage: true } })
    .on('chunk', ({ choices }) => {
      const delta = choices[0]?.delta as { reasoning_content?: string } | undefined; // not OpenAI's, and not in its types
      thinking += delta?.reasoning_content ?? '';
    });
  const { choices, usage } = await stream.finalChatCompletion();
  const { content, tool_calls: calls = [] } = choices[0]!.message;
  return {
    text: content ?? '',
    thinking,
    calls: calls.map((call) => ('function' in call ? `${call.function.name} ${call.function.arguments}` : '')),
    tokens: [usage!.prompt_tokens, usage!.completion_tokens],
  };
}

const readers: [fake: string, sdk: string, read: Read][] = [
  ['openai', 'openai', ({ baseUrl, apiKey }) => readOpenAI(new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0 }))],
  [
    'azure',
    'openai for Azure',
    ({ baseUrl, apiKey, azure }) =>
      readOpenAI(new AzureOpenAI({ endpoint: baseUrl!, apiKey, ...azure, maxRetries: 0 })),
  ],
  [
    'azure (v1)',
    'openai at the v1 route',
    ({ baseUrl, apiKey }) => readOpenAI(new OpenAI({ baseURL: `${baseUrl}/openai/v1`, apiKey, maxRetries: 0 })),
  ],
  [
    'openai-responses',
    'openai, its Responses API',
    async ({ baseUrl, apiKey }) => {
      const client = new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0 });
      const stream = client.responses.stream({ model, input: 'hi' });
      const { output, output_text: text, usage } = await stream.finalResponse();
      return {
        text,
        thinking: output
          .flatMap((item) => (item.type === 'reasoning' ? item.summary : []))
          .map((one) => one.text)
          .join(''),
        calls: output.flatMap((item) => (item.type === 'function_call' ? [`${item.name} ${item.arguments}`] : [])),
        tokens: [usage!.input_tokens, usage!.output_tokens],
      };
    },
  ],
  [
    'anthropic',
    '@anthropic-ai/sdk',
    async ({ baseUrl, apiKey }) => {
      const client = new Anthropic({ baseURL: baseUrl, apiKey, maxRetries: 0 });
      const stream = client.messages.stream({ model, max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] });
      const { content, usage } = await stream.finalMessage();
      return {
        text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
        thinking: content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
        calls: content.flatMap((block) =>
          block.type === 'tool_use' ? [`${block.name} ${JSON.stringify(block.input)}`] : [],
        ),
        tokens: [usage.input_tokens, usage.output_tokens],
      };
    },
  ],
  [
    'google',
    '@google/genai',
    async ({ baseUrl, apiKey }) => {
      const httpOptions = { baseUrl: new URL(baseUrl!).origin, apiVersion: 'v1beta' };
      const client = new GoogleGenAI({ apiKey, httpOptions });
      const stream = await client.models.generateContentStream({ model, contents: 'hi' });
      const understood: Understood = { text: '', thinking: '', calls: [], tokens: [0, 0] };
      for await (const { candidates, functionCalls = [], usageMetadata } of stream) {
        for (const part of candidates?.[0]?.content?.parts ?? []) {
          understood[part.thought ? 'thinking' : 'text'] += part.text ?? '';
        }
        understood.calls.push(...functionCalls.map(({ name, args }) => `${name} ${JSON.stringify(args)}`));
        const { promptTokenCount = 0, candidatesTokenCount = 0 } = usageMetadata ?? {};
        if (usageMetadata) understood.tokens = [promptTokenCount, candidatesTokenCount];
      }
      return understood;
    },
  ],
  [
    'ollama',
    'ollama',
    async ({ baseUrl }) => {
      const client = new Ollama({ host: baseUrl! });
      const stream = await client.chat({ model, messages: [{ role: 'user', content: 'hi' }], stream: true });
      const understood: Understood = { text: '', thinking: '', calls: [], tokens: [0, 0] };
      for await (const { message, prompt_eval_count: prompt, eval_count: completion } of stream) {
        understood.text += message.content;
        understood.thinking += message.thinking ?? '';
        for (const { function: wanted } of message.tool_calls ?? []) {
          understood.calls.push(`${wanted.name} ${JSON.stringify(wanted.arguments)}`);
        }
        if (prompt !== undefined) understood.tokens = [prompt, completion];
      }
      return understood;
    },
  ],
];

describe("the providers' own libraries read what the fake providers write", () => {
  for (const [name, sdk, read] of readers) {
    it(sdk, async () => {
      const fake = fakeProviders.find((one) => one.name === name)!;
      const provider = await fake.start([deed]);
      try {
        assert.deepEqual(await read(provider.choice), expected);
        assert.equal(provider.requests(), 1);
      } finally {
        await provider.close();
      }
    });
  }

  const refused: [name: string, read: Read][] = readers.map(([name, , read]) => [name, read]);
  for (const [name, read] of refused.filter(([name]) => name !== 'ollama')) {
    it(`and know a 401 of theirs: ${name}`, async () => {
      const provider = await fakeProviders.find((one) => one.name === name)!.start([{ status: 401, message: 'No.' }]);
      try {
        await assert.rejects(read(provider.choice), (error) => (error as { status?: number }).status === 401);
      } finally {
        await provider.close();
      }
    });
  }
});
