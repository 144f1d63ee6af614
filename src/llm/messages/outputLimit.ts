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
const saysTooMany =
  /too (?:large|high|big)|at most|exceed|above|maximum|range|(?:less|lower|greater) than|<=|> ?\d|cannot|limited|must be/i;
/** vLLM: "20000 > 16384 - 1500", with the context size and the conversation as the last two numbers. */
const leavesRoom = /\d+ > (\d+) - (\d+)/;
const [leastLimit, leastRoom] = [512, 1024];

export const isOutputLimitRejection = (words: string): boolean =>
  roomSaid(words) !== undefined ||
  (namesOutput.test(words) && saysTooMany.test(words) && !namesConversation.test(words));

export function learnOutputTokenLimit(words: string, asked: unknown): OutputLesson | undefined {
  if (typeof asked !== 'number' || !isOutputLimitRejection(words)) return undefined;
  const room = roomSaid(words);
  if (room !== undefined) return room < asked ? { tokens: room, once: true } : undefined;
  const said = [...words.matchAll(/(?<![\w.,-])\d[\d,]*(?![\w-]|[.,]\d)/g)].map(([digits]) =>
    Number(digits.replaceAll(',', '')),
  );
  const tokens = Math.max(...said.filter((number) => number >= leastLimit && number < asked));
  return Number.isFinite(tokens) ? { tokens } : undefined;
}

function roomSaid(words: string): number | undefined {
  const [, window, taken] = leavesRoom.exec(words) ?? [];
  const room = Number(window) - Number(taken);
  return namesOutput.test(words) && room >= leastRoom ? room : undefined;
}

export const clampOutputTokens = (asked: number | undefined, limit: number | undefined): number | undefined =>
  asked === undefined || limit === undefined ? asked : Math.min(asked, limit);

export const outputLimitWarning = (model: string, tokens: number, asked: unknown): string =>
  `${model} answers with ${tokens} tokens at the most; ${asked} were asked for.`;
