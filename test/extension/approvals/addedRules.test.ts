import assert from 'node:assert/strict';
import { AllowRulesAddedInWindow } from '../../../src/extension/approvals/addedRules.ts';
import type { PermissionRule } from '../../../src/protocol/content/rule.ts';

describe('rules that an approval made', () => {
  const key = { runId: 'run-1', toolCallId: 'call' };
  const test: PermissionRule = { effect: 'allow', tool: 'shell.run', command: 'npm test' };
  const lint: PermissionRule = { effect: 'allow', tool: 'shell.run', command: 'npm run lint' };
  let stored: unknown[];
  let added: AllowRulesAddedInWindow;
  beforeEach(() => {
    stored = [lint];
    added = new AllowRulesAddedInWindow({
      written: () => stored,
      add: async (_, ...rules) => {
        stored.push(...rules);
      },
      remove: async (_, index) => {
        stored.splice(index, 1);
      },
    });
  });

  it('are named at their call, in their run', async () => {
    await added.add({ key, scope: 'workspace', rules: [test] });
    assert.deepEqual(added.of('run-1'), [{ ...key, text: 'npm test' }]);
    assert.deepEqual(added.of('run-2'), []);
  });

  it('are removed from there, and no other rule is', async () => {
    await added.add({ key, scope: 'workspace', rules: [test] });
    await added.remove({ ...key, runId: 'run-2' });
    assert.deepEqual(stored, [lint, test]);
    await added.remove(key);
    assert.deepEqual([stored, added.of('run-1')], [[lint], []]);
  });

  it('are named no longer when they were deleted elsewhere', async () => {
    await added.add({ key, scope: 'workspace', rules: [test] });
    stored = [lint];
    assert.deepEqual(added.of('run-1'), []);
    await added.remove(key);
    assert.deepEqual(stored, [lint]);
  });
});
