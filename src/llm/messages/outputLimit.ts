import type { ChatRequest } from '../core/client.ts';

/**
 * Returns the limit for a wire that counts thinking and answer together: the answer's tokens, and the thinking budget that was asked for on
 * top. Undefined where the answer has no limit. Gemini: "Thinking", `maxOutputTokens`; OpenAI: "Reasoning models", `max_completion_tokens`;
 * OpenRouter: "Reasoning tokens", `max_tokens` has to be above the budget.
 */
export const outputLimit = ({ maxTokens }: Pick<ChatRequest, 'maxTokens'>, thinkingBudget = 0): number | undefined =>
  maxTokens === undefined ? undefined : maxTokens + Math.max(0, thinkingBudget);

/** What a refusal says about the length of the answer. `once`: about this request alone, for it is what its conversation leaves. */
interface OutputLesson {
  tokens: number;
  once?: true;
}

const namesOutput = /\bmax(?:imum)?[_ ]?(?:completion|output|new)?[_ ]?tokens\b|\b(?:completion|output) tokens\b/i;
const namesConversation = /\b(?:inputs?|prompt|messages|context (?:length|window|size|limit))\b/i;
const saysTooMany =
  /too (?:large|high|big)|at most|exceed|above|maximum|range|(?:less|lower|greater) than|<=|> ?\d|cannot|limited|must be/i;
/** vLLM: "20000 > 16384 - 1500", where the last two are the window and the conversation. */
const leavesRoom = /\d+ > (\d+) - (\d+)/;
/** Tokens of an answer that is worth asking for. */
const [leastLimit, leastRoom] = [512, 1024];

/** Tells whether a request was refused because its answer may be too long, and not because its conversation is. */
export const refusesOutputLimit = (words: string): boolean =>
  roomSaid(words) !== undefined ||
  (namesOutput.test(words) && saysTooMany.test(words) && !namesConversation.test(words));

/** Reads from a refusal how many tokens of an answer may be asked for, when fewer than `asked` were told. */
export function learnOutputLimit(words: string, asked: unknown): OutputLesson | undefined {
  if (typeof asked !== 'number' || !refusesOutputLimit(words)) return undefined;
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

/** Returns the limit to ask for, once a server has told what it takes. */
export const withinLimit = (asked: number | undefined, limit: number | undefined): number | undefined =>
  asked === undefined || limit === undefined ? asked : Math.min(asked, limit);

/** What is noted about a shorter answer than was asked for, for the log. */
export const outputLimited = (model: string, tokens: number, asked: unknown): string =>
  `${model} answers with ${tokens} tokens at the most; ${asked} were asked for.`;
