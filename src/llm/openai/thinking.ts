import type { ChatRequest } from '../core/client.ts';
import type { WireFlags } from '../models/wireFlags.ts';

/** The parameter that asks for a thinking budget, or undefined where there is none (or no budget). */
export function thinkingParameter(request: ChatRequest, flags: WireFlags): object | undefined {
  if (flags.thinking === 'off') return { reasoning_effort: 'none' };
  const budget = request.thinkingBudget ?? 0;
  if (budget <= 0) return undefined;
  if (flags.thinking === 'reasoning') return unlessOmitted('reasoning', { max_tokens: budget }, flags);
  if (flags.thinking === 'none' || !takesEffort(request.model)) return undefined;
  return unlessOmitted('reasoning_effort', effortOf(budget), flags);
}

const unlessOmitted = (name: string, value: unknown, { omit }: WireFlags) =>
  omit?.includes(name) ? undefined : { [name]: value };

/** OpenAI's reasoning models wherever they run, gpt-oss, and the one of xAI's that can be told. */
export function takesEffort(model: string): boolean {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  if (/^(o1-(mini|preview)|gpt-5(\.\d+)?-chat)/.test(name)) return false; // reasoning of a fixed kind, or none
  return /^(o\d|gpt-([5-9]|oss|\d{2})|codex|grok-3-mini)/.test(name);
}

/** The words that all of them know; more than `high` is known to some only. */
export function effortOf(tokens: number): 'low' | 'medium' | 'high' {
  if (tokens < 4096) return 'low';
  return tokens < 16_384 ? 'medium' : 'high';
}
