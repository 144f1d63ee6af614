import type { OwnedRule } from './rule.ts';

/** What is free without a rule; each is also free in the ones after it. */
export const approvalPresets = ['ask-everything', 'reads-free', 'edits-free', 'autopilot'] as const;
export type ApprovalPreset = (typeof approvalPresets)[number];

/** More runs unasked in the one than in the other. */
export const isWider = (one: ApprovalPreset, other: ApprovalPreset): boolean =>
  approvalPresets.indexOf(one) > approvalPresets.indexOf(other);

/** What a person calls them. */
export const presetNames = {
  'ask-everything': 'Ask for everything',
  'reads-free': 'Auto-approve reads',
  'edits-free': 'Auto-approve edits',
  autopilot: 'Autopilot',
} as const satisfies Record<ApprovalPreset, string>;

/** Short names for narrow panels, where they are never cut. */
export const presetShortNames = {
  'ask-everything': 'Ask all',
  'reads-free': 'Reads',
  'edits-free': 'Edits',
  autopilot: 'Autopilot',
} as const satisfies Record<ApprovalPreset, string>;

export interface Policy {
  preset: ApprovalPreset;
  /** Commands that are known to only read run without a question. */
  readOnlyCommands: boolean;
  rules: readonly OwnedRule[];
}

/** The rules of nobody: what a person gets who has set nothing. */
export const defaultPolicy: Policy = { preset: 'reads-free', readOnlyCommands: false, rules: [] };
