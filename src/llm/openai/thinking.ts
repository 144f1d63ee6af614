import { type ThinkingEffort, thinkingEfforts } from '../../protocol/values/thinkingEffort.ts';
import type { ChatRequest } from '../core/client.ts';
import type { OpenAICompatibilityFlags } from '../models/wireFlags.ts';

export function thinkingParameter(request: ChatRequest, flags: OpenAICompatibilityFlags): object | undefined {
  if (flags.thinking === 'off') return { reasoning_effort: 'none' };
  if (request.thinkingOff) {
    if (flags.thinking === 'reasoning') return unlessOmitted('reasoning', { effort: 'none' }, flags);
    const canBeOff = flags.thinking !== 'none' && canSwitchReasoningOff(request.model);
    return canBeOff ? unlessOmitted('reasoning_effort', 'none', flags) : undefined;
  }
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
  const name = nameOf(model);
  if (/^(o1-(mini|preview)|gpt-5(\.\d+)?-chat)/.test(name)) return false; // fixed reasoning, or none
  return /^(o\d|gpt-([5-9]|oss|\d{2})|codex|grok-3-mini)/.test(name);
}

/** Returns true for models that accept the effort `none`: since gpt-5.1, except the Codex and Pro models. */
export function canSwitchReasoningOff(model: string): boolean {
  const name = nameOf(model);
  return /^gpt-(5\.[1-9]|[6-9]|\d{2})/.test(name) && !/codex|-pro|-chat/.test(name);
}

/** Returns the efforts that a model accepts. gpt-5-pro has one only, later Pro models have no `low`, grok-3-mini has no `medium`. */
export function openAIThinkingEfforts(model: string): readonly ThinkingEffort[] {
  const name = nameOf(model);
  if (!supportsReasoningEffort(model) || /^gpt-5-pro/.test(name)) return [];
  if (/^grok/.test(name)) return ['low', 'high'];
  if (/^gpt.*-pro/.test(name)) return ['medium', 'high'];
  return canSwitchReasoningOff(model) ? thinkingEfforts : ['low', 'medium', 'high'];
}

const nameOf = (model: string): string => model.slice(model.lastIndexOf('/') + 1).toLowerCase();

export function toReasoningEffort(tokens: number): 'low' | 'medium' | 'high' {
  if (tokens < 4096) return 'low';
  return tokens < 16_384 ? 'medium' : 'high';
}
