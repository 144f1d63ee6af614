import { approvalPresetNames } from '../../protocol/content/policy.ts';
import { localizedCount, message } from '../../protocol/text/l10n.ts';
import type { ApprovalPolicies } from '../approvals/policies.ts';
import { createDoctorFinding, type DoctorFinding } from './doctorReport.ts';

/** Returns the effective preset and rules, and the handling of each invalid rule. */
export function doctorRuleFindings(policies: Pick<ApprovalPolicies, 'current' | 'problems'>): DoctorFinding[] {
  const { preset, rules } = policies.current();
  const { problems } = policies;
  return [
    createDoctorFinding(
      'fact',
      message(
        'Approvals: “{0}”; {1} in this workspace',
        message(approvalPresetNames[preset]),
        localizedCount(rules.length, 'rule holds', 'rules hold'),
      ),
    ),
    ...problems.map((text) => createDoctorFinding('problem', text)),
    ...(problems.length === 0 && rules.length > 0 ? [createDoctorFinding('ok', message('All rules are valid'))] : []),
  ];
}
