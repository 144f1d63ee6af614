import type { ChatRequest } from '../core/client.ts';
import { isThinkingBlock, matchingAnthropicNativeBlocks, thinkingSignature } from './providerMetadata.ts';
import { type AnthropicRequestRestrictions, anthropicOptionalParameters, toAnthropicWireRequest } from './wire.ts';

/** Adjustment learned from a rejected request. `once`: valid for this request only. */
export interface ParameterFallback {
  flags: AnthropicRequestRestrictions;
  once?: boolean;
}

/**
 * Returns the change that avoids the rejection, or undefined if there is none. Each change removes something that later changes cannot
 * remove again, so the sequence ends.
 */
export function learnParameterFallback(
  rejection: string,
  request: ChatRequest,
  flags: AnthropicRequestRestrictions,
): ParameterFallback | undefined {
  return (
    learnLimit(rejection, request, flags) ??
    learnThinking(rejection, request, flags) ??
    learnFormat(rejection, request, flags) ??
    learnParameter(rejection, request, flags)
  );
}

/**
 * Handles `max_tokens: 8192 > 4096, which is the maximum allowed…` and `input length and max_tokens exceed context limit: 190000 + 32000 >
 * 200000`.
 */
function learnLimit(
  rejection: string,
  request: ChatRequest,
  flags: AnthropicRequestRestrictions,
): ParameterFallback | undefined {
  if (!/max_tokens/.test(rejection)) return undefined;
  const asked = toAnthropicWireRequest(request, flags).max_tokens;
  const [, input, window] = /(\d+) \+ \d+ > (\d+)/.exec(rejection) ?? [];
  const maxOutput = Number(window) - Number(input);
  if (maxOutput >= 1024 && maxOutput < asked) return { flags: { ...flags, outputLimit: maxOutput }, once: true };
  const limit = Number((/> (\d+)/.exec(rejection) ?? /\[\d+, ?(\d+)\]/.exec(rejection))?.[1]);
  if (input !== undefined || !(limit > 0 && limit < asked)) return undefined;
  return { flags: { ...flags, outputLimit: limit } };
}

function learnThinking(
  rejection: string,
  request: ChatRequest,
  flags: AnthropicRequestRestrictions,
): ParameterFallback | undefined {
  if (!/thinking|signature|effort/i.test(rejection)) return undefined;
  const { thinking } = toAnthropicWireRequest(request, flags);
  // thinking was enabled in the middle of a turn and must wait for the next turn
  if (/expected .?(redacted_)?thinking/i.test(rejection)) {
    return thinking && { flags: { ...flags, thinking: 'none' }, once: true };
  }
  if (/signature|cannot be modified/i.test(rejection)) {
    const refused = new Set([...(flags.refused ?? []), ...signaturesIn(request)]);
    return refused.size > (flags.refused?.size ?? 0) ? { flags: { ...flags, refused } } : undefined;
  }
  if (!thinking) return undefined;
  if (thinking.type === 'disabled') return { flags: { ...flags, omitDisabled: true } };
  const other = thinking.type === 'adaptive' ? 'budget' : /adaptive/.test(rejection) ? 'adaptive' : 'none';
  return { flags: { ...flags, thinking: flags.thinking === undefined ? other : 'none' } };
}

function signaturesIn({ messages }: ChatRequest): string[] {
  const blocks = messages.flatMap((message) =>
    message.role === 'assistant' ? (matchingAnthropicNativeBlocks(message) ?? []) : [],
  );
  return blocks.filter(isThinkingBlock).map(thinkingSignature);
}

function learnFormat(
  rejection: string,
  request: ChatRequest,
  flags: AnthropicRequestRestrictions,
): ParameterFallback | undefined {
  const refused = /output_config|output_format|output format|structured output|json_?schema/i.test(rejection);
  const sent = toAnthropicWireRequest(request, flags).output_config?.format !== undefined;
  return refused && sent ? { flags: { ...flags, formatInPrompt: true } } : undefined;
}

/** Removes a rejected parameter: `top_p` before `temperature`, so that `temperature` remains when both exclude each other. */
function learnParameter(
  rejection: string,
  request: ChatRequest,
  flags: AnthropicRequestRestrictions,
): ParameterFallback | undefined {
  if (!/support|unknown|unrecogni[sz]ed|unexpected|permitted|allowed|extra|deprecated|both|invalid/i.test(rejection)) {
    return undefined;
  }
  const body = toAnthropicWireRequest(request, flags);
  const named = anthropicOptionalParameters.find(
    (name) =>
      !flags.omit?.includes(name) &&
      (name === 'cache_control' || body[name] !== undefined) &&
      new RegExp(`\\b${name}\\b`).test(rejection),
  );
  return named && { flags: { ...flags, omit: [...(flags.omit ?? []), named] } };
}
