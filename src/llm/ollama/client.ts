import * as z from 'zod';
import { message, toEnglishText } from '../../protocol/text/l10n.ts';
import { joinLocalizableTexts, type LocalizableText, messageOf, toStoredText } from '../../protocol/text/localized.ts';
import { requestCallIds } from '../core/callIds.ts';
import type { ChatRequest, LLMClient, ModelInfo } from '../core/client.ts';
import { LLMError } from '../core/errors.ts';
import { createUniqueNotifier } from '../messages/warnings.ts';
import { checkApiKeyCharacters, createUrlBuilder, type LLMClientOptions, toEndpoint } from '../transport/endpoint.ts';
import {
  defaultProviderFetchLimits,
  readJsonAnswer,
  sendHttpRequest,
  unreadableAnswerError,
} from '../transport/http.ts';
import type { Endpoint, ProviderErrorDetails } from '../transport/providerErrors.ts';
import { type ChunkBatches, createClientFromChunkBatches, readReply } from '../transport/replyStream.ts';
import { optionalNonEmptyStringSchema, tolerantListSchema } from '../transport/wireFields.ts';
import { readJsonLines } from './lines.ts';
import {
  defaultOllamaModelCapabilities,
  learnOllamaModelCapability,
  type OllamaModel,
  ollamaContextSize,
  ollamaThinkingEfforts,
  toOllamaModel,
} from './model.ts';
import { createOllamaReader } from './reader.ts';
import { promptTruncationWarning } from './truncation.ts';
import { toOllamaWireRequest } from './wire.ts';

const listSchema = z.object({
  models: tolerantListSchema.pipe(
    z.array(z.object({ model: optionalNonEmptyStringSchema, name: optionalNonEmptyStringSchema }).catch({})),
  ),
});

/** Parses `{models: [{model: "llama3.2:3b"}]}`; older servers send only `name`. */
function modelsIn(endpoint: Endpoint, body: unknown): ModelInfo[] {
  const read = listSchema.safeParse(body);
  if (!read.success) throw unreadableAnswerError(endpoint, JSON.stringify(body));
  return read.data.models.flatMap(({ model, name }): ModelInfo[] => {
    const id = model ?? name;
    return id === undefined ? [] : [{ id }];
  });
}

export interface OllamaClientOptions extends Partial<LLMClientOptions> {
  baseUrl?: string;
  apiKey?: string;
  contextSize?: number;
  /** Duration in memory after a reply: seconds, or `5m`; negative: unlimited. */
  keepAlive?: string | number;
  /** `connectMs` is disabled for a chat by default: Ollama sends nothing until the model is loaded and the prompt evaluated. */
  fetchLimits?: LLMClientOptions['fetchLimits'];
}

export interface OllamaClient extends LLMClient {
  listModels(signal?: AbortSignal): Promise<ModelInfo[]>;
  describe(model: string, signal?: AbortSignal): Promise<OllamaModel>;
}

export function createOllamaClient(options: OllamaClientOptions = {}): OllamaClient {
  const { apiKey, contextSize, keepAlive } = options;
  const baseUrl = options.baseUrl?.trim() || 'http://127.0.0.1:11434';
  const at = createUrlBuilder(baseUrl, /\/(v1|api)(\/chat(\/completions)?)?$/);
  const endpoint = toEndpoint({ label: 'Ollama', notFoundHint, ...options, baseUrl });
  const limits = { ...defaultProviderFetchLimits, ...options.fetchLimits };
  const chatLimits = { ...limits, connectMs: options.fetchLimits?.connectMs ?? 0 };
  const headers = { ...options.headers, ...(apiKey && { authorization: `Bearer ${apiKey.trim()}` }) };
  const models = new Map<string, OllamaModel>();
  const note = createUniqueNotifier(options.onNote);
  const reported = new Set<string>(); // a warning about a model is reported once

  async function describe(name: string, signal?: AbortSignal): Promise<OllamaModel> {
    checkApiKeyCharacters(endpoint);
    const known = models.get(name);
    if (known) return known;
    try {
      const url = at('/api/show');
      const answer = await sendHttpRequest({ endpoint, url, headers, body: { model: name }, limits, signal });
      const model = toOllamaModel(await readJsonAnswer(answer));
      models.set(name, model);
      return model;
    } catch (error) {
      // The server answers without details; the chat request returns the better error.
      if (error instanceof LLMError && (error.status !== undefined || error.code === 'LLM_BAD_RESPONSE')) {
        return defaultOllamaModelCapabilities;
      }
      throw error;
    }
  }

  async function ask(request: ChatRequest, asked: OllamaModel, signal: AbortSignal | undefined) {
    for (let model = asked; ; ) {
      const wire = toOllamaWireRequest(request, { model, contextSize, keepAlive });
      try {
        const url = at('/api/chat');
        const answer = await sendHttpRequest({ endpoint, url, headers, body: wire.body, limits: chatLimits, signal });
        return { answer, wire, model };
      } catch (error) {
        if (!(error instanceof LLMError)) throw error;
        const learned = error.status === 400 && learnOllamaModelCapability(serverText(error), model);
        if (!learned) throw withWayOut(error, request.model);
        model = learned; // each round removes a capability, so the loop ends
        models.set(request.model, learned);
      }
    }
  }

  async function* batches(request: ChatRequest, signal?: AbortSignal): ChunkBatches {
    const asked = await describe(request.model, signal);
    yield [{ progress: toStoredText(loading(request.model)), done: false }];
    const { answer, wire, model } = await ask(request, asked, signal);
    for (const text of [...wire.notes, ...wire.warnings]) note(text);
    const warnings = wire.warnings.filter((warning) => !reported.has(toEnglishText(warning)));
    for (const warning of warnings) reported.add(toEnglishText(warning));
    const reader = createOllamaReader({
      endpoint,
      tools: request.tools ?? [],
      takenIds: requestCallIds(request.messages),
      check: (tokens) => promptTruncationWarning(wire.body.messages, tokens, ollamaContextSize(model, contextSize)),
    });
    yield* readReply(answer, reader, { framing: readJsonLines, warnings });
  }

  const client = createClientFromChunkBatches(batches, async (signal) => {
    checkApiKeyCharacters(endpoint);
    const answer = await sendHttpRequest({ endpoint, url: at('/api/tags'), headers, limits, signal });
    return modelsIn(endpoint, await readJsonAnswer(answer));
  });
  const thinkingEfforts = async (model: string, signal?: AbortSignal) =>
    ollamaThinkingEfforts(await describe(model, signal));
  return { ...client, describe, thinkingEfforts };
}

const notFoundHint = message(
  'Is this the address of Ollama, and is the model installed? `ollama list` shows the models.',
);

const loading = (model: string) => message('Ollama loads {0} and reads the prompt', model);

const serverText = (error: LLMError) => (error.details as Partial<ProviderErrorDetails> | undefined)?.words ?? '';

function withWayOut(error: LLMError, model: string): LLMError {
  const { code, status, retryable, retryAfterMs, details, cause } = error;
  const saying = (text: LocalizableText) =>
    new LLMError(code, text, { status, retryable, retryAfterMs, details, cause });
  const sentence = /[.!?]$/.test(error.message) ? messageOf(error) : joinLocalizableTexts([messageOf(error), '.'], '');
  if (status === 404 && /\bmodel\b.*not found/i.test(serverText(error))) {
    return saying(message('Ollama: {0}. Run `ollama pull {1}`, or select another model.', serverText(error), model));
  }
  if (code === 'LLM_CONTEXT_OVERFLOW')
    return saying(joinLocalizableTexts([sentence, message('Set a larger context size, or start a new run.')]));
  if (code === 'LLM_TIMEOUT') {
    const silent = message(
      'Ollama does not respond while it loads a model and reads the prompt. A smaller model or a shorter conversation is faster.',
    );
    return saying(joinLocalizableTexts([sentence, silent]));
  }
  return error;
}
