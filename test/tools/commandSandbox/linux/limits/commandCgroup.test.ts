import assert from 'node:assert/strict';
import { eventCount, parseOwnCgroup } from '../../../../../src/tools/commandSandbox/linux/limits/commandCgroup.ts';

const unified = '30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate';
const hybrid = '31 24 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw';
const container = '32 24 0:26 /../.. /sys/fs/cgroup ro - cgroup2 cgroup rw';
const scope = '/user.slice/user-1000.slice/user@1000.service/app.slice/code.scope';

describe('the cgroup of the editor', () => {
  const cases: [name: string, own: string, mounts: string, expected: ReturnType<typeof parseOwnCgroup>][] = [
    ['a session', `0::${scope}\n`, unified, { mount: '/sys/fs/cgroup', path: scope }],
    [
      'both versions',
      `1:cpu:/\n0::/x\n`,
      `1 2 0:1 / / rw - ext4 x rw\n${hybrid}`,
      { mount: '/sys/fs/cgroup/unified', path: '/x' },
    ],
    ['only the old version', '4:memory:/\n', unified, undefined],
    ['no mount', `0::${scope}\n`, '1 2 0:1 / / rw - ext4 x rw', undefined],
    ['a part of the tree', `0::${scope}\n`, container, undefined],
    ['outside of the tree', '0::/../x\n', unified, undefined],
  ];
  for (const [name, own, mounts, expected] of cases)
    it(`is found with ${name}`, () => assert.deepEqual(parseOwnCgroup(own, mounts), expected));

  it('counts events by their names', () => {
    const text = 'low 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 1\n';
    assert.deepEqual([eventCount(text, 'oom_kill'), eventCount(text, 'max'), eventCount('', 'max')], [2, 12, 0]);
  });
});
