import type { ChatRequest } from '../../core/client.ts';
import { imageRejectionPattern, rejectedParameter } from '../../models/wireFlags.ts';
import { matchingResponsesNativeItems, reasoningItemKey } from './providerMetadata.ts';

export interface OpenAIResponsesRestrictions {
  provider: string;
  omit?: readonly string[];
  outputLimit?: number;
  cacheKey?: boolean;
  withoutImages?: boolean;
  schemaInPrompt?: boolean;
  refused?: ReadonlySet<string>;
}

export function learnOpenAIResponsesRestrictions(
  rejection: string,
  parameter: string | undefined,
  request: ChatRequest,
  flags: OpenAIResponsesRestrictions,
): OpenAIResponsesRestrictions | undefined {
  const named = rejectedParameter(rejection, objectedTo(rejection) ?? parameter, optionalParameters, flags.omit);
  if (named !== undefined) return { ...flags, omit: [...(flags.omit ?? []), named] };
  if (refusesReasoning.test(rejection)) {
    const refused = new Set([...(flags.refused ?? []), ...reasoningIn(request, flags)]);
    if (refused.size > (flags.refused?.size ?? 0)) return { ...flags, refused };
  }
  if (imageRejectionPattern.test(rejection) && !flags.withoutImages) return { ...flags, withoutImages: true };
  const format = /text\.format|response_format|json_schema/.test(`${rejection} ${parameter}`);
  return format && !flags.schemaInPrompt ? { ...flags, schemaInPrompt: true } : undefined;
}

function objectedTo(rejection: string): string | undefined {
  if (/encrypted content is not supported/i.test(rejection)) return 'include';
  return /reasoning summar/i.test(rejection) ? 'reasoning.summary' : undefined;
}

/** "The encrypted content gAAA… could not be verified", "Item 'rs_…' of type 'reasoning' was provided without …". */
const refusesReasoning = /encrypted[_ ]content|\breasoning\b|['"]rs_/i;

function reasoningIn({ messages }: ChatRequest, { provider }: OpenAIResponsesRestrictions): string[] {
  return messages.flatMap((message) => {
    const items = message.role === 'assistant' ? matchingResponsesNativeItems(message, provider) : undefined;
    return items?.flatMap((item) => (item.type === 'reasoning' ? [reasoningItemKey(item.item)] : [])) ?? [];
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
