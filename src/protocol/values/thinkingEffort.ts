import { t } from '../text/l10n.ts';

/** Amount of thinking of a model in a run. Undefined stands for the default: the budget of the settings. */
export type ThinkingEffort = (typeof thinkingEfforts)[number];
export const thinkingEfforts = ['off', 'low', 'medium', 'high'] as const;

export const thinkingEffortNames = {
  off: 'Off',
  low: 'Low',
  medium: 'Medium',
  high: 'High',
} as const satisfies Record<ThinkingEffort, string>;

/** Returns the label of a model with its effort, unless the effort is the default. */
export const modelLabelWithEffort = (label: string, effort: ThinkingEffort | undefined): string =>
  effort ? `${label} · ${t(thinkingEffortNames[effort])}` : label;
