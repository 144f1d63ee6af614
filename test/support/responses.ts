import type { IncomingMessage } from 'node:http';
import { bodyOf, listen } from './listening.ts';
import { type ProviderReply, perform, reply } from './provider.ts';
import { slices } from './slices.ts';

/** An item of a reply, as the Responses API streams it: what it is at its end, and the events of its pieces. */
export interface Output {
  item: { type: string; [field: string]: unknown };
  /** Their `output_index` and `item_id` are added. */
  pieces: object[];
}

const partEvents = (kind: 'output_text' | 'refusal', field: string, words: string, size: number): object[] => [
  { type: 'response.content_part.added', content_index: 0, part: { type: kind, [field]: '', annotations: [] } },
  ...slices(words, size).map((delta) => ({ type: `response.${kind}.delta`, content_index: 0, delta, logprobs: [] })),
  { type: `response.${kind}.done`, content_index: 0, [field]: words, logprobs: [] },
  { type: 'response.content_part.done', content_index: 0, part: { type: kind, [field]: words, annotations: [] } },
];

export const text = (words: string, { phase, size = 4 }: { phase?: string; size?: number } = {}): Output => ({
  item: {
    type: 'message',
    role: 'assistant',
    ...(phase && { phase }),
    content: [{ type: 'output_text', text: words, annotations: [] }],
  },
  pieces: partEvents('output_text', 'text', words, size),
});

export const refusal = (words: string): Output => ({
  item: { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: words }] },
  pieces: partEvents('refusal', 'refusal', words, 4),
});

/** The summaries of what was thought, one part each; what was thought itself is encrypted. */
export const reasoning = (summaries: string | readonly string[], encrypted?: string): Output => {
  const parts = [summaries].flat().map((words) => ({ type: 'summary_text', text: words }));
  return {
    item: { type: 'reasoning', summary: parts, ...(encrypted && { encrypted_content: encrypted }) },
    pieces: parts.flatMap((part, summary_index) => [
      { type: 'response.reasoning_summary_part.added', summary_index, part: { ...part, text: '' } },
      ...slices(part.text, 8).map((delta) => ({
        type: 'response.reasoning_summary_text.delta',
        summary_index,
        delta,
      })),
      { type: 'response.reasoning_summary_text.done', summary_index, text: part.text },
      { type: 'response.reasoning_summary_part.done', summary_index, part },
    ]),
  };
};

/** A string is sent as it is, malformed or not. Names as on the wire. */
export const call = (name: string, args: object | string, callId = `call_${name}`, size = 12): Output => {
  const words = typeof args === 'string' ? args : JSON.stringify(args);
  return {
    item: { type: 'function_call', call_id: callId, name, arguments: words },
    pieces: [
      ...slices(words, size).map((delta) => ({ type: 'response.function_call_arguments.delta', delta })),
      { type: 'response.function_call_arguments.done', arguments: words, name },
    ],
  };
};

export const usage = { input_tokens: 12, output_tokens: 5, total_tokens: 17 };

export interface Ending {
  /** Null: the stream ends after its last item, and nothing says that it is over. */
  status?: 'completed' | 'incomplete' | 'failed' | 'cancelled' | null;
  /** Further fields of the response at its end. */
  more?: object;
}

/** A reply as one object. */
export function whole(outputs: readonly Output[], { status = 'completed', more }: Ending = {}): object {
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    model: 'scripted',
    status,
    error: null,
    incomplete_details: null,
    output: outputs.map(({ item }, at) => ({ id: `item_${at}`, status: 'completed', ...item })),
    usage,
    ...more,
  };
}

const emptied: Record<string, object> = {
  message: { content: [] },
  reasoning: { summary: [], encrypted_content: undefined },
  function_call: { arguments: '' },
};

/** A reply as the objects of its events. */
export function events(outputs: readonly Output[], { status = 'completed', more }: Ending = {}): object[] {
  const begun = { ...whole([]), status: 'in_progress', usage: null };
  const end = { type: `response.${status}`, response: whole(outputs, { status, more }) };
  const all = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...outputs.flatMap(({ item, pieces }, output_index) => {
      const id = `item_${output_index}`;
      const final = { id, status: 'completed', ...item };
      return [
        {
          type: 'response.output_item.added',
          output_index,
          item: { ...final, ...emptied[item.type], status: 'in_progress' },
        },
        ...pieces.map((piece) => ({ ...piece, output_index, item_id: id })),
        { type: 'response.output_item.done', output_index, item: final },
      ];
    }),
    ...(status === null ? [] : [end]),
  ];
  return all.map((event, sequence_number) => ({ ...event, sequence_number }));
}

/** Events as bytes on the wire. */
export const sse = (all: readonly object[]): string =>
  all.map((event) => `event: ${(event as { type?: string }).type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

export const answer = (outputs: readonly Output[], ending?: Ending): ProviderReply =>
  reply.raw(sse(events(outputs, ending)));

export interface Asked {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: whatever was sent; tests look at parts of it
  body: any;
}

export interface ResponsesServer {
  /** The base URL: `http://127.0.0.1:…/v1`. */
  url: string;
  /** What was asked for at `/responses`. */
  asked: Asked[];
  /** Everything else. */
  others: Asked[];
  readonly openSockets: number;
  close(): Promise<void>;
}

/**
 * OpenAI's Responses API on this machine, as far as a client can tell: answers in the order of the requests, or as a
 * function of them. `elsewhere` answers what is asked at another address (`/chat/completions`).
 */
export async function startResponses(
  answers: readonly ProviderReply[] | ((asked: Asked, count: number) => ProviderReply),
  elsewhere: (asked: Asked) => ProviderReply = () => reply.status(404),
): Promise<ResponsesServer> {
  const asked: Asked[] = [];
  const others: Asked[] = [];
  const next = (one: Asked) =>
    typeof answers === 'function'
      ? answers(one, asked.length - 1)
      : (answers[asked.length - 1] ?? reply.status(400, { error: { message: 'The script of this server is over.' } }));
  const server = await listen(async (request, response) => {
    const words = await bodyOf(request);
    const { method = '', url: path = '', headers } = request;
    const one: Asked = { method, path, headers, body: words === '' ? undefined : JSON.parse(words) };
    const here = method === 'POST' && path.split('?')[0]!.endsWith('/responses');
    (here ? asked : others).push(one);
    await perform(here ? next(one) : elsewhere(one), response);
  });
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    asked,
    others,
    get openSockets() {
      return server.openSockets;
    },
    close: () => server.close(),
  };
}
