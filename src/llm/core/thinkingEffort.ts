import type { ThinkingEffort } from '../../protocol/values/thinkingEffort.ts';
import type { ChatRequest } from './client.ts';

/** Thinking tokens of each effort. Wires with levels map a budget back to the level of the same name. */
const thinkingBudgets = { low: 2048, medium: 8192, high: 24_576 } as const;

/** Returns the request fields of an effort; none for the default, which leaves the budget to the settings. */
export function toThinkingFields(
  effort: ThinkingEffort | undefined,
): Pick<ChatRequest, 'thinkingBudget' | 'thinkingOff'> {
  if (effort === undefined) return {};
  return effort === 'off' ? { thinkingOff: true } : { thinkingBudget: thinkingBudgets[effort] };
}
