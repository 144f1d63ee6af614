import type { ChatRequest } from '../core/client.ts';

export interface ThinkingFlags {
  /** Models that do not think answer 400 to the wish to see it. */
  omitThinking?: boolean;
  /** It thinks, and not with the budget (or the level) it was told. */
  omitBudget?: boolean;
}

/** Tokens, by family; a budget outside of them is a 400 (ai.google.dev, "Thinking"). */
const ranges: [model: RegExp, least: number, most: number][] = [
  [/gemini-2\.5-flash-lite/, 512, 24_576],
  [/gemini-2\.5-flash/, 1, 24_576],
  [/gemini-2\.5-pro/, 128, 32_768],
];

/**
 * `thinkingConfig`. Models since 2.5 think on their own and show it only when asked to. Those since 3 take one of two
 * levels in place of a budget.
 */
export function thinkingConfigOf(
  { model, thinkingBudget = 0 }: Pick<ChatRequest, 'model' | 'thinkingBudget'>,
  { omitThinking, omitBudget }: ThinkingFlags,
): { includeThoughts: true; thinkingBudget?: number; thinkingLevel?: string } | undefined {
  if (omitThinking) return undefined;
  if (thinkingBudget > 0 && !omitBudget) {
    if (/gemini-([3-9]|\d\d)/.test(model)) {
      return { includeThoughts: true, thinkingLevel: thinkingBudget < 4096 ? 'low' : 'high' };
    }
    const [, least = 1, most = thinkingBudget] = ranges.find(([family]) => family.test(model)) ?? [];
    return { includeThoughts: true, thinkingBudget: Math.max(least, Math.min(thinkingBudget, most)) };
  }
  return /gemini-(2\.5|[3-9]|\d\d)/.test(model) ? { includeThoughts: true } : undefined;
}
