import assert from 'node:assert/strict';
import { createAdapter } from '../../src/llm/adapter/adapter.ts';
import { createLLMClient, type ProviderChoice } from '../../src/llm/createClient.ts';
import { greeting } from './serve.ts';

/** Of no provider's form, with signs that mean something in patterns and addresses. */
const key = 'CANARY+KEY$&/(1234567890)=';
const spellings = [key, encodeURIComponent(key), Buffer.from(`:${key}`).toString('base64')];

type Answer = () => Response;

const events = (...data: (object | string)[]): string =>
  data.map((one) => `data: ${typeof one === 'string' ? one : JSON.stringify(one)}\n\n`).join('');

/** A body in two pieces, cut within the key; `breaks`: then the connection fails with these words. */
function inPieces(text: string, type: string, breaks?: string): Response {
  const middle = text.indexOf(key) + 9;
  const pieces = [text.slice(0, middle), text.slice(middle)].map((piece) => new TextEncoder().encode(piece));
  const body = new ReadableStream({
    pull(controller) {
      const piece = pieces.shift();
      if (piece) controller.enqueue(piece);
      else if (breaks) controller.error(new Error(breaks));
      else controller.close();
    },
  });
  return new Response(body, { headers: { 'content-type': type } });
}

const sse = 'text/event-stream';
const everywhere: [where: string, answer: Answer][] = [
  ['a refusal', () => Response.json({ error: { message: `No: ${key}`, param: key } }, { status: 401 })],
  ['a refusal, as one word', () => new Response(key, { status: 400 })],
  ['a failure in an address', () => new Response(`GET /?key=${spellings[1]}`, { status: 500 })],
  ['a failure in base64', () => Response.json({ detail: `Authorization: Basic ${spellings[2]}` }, { status: 500 })],
  ['a redirect', () => new Response(null, { status: 307, headers: { location: `https://x.example/?k=${key}` } })],
  ['a web page', () => new Response(`<p>${key}</p>`, { headers: { 'content-type': 'text/html' } })],
  ['a text', () => new Response(`You are ${key}.`)],
  ['an answer of another kind', () => Response.json({ error: `bad ${key}` })],
  ['an event that cannot be read', () => inPieces(events(`{"you": "${key}`), sse)],
  ['an error within a stream', () => inPieces(events({ error: { message: `bad ${key}` } }), sse)],
  [
    'a connection that fails',
    () => {
      throw new TypeError('fetch failed', { cause: new Error(`no way for ${key}`) });
    },
  ],
  ['a connection that breaks', () => inPieces(`: ${key}\n\n`, sse, `lost ${key}`)],
];

describe('the key is told to nobody, whatever is said about it in', () => {
  for (const provider of ['openai', 'openai-responses', 'azure', 'mistral', 'anthropic', 'google', 'ollama'] as const) {
    for (const [where, answer] of everywhere) {
      it(`${where} (${provider})`, async () => {
        const told = await everythingTold({ provider, baseUrl: 'https://models.example' }, answer);
        assert.match(told, /\[key\]/);
        for (const spelling of spellings) assert.ok(!told.includes(spelling), told);
      });
    }
  }

  const ends: [provider: ProviderChoice['provider'], body: string][] = [
    ['google', events({ candidates: [{ finishReason: 'SAFETY', finishMessage: `Not with ${key}.` }] })],
    [
      'openai-responses',
      events({
        type: 'response.incomplete',
        response: { status: 'incomplete', incomplete_details: { reason: `Not with ${key}.` } },
      }),
    ],
    [
      'anthropic',
      events(
        { type: 'message_start', message: {} },
        { type: 'message_delta', delta: { stop_reason: 'refusal', stop_details: { explanation: `Not with ${key}.` } } },
        { type: 'message_stop' },
      ),
    ],
  ];
  for (const [provider, body] of ends) {
    it(`the reason of a filter (${provider})`, async () => {
      const told = await everythingTold({ provider }, () => inPieces(body, sse));
      assert.match(told, /Not with \[key\]\./);
      assert.ok(!told.includes(key), told);
    });
  }
});

/** All that comes out of a call and of a list: chunks, waits, notes, results, errors. */
async function everythingTold(choice: Omit<ProviderChoice, 'model'>, answer: Answer): Promise<string> {
  const told: unknown[] = [];
  const tell = (one: unknown) => void told.push(one);
  const fetchBefore = globalThis.fetch;
  globalThis.fetch = async () => answer();
  try {
    const client = createLLMClient({ ...choice, model: 'model', apiKey: key, onNote: tell });
    const limits = { retries: 1, baseDelayMs: 1 };
    const signal = new AbortController().signal;
    tell(await createAdapter(client, limits).complete(greeting, { signal, onChunk: tell, onRetry: tell }));
    tell(await client.listModels?.().catch(String));
  } finally {
    globalThis.fetch = fetchBefore;
  }
  return told.map((one) => JSON.stringify(one)).join('\n');
}
