import type { ChatRequest } from '../core/client.ts';

/**
 * Returns the limit of a wire that counts thinking and answer together: answer tokens plus thinking budget; undefined without an answer
 * limit. Gemini: "Thinking", `maxOutputTokens`; OpenAI: "Reasoning models", `max_completion_tokens`; OpenRouter: "Reasoning tokens",
 * `max_tokens` must exceed the budget.
 */
export const outputTokenLimit = (
  { maxTokens }: Pick<ChatRequest, 'maxTokens'>,
  thinkingBudget = 0,
): number | undefined => (maxTokens === undefined ? undefined : maxTokens + Math.max(0, thinkingBudget));

/** Output limit learned from a rejection. `once`: valid for this request only, because the limit depends on the conversation. */
interface OutputLesson {
  tokens: number;
  once?: true;
}

const namesOutput = /\bmax(?:imum)?[_ ]?(?:completion|output|new)?[_ ]?tokens\b|\b(?:completion|output) tokens\b/i;
const namesConversation = /\b(?:inputs?|prompt|messages|context (?:length|window|size|limit))\b/i;
const tooManyTokens =
  /too (?:large|high|big)|at most|exceed|above|maximum|range|(?:less|lower|greater) than|<=|> ?\d|cannot|limited|must be/i;
/** vLLM: "20000 > 16384 - 1500", with the context size and the conversation as the last two numbers. */
const windowMinusPrompt = /\d+ > (\d+) - (\d+)/;
const [leastLimit, minTokensLeft] = [512, 1024];

export const isOutputLimitRejection = (rejection: string): boolean =>
  reportedTokensLeft(rejection) !== undefined ||
  (namesOutput.test(rejection) && tooManyTokens.test(rejection) && !namesConversation.test(rejection));

export function learnOutputTokenLimit(rejection: string, asked: unknown): OutputLesson | undefined {
  if (typeof asked !== 'number' || !isOutputLimitRejection(rejection)) return undefined;
  const tokensLeft = reportedTokensLeft(rejection);
  if (tokensLeft !== undefined) return tokensLeft < asked ? { tokens: tokensLeft, once: true } : undefined;
  const numbers = [...rejection.matchAll(/(?<![\w.,-])\d[\d,]*(?![\w-]|[.,]\d)/g)].map(([digits]) =>
    Number(digits.replaceAll(',', '')),
  );
  const tokens = Math.max(...numbers.filter((number) => number >= leastLimit && number < asked));
  return Number.isFinite(tokens) ? { tokens } : undefined;
}

function reportedTokensLeft(rejection: string): number | undefined {
  const [, window, taken] = windowMinusPrompt.exec(rejection) ?? [];
  const tokensLeft = Number(window) - Number(taken);
  return namesOutput.test(rejection) && tokensLeft >= minTokensLeft ? tokensLeft : undefined;
}

export const clampOutputTokens = (asked: number | undefined, limit: number | undefined): number | undefined =>
  asked === undefined || limit === undefined ? asked : Math.min(asked, limit);

export const outputLimitWarning = (model: string, tokens: number, asked: unknown): string =>
  `${model} answers with ${tokens} tokens at the most; ${asked} were asked for.`;
