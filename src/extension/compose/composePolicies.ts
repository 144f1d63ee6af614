import path from 'node:path';
import type * as vscode from 'vscode';
import { AlwaysAllowedRules } from '../approvals/addedRules.ts';
import { ApprovalPolicies } from '../approvals/policies.ts';
import { DecisionFile } from '../settings/decisionFile.ts';
import type { WindowStorage } from './composeStorage.ts';
import type { WindowServices } from './composeWindow.ts';

export type PolicyServices = ReturnType<typeof composePolicies>;

/** Creates the presets and permission rules of the user. */
export function composePolicies(
  context: vscode.ExtensionContext,
  { log, changes, modals }: WindowServices,
  { memory }: WindowStorage,
) {
  const userMemory = new DecisionFile(path.join(context.globalStorageUri.fsPath, 'approvals.json'));
  const policies = new ApprovalPolicies(memory, userMemory, modals, log, () => {
    changes.status.notify();
    changes.state.notify();
  });
  context.subscriptions.push(policies);
  return { policies, addedRules: new AlwaysAllowedRules(policies) };
}
