import { counted } from '../../protocol/counted.ts';
import { presetNames } from '../../protocol/policy.ts';
import type { Policies } from '../gate/policies.ts';
import type { Finding } from './doctorReport.ts';

/** The preset and the rules that hold, and each rule that cannot be used, with what becomes of it. */
export function ruleFindings(policies: Pick<Policies, 'current' | 'problems'>): Finding[] {
  const { preset, rules } = policies.current();
  const { problems } = policies;
  return [
    {
      level: 'fact',
      text: `The preset is “${presetNames[preset]}”; ${counted(rules.length, 'rule holds', 'rules hold')} in this workspace`,
    },
    ...problems.map((text): Finding => ({ level: 'problem', text })),
    ...(problems.length === 0 && rules.length > 0 ? [{ level: 'ok' as const, text: 'Every rule can be used' }] : []),
  ];
}
