import assert from 'node:assert/strict';
import { doctorRuleFindings } from '../../../src/extension/doctor/ruleFindings.ts';
import type { ApprovalPolicy } from '../../../src/protocol/content/policy.ts';
import { parsePolicyRules } from '../../../src/tools/policy/rules.ts';

describe('what Doctor says of rules', () => {
  const say = (...written: unknown[]) => {
    const { rules, problems } = parsePolicyRules(written, 'user');
    const policy: ApprovalPolicy = { preset: 'reads-free', readOnlyCommands: true, rules };
    return doctorRuleFindings({ current: () => policy, problems }).map(({ level, text }) => `${level}: ${text}`);
  };

  it('none, one that can be used, and one that cannot, with what becomes of it', () => {
    assert.deepEqual(say(), ['fact: Approvals: “Auto-approve reads”; 0 rules hold in this workspace']);
    assert.deepEqual(say({ effect: 'allow', tool: 'fs.edit', path: 'src/**' }), [
      'fact: Approvals: “Auto-approve reads”; 1 rule holds in this workspace',
      'ok: All rules are valid',
    ]);
    const [fact, problem] = say({ effect: 'deny', tool: 'fs.edit', path: 'src\\lib' });
    assert.match(fact!, /1 rule holds/);
    assert.match(
      problem!,
      /^problem: The rule .* is invalid \(path: .*\)\. Until then, deny applies to all of fs\.edit\.$/,
    );
  });
});
