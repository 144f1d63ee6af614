import { isDeepStrictEqual } from 'node:util';
import { isSameToolCall, type ToolCallKey } from '../../protocol/content/callKey.ts';
import type { PermissionRule } from '../../protocol/content/rule.ts';
import type { AddedRule } from '../../protocol/panel/panelMessages.ts';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { localize } from '../../protocol/text/localized.ts';
import { summarizeRuleCoverage } from '../../tools/policy/rules.ts';
import type { ApprovalPolicies, PolicyScope } from './policies.ts';

interface Added {
  key: ToolCallKey;
  scope: PolicyScope;
  rules: readonly PermissionRule[];
}

/** Rules created by *Always Allow…* in this window. The card of the call shows these rules and can remove a rule. */
export class AllowRulesAddedInWindow {
  private readonly added: Added[] = [];

  constructor(private readonly policies: Pick<ApprovalPolicies, 'add' | 'remove' | 'written'>) {}

  async add(added: Added): Promise<void> {
    this.added.push(added); // first: the panel updates as soon as the rules are stored
    await this.policies.add(added.scope, ...added.rules);
  }

  of(runId: string): AddedRule[] {
    return this.added
      .filter((one) => one.key.runId === runId && one.rules.some((rule) => this.indexOf(one.scope, rule) >= 0))
      .map(({ key, rules }) => ({ ...key, text: escapeInvisibleInLine(summarizeRuleCoverage(rules, localize).what) }));
  }

  async remove(key: ToolCallKey): Promise<void> {
    for (const { scope, rules } of this.added.filter((one) => isSameToolCall(one.key, key)))
      for (const rule of rules) {
        const index = this.indexOf(scope, rule);
        if (index >= 0) await this.policies.remove(scope, index);
      }
  }

  private indexOf(scope: PolicyScope, rule: PermissionRule): number {
    return this.policies.written(scope).findIndex((one) => isDeepStrictEqual(one, rule));
  }
}
