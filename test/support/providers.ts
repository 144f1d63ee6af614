import type { ProviderChoice } from '../../src/llm/createClient.ts';
import * as anthropic from './anthropic.ts';
import { type GoogleReply, googleKey, googleReply, startGoogle } from './google.ts';
import * as ollama from './ollama.ts';
import { type ProviderReply, reply, startProvider } from './provider.ts';
import * as responses from './responses.ts';

/** A part of a reply, whatever the protocol. Arguments as a string are sent as they are, malformed or not; an `id`
 * by the editor's own models only. */
export type Part = { thinking: string } | { text: string } | { call: string; args: object | string; id?: string };

/** What a provider does when it is asked; without an end the reply is whole. */
export type Deed =
  | { parts: Part[]; end?: 'cut' | 'hang' }
  | { status: number; message: string; headers?: Record<string, string> }
  | 'no answer';

export interface RunningProvider {
  choice: Omit<ProviderChoice, 'model'>;
  /** Chat requests so far. */
  requests(): number;
  openSockets(): number;
  close(): Promise<void>;
}

/** A provider on this machine that speaks its own protocol and does these deeds, one for each request. */
export interface FakeProvider {
  name: string;
  start(deeds: readonly Deed[]): Promise<RunningProvider>;
}

export const fakeProviders: readonly FakeProvider[] = [
  openai('openai', { provider: 'openai' }),
  openai('openai-compatible', { provider: 'openai-compatible' }),
  responding('openai-responses', { provider: 'openai-responses' }),
  responding('openai (a model that is sent to Responses)', { provider: 'openai' }),
  responding('azure (a model that is sent to Responses)', { provider: 'azure', azure: { apiVersion: '2024-10-21' } }),
  openai('azure', { provider: 'azure', azure: { deployment: 'mine', apiVersion: '2024-10-21' } }),
  openai('azure (v1)', { provider: 'azure' }),
  openai('deepseek', { provider: 'deepseek' }),
  openai('mistral', { provider: 'mistral' }),
  openai('openrouter', { provider: 'openrouter' }),
  {
    name: 'anthropic',
    async start(deeds) {
      const server = await anthropic.startAnthropic(deeds.map(toAnthropic));
      return {
        choice: { provider: 'anthropic', baseUrl: server.url, apiKey: canary },
        requests: () => server.asked.length,
        openSockets: () => server.openSockets,
        close: () => server.close(),
      };
    },
  },
  {
    name: 'google',
    async start(deeds) {
      const server = await startGoogle(deeds.map(toGoogle));
      return {
        choice: { provider: 'google', baseUrl: server.url, apiKey: googleKey },
        requests: () => server.requests.length,
        openSockets: () => server.openSockets,
        close: () => server.close(),
      };
    },
  },
  {
    name: 'ollama',
    async start(deeds) {
      const server = await ollama.startOllama(deeds.map(toOllama));
      return {
        choice: { provider: 'ollama', baseUrl: server.url, apiKey: canary },
        requests: () => server.chats.length,
        openSockets: () => server.openSockets,
        close: () => server.close(),
      };
    },
  },
];

/** The key of every provider but Google's, which has one of its own. */
export const canary = 'sk-CANARYKEY1234567890';
export const canaries = [canary, googleKey];

function openai(name: string, choice: Omit<ProviderChoice, 'model'>): FakeProvider {
  return {
    name,
    async start(deeds) {
      const server = await startProvider(deeds.map((deed) => toOpenAI(deed, name)));
      const baseUrl = choice.provider === 'azure' ? new URL(server.url).origin : server.url;
      return {
        choice: { ...choice, baseUrl, apiKey: canary },
        requests: () => server.requests.length,
        openSockets: () => server.openSockets,
        close: () => server.close(),
      };
    },
  };
}

/** A server whose model is none of chat completions, in the words of OpenAI. */
function responding(name: string, choice: Omit<ProviderChoice, 'model'>): FakeProvider {
  const error = { message: 'This model is only supported in v1/responses and not in v1/chat/completions.' };
  return {
    name,
    async start(deeds) {
      const server = await responses.startResponses(deeds.map(toResponses), () => reply.status(404, { error }));
      const baseUrl = choice.provider === 'azure' ? new URL(server.url).origin : server.url;
      return {
        choice: { ...choice, baseUrl, apiKey: canary },
        requests: () => server.asked.length,
        openSockets: () => server.openSockets,
        close: () => server.close(),
      };
    },
  };
}

function toResponses(deed: Deed): ProviderReply {
  if (deed === 'no answer') return reply.late(Number.POSITIVE_INFINITY);
  if ('status' in deed) return reply.status(deed.status, { error: { message: deed.message } }, deed.headers);
  const outputs = deed.parts.map((part, at) => {
    if ('thinking' in part) return responses.reasoning(part.thinking, 'gAAAAAB');
    return 'text' in part ? responses.text(part.text) : responses.call(part.call, part.args, `call_${at}`);
  });
  if (deed.end === undefined) return responses.answer(outputs);
  const begun = responses.answer(outputs, { status: null });
  return deed.end === 'cut' ? begun.cut() : begun.hang();
}

/** Azure begins with what its filter says of the prompt, and no choices. */
const filterResults = { choices: [], prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }] };

function toOpenAI(deed: Deed, name: string): ProviderReply {
  if (deed === 'no answer') return reply.late(Number.POSITIVE_INFINITY);
  if ('status' in deed) return reply.status(deed.status, { error: { message: deed.message } }, deed.headers);
  let whole = name.startsWith('azure') ? reply.event(filterResults) : reply;
  for (const part of deed.parts) {
    if ('thinking' in part) whole = whole.thinking(part.thinking);
    else if ('text' in part) whole = whole.text(part.text);
    else whole = whole.call(part.call, part.args);
  }
  if (deed.end === undefined) return whole;
  return deed.end === 'cut' ? whole.cut() : whole.hang();
}

function toAnthropic(deed: Deed): anthropic.Answer {
  if (deed === 'no answer') return { lateMs: Number.POSITIVE_INFINITY, steps: [] };
  if ('status' in deed) return anthropic.refusal(deed.status, 'api_error', deed.message, deed.headers);
  const blocks = deed.parts.map((part, at) => {
    if ('thinking' in part) return anthropic.thinking(part.thinking, 'c2lnbmVk');
    return 'text' in part ? anthropic.text(part.text) : anthropic.call(part.call, part.args, `toolu_${at}`);
  });
  return deed.end === undefined ? anthropic.reply(blocks) : anthropic.broken(blocks, deed.end);
}

function toGoogle(deed: Deed): GoogleReply {
  if (deed === 'no answer') return googleReply.late(Number.POSITIVE_INFINITY);
  if ('status' in deed) {
    return googleReply.status(deed.status, { error: { code: deed.status, message: deed.message } }, deed.headers);
  }
  let whole = googleReply;
  for (const part of deed.parts) {
    if ('thinking' in part) whole = whole.thinking(part.thinking);
    else if ('text' in part) whole = whole.text(part.text);
    else whole = whole.call(part.call, part.args);
  }
  if (deed.end === undefined) return whole;
  return deed.end === 'cut' ? whole.cut() : whole.hang();
}

function toOllama(deed: Deed): ollama.OllamaReply {
  if (deed === 'no answer') return { delayMs: Number.POSITIVE_INFINITY, steps: [] };
  if ('status' in deed) {
    const headers = { 'content-type': 'application/json', ...deed.headers };
    return { status: deed.status, headers, steps: [JSON.stringify({ error: deed.message })] };
  }
  const pieces = deed.parts.map((part) => {
    if ('thinking' in part) return ollama.piece({ thinking: part.thinking });
    if ('text' in part) return ollama.piece({ content: part.text });
    return ollama.piece({ tool_calls: [{ function: { name: part.call, arguments: part.args } }] });
  });
  return { steps: [...pieces, deed.end ?? ollama.done()] };
}
