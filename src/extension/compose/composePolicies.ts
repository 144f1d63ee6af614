import path from 'node:path';
import { AllowRulesAddedInWindow } from '../approvals/addedRules.ts';
import { ApprovalPolicies } from '../approvals/policies.ts';
import { DecisionFile } from '../settings/decisionFile.ts';
import type { ModelServices } from './composeModels.ts';

export type PolicyServices = ReturnType<typeof composePolicyServices>;

/** Creates the presets and permission rules of the user. */
export function composePolicyServices(services: ModelServices) {
  const { context, log, changes, modals, memory } = services;
  const userMemory = new DecisionFile(path.join(context.globalStorageUri.fsPath, 'approvals.json'));
  const policies = new ApprovalPolicies(memory, userMemory, modals, log, () => {
    changes.status.notify();
    changes.state.notify();
  });
  context.subscriptions.push(policies);
  return { ...services, policies, addedRules: new AllowRulesAddedInWindow(policies) };
}
