import type { ChatRequest } from '../core/client.ts';
import type { OpenAICompatibilityFlags } from '../models/wireFlags.ts';

export function thinkingParameter(request: ChatRequest, flags: OpenAICompatibilityFlags): object | undefined {
  if (flags.thinking === 'off') return { reasoning_effort: 'none' };
  const budget = request.thinkingBudget ?? 0;
  if (budget <= 0) return undefined;
  if (flags.thinking === 'reasoning') return unlessOmitted('reasoning', { max_tokens: budget }, flags);
  if (flags.thinking === 'none' || !supportsReasoningEffort(request.model)) return undefined;
  return unlessOmitted('reasoning_effort', toReasoningEffort(budget), flags);
}

const unlessOmitted = (name: string, value: unknown, { omit }: OpenAICompatibilityFlags) =>
  omit?.includes(name) ? undefined : { [name]: value };

/** Returns true for models with an effort setting: OpenAI's reasoning models at any provider, gpt-oss, and one model of xAI. */
export function supportsReasoningEffort(model: string): boolean {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  if (/^(o1-(mini|preview)|gpt-5(\.\d+)?-chat)/.test(name)) return false; // fixed reasoning, or none
  return /^(o\d|gpt-([5-9]|oss|\d{2})|codex|grok-3-mini)/.test(name);
}

export function toReasoningEffort(tokens: number): 'low' | 'medium' | 'high' {
  if (tokens < 4096) return 'low';
  return tokens < 16_384 ? 'medium' : 'high';
}
