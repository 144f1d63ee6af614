import type { ChatRequest } from '../core/client.ts';
import { isThinkingBlock, nativeBlocks, thinkingSignature } from './providerMetadata.ts';
import { optionalParameters, toWire, type WireFlags } from './wire.ts';

/** Adjustment learned from a rejected request. `once`: valid for this request only. */
export interface ParameterFallback {
  flags: WireFlags;
  once?: boolean;
}

/**
 * Returns the change that avoids the rejection, or undefined if there is none. Each change removes something that later changes cannot
 * remove again, so the sequence ends.
 */
export function learnParameterFallback(
  errorText: string,
  request: ChatRequest,
  flags: WireFlags,
): ParameterFallback | undefined {
  return (
    learnLimit(errorText, request, flags) ??
    learnThinking(errorText, request, flags) ??
    learnFormat(errorText, request, flags) ??
    learnParameter(errorText, request, flags)
  );
}

/**
 * Handles `max_tokens: 8192 > 4096, which is the maximum allowed…` and `input length and max_tokens exceed context limit: 190000 + 32000 >
 * 200000`.
 */
function learnLimit(errorText: string, request: ChatRequest, flags: WireFlags): ParameterFallback | undefined {
  if (!/max_tokens/.test(errorText)) return undefined;
  const asked = toWire(request, flags).max_tokens;
  const [, input, window] = /(\d+) \+ \d+ > (\d+)/.exec(errorText) ?? [];
  const maxOutput = Number(window) - Number(input);
  if (maxOutput >= 1024 && maxOutput < asked) return { flags: { ...flags, outputLimit: maxOutput }, once: true };
  const limit = Number((/> (\d+)/.exec(errorText) ?? /\[\d+, ?(\d+)\]/.exec(errorText))?.[1]);
  if (input !== undefined || !(limit > 0 && limit < asked)) return undefined;
  return { flags: { ...flags, outputLimit: limit } };
}

function learnThinking(errorText: string, request: ChatRequest, flags: WireFlags): ParameterFallback | undefined {
  if (!/thinking|signature|effort/i.test(errorText)) return undefined;
  const { thinking } = toWire(request, flags);
  // thinking was enabled in the middle of a turn and must wait for the next turn
  if (/expected .?(redacted_)?thinking/i.test(errorText)) {
    return thinking && { flags: { ...flags, thinking: 'none' }, once: true };
  }
  if (/signature|cannot be modified/i.test(errorText)) {
    const refused = new Set([...(flags.refused ?? []), ...signaturesIn(request)]);
    return refused.size > (flags.refused?.size ?? 0) ? { flags: { ...flags, refused } } : undefined;
  }
  if (!thinking) return undefined;
  const other = thinking.type === 'adaptive' ? 'budget' : /adaptive/.test(errorText) ? 'adaptive' : 'none';
  return { flags: { ...flags, thinking: flags.thinking === undefined ? other : 'none' } };
}

function signaturesIn({ messages }: ChatRequest): string[] {
  const blocks = messages.flatMap((message) => (message.role === 'assistant' ? (nativeBlocks(message) ?? []) : []));
  return blocks.filter(isThinkingBlock).map(thinkingSignature);
}

function learnFormat(errorText: string, request: ChatRequest, flags: WireFlags): ParameterFallback | undefined {
  const refused = /output_config|output_format|output format|structured output|json_?schema/i.test(errorText);
  const sent = toWire(request, flags).output_config?.format !== undefined;
  return refused && sent ? { flags: { ...flags, formatInPrompt: true } } : undefined;
}

/** Removes a rejected parameter: `top_p` before `temperature`, so that `temperature` remains when both exclude each other. */
function learnParameter(errorText: string, request: ChatRequest, flags: WireFlags): ParameterFallback | undefined {
  if (!/support|unknown|unrecogni[sz]ed|unexpected|permitted|allowed|extra|deprecated|both|invalid/i.test(errorText)) {
    return undefined;
  }
  const body = toWire(request, flags);
  const named = optionalParameters.find(
    (name) =>
      !flags.omit?.includes(name) &&
      (name === 'cache_control' || body[name] !== undefined) &&
      new RegExp(`\\b${name}\\b`).test(errorText),
  );
  return named && { flags: { ...flags, omit: [...(flags.omit ?? []), named] } };
}
