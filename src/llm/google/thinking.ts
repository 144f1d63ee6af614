import { type ThinkingEffort, thinkingEfforts } from '../../protocol/values/thinkingEffort.ts';
import type { ChatRequest } from '../core/client.ts';

export interface ThinkingFlags {
  /** Models without thinking answer 400 to a request for thoughts. */
  omitThinking?: boolean;
  /** The model thinks but rejects the budget or level. */
  omitBudget?: boolean;
}

/** Budget ranges in tokens by model family; other values are a 400 (ai.google.dev, "Thinking"). */
const ranges: [model: RegExp, least: number, most: number][] = [
  [/gemini-2\.5-flash-lite/, 512, 24_576],
  [/gemini-2\.5-flash/, 1, 24_576],
  [/gemini-2\.5-pro/, 128, 32_768],
];

/**
 * Returns `thinkingConfig`. Models since 2.5 think by default and return thoughts on request. Models since 3 accept one of two levels
 * instead of a budget.
 */
export function thinkingConfigOf(
  { model, thinkingBudget = 0, thinkingOff }: Pick<ChatRequest, 'model' | 'thinkingBudget' | 'thinkingOff'>,
  { omitThinking, omitBudget }: ThinkingFlags,
): { includeThoughts?: true; thinkingBudget?: number; thinkingLevel?: string } | undefined {
  if (omitThinking) return undefined;
  if (thinkingOff && !omitBudget && canBeOff(model)) return { thinkingBudget: 0 };
  if (thinkingBudget > 0 && !omitBudget) {
    if (/gemini-([3-9]|\d\d)/.test(model)) {
      return { includeThoughts: true, thinkingLevel: thinkingBudget < 4096 ? 'low' : 'high' };
    }
    const [, least = 1, most = thinkingBudget] = ranges.find(([family]) => family.test(model)) ?? [];
    return { includeThoughts: true, thinkingBudget: Math.max(least, Math.min(thinkingBudget, most)) };
  }
  return /gemini-(2\.5|[3-9]|\d\d)/.test(model) ? { includeThoughts: true } : undefined;
}

/** Returns the efforts that a model accepts: models since 3 have two levels, and only the Flash models of 2.5 can stop thinking. */
export function googleThinkingEfforts(model: string): readonly ThinkingEffort[] {
  if (/gemini-([3-9]|\d\d)/.test(model)) return ['low', 'high'];
  if (!/gemini-2\.5/.test(model)) return [];
  return canBeOff(model) ? thinkingEfforts : ['low', 'medium', 'high'];
}

const canBeOff = (model: string): boolean => /gemini-2\.5-flash/.test(model);
