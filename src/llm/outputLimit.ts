import type { ChatRequest } from './client.ts';

/**
 * Returns the limit for a wire that counts thinking and answer together: the answer's tokens, and the thinking budget that was asked for on
 * top. Undefined where the answer has no limit. Gemini: "Thinking", `maxOutputTokens`; OpenAI: "Reasoning models", `max_completion_tokens`;
 * OpenRouter: "Reasoning tokens", `max_tokens` has to be above the budget.
 */
export const outputLimit = ({ maxTokens }: Pick<ChatRequest, 'maxTokens'>, thinkingBudget = 0): number | undefined =>
  maxTokens === undefined ? undefined : maxTokens + Math.max(0, thinkingBudget);
