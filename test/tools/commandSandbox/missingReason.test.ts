import assert from 'node:assert/strict';
import { toEnglishText } from '../../../src/protocol/text/l10n.ts';
import { namespaceRefusal } from '../../../src/tools/commandSandbox/linux/missingReason.ts';

describe('the reason why there is no sandbox', () => {
  const none = { isRestrictedByAppArmor: false, isSwitchedOff: false, isContainer: false };
  const cases: [facts: Partial<Parameters<typeof namespaceRefusal>[0]>, reason: string, steps?: RegExp][] = [
    [{ isRestrictedByAppArmor: true }, 'this system does not allow user namespaces (AppArmor)', /sysctl -w kernel\.apparmor/],
    [{ isSwitchedOff: true }, 'this system does not allow user namespaces', /sysctl -w user\.max_user_namespaces/],
    [{ isContainer: true, isSwitchedOff: true }, 'this container does not allow user namespaces', /seccomp/],
    [{ package: 'Snap' }, 'the editor is installed as a Snap, which does not allow user namespaces', /\.deb/],
    [{}, 'a test failed (unshare: no)'],
  ]; // biome-ignore format: a table
  for (const [facts, reason, steps] of cases)
    it(reason, () => {
      const refusal = namespaceRefusal({ ...none, ...facts }, 'unshare: no');
      assert.equal(toEnglishText(refusal.reason), reason);
      if (steps) assert.match(toEnglishText(refusal.steps!), steps);
    });
});
