import type { ScopedPermissionRule } from './rule.ts';

/** Approval presets, from strict to permissive. Each preset allows everything that the preceding presets allow. */
export const approvalPresets = ['ask-everything', 'reads-free', 'edits-free', 'sandbox', 'autopilot'] as const;
export type ApprovalPreset = (typeof approvalPresets)[number];

export const isMorePermissivePreset = (one: ApprovalPreset, other: ApprovalPreset): boolean =>
  approvalPresets.indexOf(one) > approvalPresets.indexOf(other);

export const approvalPresetNames = {
  'ask-everything': 'Ask for everything',
  'reads-free': 'Auto-approve reads',
  'edits-free': 'Auto-approve edits',
  sandbox: 'Auto-approve edits and sandboxed commands',
  autopilot: 'Autopilot',
} as const satisfies Record<ApprovalPreset, string>;

export const approvalPresetShortNames = {
  'ask-everything': 'Ask all',
  'reads-free': 'Reads',
  'edits-free': 'Edits',
  sandbox: 'Sandbox',
  autopilot: 'Autopilot',
} as const satisfies Record<ApprovalPreset, string>;

export interface ApprovalPolicy {
  preset: ApprovalPreset;
  readOnlyCommands: boolean;
  rules: readonly ScopedPermissionRule[];
}

export const defaultApprovalPolicy: ApprovalPolicy = { preset: 'reads-free', readOnlyCommands: false, rules: [] };
