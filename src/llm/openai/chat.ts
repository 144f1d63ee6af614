import { requestCallIds } from '../core/callIds.ts';
import type { ChatRequest } from '../core/client.ts';
import { learnOutputTokenLimit, outputLimitWarning } from '../messages/outputLimit.ts';
import {
  learnOpenAICompatibilityFlags,
  type OpenAICompatibilityFlags,
  suggestsResponsesApi,
} from '../models/wireFlags.ts';
import { sendHttpRequest } from '../transport/http.ts';
import { type OpenAIConnection, type ProviderResponse, requestRejection } from './protocol.ts';
import { createOpenAIReader } from './reader.ts';
import { omittedImageWarnings, openAIRequestWarnings } from './warnings.ts';
import { toOpenAIWireRequest } from './wire.ts';

/** `elsewhere`: another API may support the model, so a rejection that refers to the API is thrown without learning. */
type AskChat = (request: ChatRequest, signal: AbortSignal | undefined, elsewhere: boolean) => Promise<ProviderResponse>;

export function createChatCompletionsSender(
  { provider, endpoint, headers, limits, note }: OpenAIConnection,
  { url, flags: first }: { url(model: string): string; flags: Omit<OpenAICompatibilityFlags, 'provider'> },
): AskChat {
  const flagsOfModel = new Map<string, OpenAICompatibilityFlags>();
  const initial: OpenAICompatibilityFlags = { ...first, provider };
  const flagsFor = (model: string): OpenAICompatibilityFlags => flagsOfModel.get(model) ?? initial;

  async function post(request: ChatRequest, signal: AbortSignal | undefined, elsewhere: boolean) {
    let outputLimit: number | undefined; // of this request only
    for (;;) {
      const flags = flagsFor(request.model);
      const body = toOpenAIWireRequest(request, outputLimit === undefined ? flags : { ...flags, outputLimit });
      try {
        return await sendHttpRequest({ endpoint, url: url(request.model), headers, body, limits, signal });
      } catch (error) {
        const refusal = requestRejection(error);
        if (!refusal || (elsewhere && suggestsResponsesApi(refusal.words))) throw error;
        const asked = body.max_tokens ?? body.max_completion_tokens;
        const limit = learnOutputTokenLimit(`${refusal.words} ${refusal.parameter ?? ''}`, asked);
        if (limit) {
          if (limit.once) outputLimit = limit.tokens;
          else flagsOfModel.set(request.model, { ...flags, outputLimit: limit.tokens });
          note(outputLimitWarning(request.model, limit.tokens, asked));
          continue;
        }
        const learned = learnOpenAICompatibilityFlags(refusal.words, refusal.parameter, flags);
        if (!learned) throw error;
        flagsOfModel.set(request.model, learned); // at most one round per possible adjustment
        const omitted = learned.omit?.filter((name) => !flags.omit?.includes(name)) ?? [];
        for (const name of omitted) note(`${request.model} does not take ${name}; it is left out.`);
      }
    }
  }

  return async (request, signal, elsewhere) => {
    const answer = await post(request, signal, elsewhere);
    const flags = flagsFor(request.model);
    for (const text of openAIRequestWarnings(request, flags)) note(text);
    const reader = createOpenAIReader({
      endpoint,
      provider,
      tools: request.tools ?? [],
      takenIds: requestCallIds(request.messages),
      keepDetails: flags.returnThinking !== undefined,
    });
    return { answer, reader, warnings: omittedImageWarnings(request, flags) };
  };
}
