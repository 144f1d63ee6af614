import { callIdsIn } from '../core/callIds.ts';
import type { ChatRequest } from '../core/client.ts';
import { learnOutputLimit, outputLimited } from '../messages/outputLimit.ts';
import { learnFrom, type WireFlags, wantsResponses } from '../models/wireFlags.ts';
import { sendHttpRequest } from '../transport/http.ts';
import { type Asked, type Connection, refusalIn } from './protocol.ts';
import { createOpenAIReader } from './reader.ts';
import { leftOut, notesOf } from './warnings.ts';
import { toWire } from './wire.ts';

/** `elsewhere`: another API may support the model, so a rejection that refers to the API is thrown without learning. */
type AskChat = (request: ChatRequest, signal: AbortSignal | undefined, elsewhere: boolean) => Promise<Asked>;

export function chatCompletions(
  { provider, endpoint, headers, limits, note }: Connection,
  { url, flags: first }: { url(model: string): string; flags: Omit<WireFlags, 'provider'> },
): AskChat {
  const flagsOfModel = new Map<string, WireFlags>();
  const flagsFor = (model: string): WireFlags => flagsOfModel.get(model) ?? { ...first, provider };

  async function post(request: ChatRequest, signal: AbortSignal | undefined, elsewhere: boolean) {
    let outputLimit: number | undefined; // of this request only
    for (;;) {
      const flags = flagsFor(request.model);
      const body = toWire(request, outputLimit === undefined ? flags : { ...flags, outputLimit });
      try {
        return await sendHttpRequest({ endpoint, url: url(request.model), headers, body, limits, signal });
      } catch (error) {
        const refusal = refusalIn(error);
        if (!refusal || (elsewhere && wantsResponses(refusal.words))) throw error;
        const asked = body.max_tokens ?? body.max_completion_tokens;
        const limit = learnOutputLimit(`${refusal.words} ${refusal.parameter ?? ''}`, asked);
        if (limit) {
          if (limit.once) outputLimit = limit.tokens;
          else flagsOfModel.set(request.model, { ...flags, outputLimit: limit.tokens });
          note(outputLimited(request.model, limit.tokens, asked));
          continue;
        }
        const learned = learnFrom(refusal.words, refusal.parameter, flags);
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
    for (const text of notesOf(request, flags)) note(text);
    const reader = createOpenAIReader({
      endpoint,
      provider,
      tools: request.tools ?? [],
      takenIds: callIdsIn(request.messages),
      keepDetails: flags.returnThinking !== undefined,
    });
    return { answer, reader, warnings: leftOut(request, flags) };
  };
}
