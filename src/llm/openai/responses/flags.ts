import type { ChatRequest } from '../../core/client.ts';
import { namedParameter, refusesImages } from '../../models/wireFlags.ts';
import { nativeItems, reasoningKey } from './providerMetadata.ts';

/** What a server or a model has taught by refusing. */
export interface ResponsesFlags {
  /** The provider's id: reasoning is given back to the provider it came from and to no other. */
  provider: string;
  /** Parameters it refuses, parts of `reasoning` among them. */
  omit?: readonly string[];
  /** Tokens that the model answers with at most. */
  outputLimit?: number;
  /** Takes the run's id to route its prompt cache by. */
  cacheKey?: boolean;
  /** The model refused images: they are left out, and the person is told. */
  withoutImages?: boolean;
  /** It cannot be held to a schema: it is told in words. */
  schemaInWords?: boolean;
  /** Reasoning it does not take back: of another key, or of a server that has changed its own. */
  refused?: ReadonlySet<string>;
}

/**
 * What a refusal teaches, or undefined when it is about something else. Every lesson takes something away for good, so
 * that learning ends.
 */
export function learnFrom(
  words: string,
  parameter: string | undefined,
  request: ChatRequest,
  flags: ResponsesFlags,
): ResponsesFlags | undefined {
  const named = namedParameter(words, objectedTo(words) ?? parameter, optionalParameters, flags.omit);
  if (named !== undefined) return { ...flags, omit: [...(flags.omit ?? []), named] };
  if (refusesReasoning.test(words)) {
    const refused = new Set([...(flags.refused ?? []), ...reasoningIn(request, flags)]);
    if (refused.size > (flags.refused?.size ?? 0)) return { ...flags, refused };
  }
  if (refusesImages.test(words) && !flags.withoutImages) return { ...flags, withoutImages: true };
  const format = /text\.format|response_format|json_schema/.test(`${words} ${parameter}`);
  return format && !flags.schemaInWords ? { ...flags, schemaInWords: true } : undefined;
}

/** Sentences that are about a parameter and may leave it unnamed. */
function objectedTo(words: string): string | undefined {
  if (/encrypted content is not supported/i.test(words)) return 'include';
  return /reasoning summar/i.test(words) ? 'reasoning.summary' : undefined;
}

/** "The encrypted content gAAA… could not be verified", "Item 'rs_…' of type 'reasoning' was provided without …". */
const refusesReasoning = /encrypted[_ ]content|\breasoning\b|['"]rs_/i;

function reasoningIn({ messages }: ChatRequest, { provider }: ResponsesFlags): string[] {
  return messages.flatMap((message) => {
    const items = message.role === 'assistant' ? nativeItems(message, provider) : undefined;
    return items?.flatMap((item) => (item.type === 'reasoning' ? [reasoningKey(item.item)] : [])) ?? [];
  });
}

const optionalParameters = [
  'include',
  'reasoning.effort',
  'reasoning.summary',
  'reasoning',
  'prompt_cache_key',
  'temperature',
  'top_p',
  'max_output_tokens',
  'tool_choice',
  'store',
];
