import { presetNames } from '../../protocol/content/policy.ts';
import { amount, message } from '../../protocol/text/l10n.ts';
import type { Policies } from '../approvals/policies.ts';
import { type Finding, found } from './doctorReport.ts';

/** Returns the effective preset and rules, and the handling of each invalid rule. */
export function ruleFindings(policies: Pick<Policies, 'current' | 'problems'>): Finding[] {
  const { preset, rules } = policies.current();
  const { problems } = policies;
  return [
    found(
      'fact',
      message(
        'Approvals: “{0}”; {1} in this workspace',
        message(presetNames[preset]),
        amount(rules.length, 'rule holds', 'rules hold'),
      ),
    ),
    ...problems.map((text) => found('problem', text)),
    ...(problems.length === 0 && rules.length > 0 ? [found('ok', message('All rules are valid'))] : []),
  ];
}
