import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import {
  createSeccompFilter,
  type SeccompArchitecture,
  supportsSeccompFilter,
} from '../../../../src/tools/commandSandbox/linux/seccompFilter.ts';
import { type SyscallName, syscallNumbers } from '../../../../src/tools/commandSandbox/linux/syscallNumbers.ts';
import { runBpfProgram } from '../../../support/bpf.ts';

const architectures = { x64: 0xc000003e, arm64: 0xc00000b7, i386: 0x40000003, arm: 0x40000028 };
const errorNames: Record<number, string> = {
  0: 'no effect',
  1: 'EPERM',
  13: 'EACCES',
  38: 'ENOSYS',
  93: 'EPROTONOSUPPORT',
  97: 'EAFNOSUPPORT',
};

/** Ordinary calls, of which the filter knows nothing. */
const ordinaryNumbers = {
  read: [0, 63],
  openat: [257, 56],
  execve: [59, 221],
  connect: [42, 203],
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  personality: [135, 92],
  seccomp: [317, 277],
  setuid: [105, 146],
  wait4: [61, 260],
} as const;

type Case = [name: SyscallName | keyof typeof ordinaryNumbers, values: (number | bigint)[], expected: string];

const high = 0xffffffff00000000n; // a high half that the kernel ignores
const [CLONE_VM, CLONE_FS, CLONE_FILES, CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET, SIGCHLD] = [
  0x100, 0x200, 0x400, 0x20000, 0x10000000, 0x40000000, 17,
];
const SOCK_CLOEXEC = 0x80000;

const cases: Case[] = [
  ...(Object.keys(ordinaryNumbers) as (keyof typeof ordinaryNumbers)[]).map((name): Case => [name, [1, 2, 3], 'allow']),

  ['clone', [SIGCHLD], 'allow'],
  ['clone', [CLONE_VM | CLONE_FS | CLONE_FILES | 0x3d0f00], 'allow'], // a thread
  ['clone', [0x80 | SIGCHLD], 'allow'], // a signal, not a time namespace
  ['clone', [CLONE_NEWUSER | SIGCHLD], 'EPERM'],
  ['clone', [CLONE_NEWNS | SIGCHLD], 'EPERM'],
  ['clone', [high | BigInt(CLONE_NEWUSER)], 'EPERM'],
  ['clone', [high], 'allow'],
  ['clone3', [0, 88], 'ENOSYS'],

  ['unshare', [CLONE_FILES], 'allow'],
  ['unshare', [CLONE_FS], 'allow'],
  ['unshare', [CLONE_FS | CLONE_NEWNET], 'EPERM'],
  ['unshare', [0x80], 'EPERM'],
  ['unshare', [CLONE_NEWUSER], 'EPERM'],
  ['setns', [3, 0], 'EPERM'],

  ['ioctl', [0, 0x5401], 'allow'], // TCGETS
  ['ioctl', [0, 0x5412], 'EPERM'],
  ['ioctl', [0, high | 0x5412n], 'EPERM'],
  ['ioctl', [0, 0x541c], 'EPERM'],

  ['prctl', [1, 9], 'allow'], // PR_SET_PDEATHSIG
  ['prctl', [1, 0], 'EPERM'],
  ['prctl', [1, 15], 'no effect'],
  ['prctl', [high | 1n, 15], 'no effect'],
  ['prctl', [high | 1n, high], 'EPERM'],
  ['prctl', [15, 0], 'allow'], // PR_SET_NAME

  ['socket', [1, 1, 0], 'allow'], // UNIX
  ['socket', [1, 5 | SOCK_CLOEXEC, 0], 'allow'],
  ['socket', [2, 1 | SOCK_CLOEXEC, 6], 'allow'], // TCP
  ['socket', [2, 2, 0], 'allow'],
  ['socket', [2, 2, 1], 'allow'], // ping
  ['socket', [10, 2 | SOCK_CLOEXEC, 17], 'allow'],
  ['socket', [10, 1, 262], 'allow'], // MPTCP
  ['socket', [2, 3, 1], 'EPERM'], // raw
  ['socket', [10, 3 | SOCK_CLOEXEC, 58], 'EPERM'],
  ['socket', [2, 10, 0x300], 'EPERM'], // SOCK_PACKET
  ['socket', [2, 5, 132], 'EPERM'], // SCTP
  ['socket', [2, 1, 132], 'EPROTONOSUPPORT'],
  ['socket', [high | 2n, high | 3n, 0], 'EPERM'],
  ['socket', [16, 3 | SOCK_CLOEXEC, 0], 'allow'], // NETLINK_ROUTE
  ['socket', [16, 3, 9], 'EPROTONOSUPPORT'], // NETLINK_AUDIT
  ...[0, 4, 15, 17, 29, 30, 31, 38, 40, 43, 44].map((domain): Case => ['socket', [domain, 1, 0], 'EAFNOSUPPORT']),
  ['socketpair', [1, 1, 0], 'allow'],
  ['socketpair', [30, 1, 0], 'EAFNOSUPPORT'],
  ['socketpair', [high | 1n, 1, 0], 'allow'],

  ['perf_event_open', [], 'EACCES'],
  ...(['io_uring_setup', 'io_uring_enter', 'io_uring_register'] as const).map((name): Case => [name, [], 'ENOSYS']),
  ...(
    'mount umount2 pivot_root chroot move_mount open_tree open_tree_attr fsopen fsconfig fsmount fspick mount_setattr ' +
    'keyctl add_key request_key bpf userfaultfd kexec_load kexec_file_load init_module finit_module delete_module ' +
    'open_by_handle_at name_to_handle_at quotactl quotactl_fd acct swapon swapoff reboot settimeofday clock_settime ' +
    'nfsservctl lookup_dcookie syslog vhangup uselib iopl ioperm modify_ldt'
  )
    .split(' ')
    .map((name): Case => [name as SyscallName, [], 'EPERM']),
];

const toText = (action: number): string =>
  action === 0x7fff0000
    ? 'allow'
    : action === 0x80000000
      ? 'kill'
      : action >>> 16 === 5
        ? (errorNames[action & 0xffff] ?? `errno ${action & 0xffff}`)
        : `action ${action}`;

function check(arch: SeccompArchitecture, [name, values, expected]: Case): void {
  const filter = createSeccompFilter(arch);
  const number = { ...ordinaryNumbers, ...syscallNumbers }[name][arch === 'x64' ? 0 : 1];
  if (number === undefined) return; // not a call of this architecture
  assert.equal(
    toText(runBpfProgram(filter, { architecture: architectures[arch], number, arguments: values })),
    expected,
  );
}

describe('the filter of system calls', () => {
  for (const arch of ['x64', 'arm64'] as const)
    for (const one of cases)
      it(`${arch}: ${one[0]}(${one[1].map((value) => `0x${value.toString(16)}`).join(', ')}) → ${one[2]}`, () =>
        check(arch, one));

  it('has a case for each call of the table', () =>
    assert.deepEqual(
      Object.keys(syscallNumbers).filter((name) => !cases.some(([one]) => one === name)),
      [],
    ));

  it('ends a process of another architecture', () => {
    for (const arch of ['x64', 'arm64'] as const)
      for (const [name, architecture] of Object.entries(architectures)) {
        const action = runBpfProgram(createSeccompFilter(arch), { architecture, number: 1 });
        assert.equal(toText(action), name === arch ? 'allow' : 'kill', `${name} on ${arch}`);
      }
  });

  it('offers no x32 call to a 64-bit process', () => {
    for (const number of [0x40000000, 0x40000000 | 59, 0x400001ff, -1]) {
      const action = runBpfProgram(createSeccompFilter('x64'), { architecture: architectures.x64, number });
      assert.equal(toText(action), 'ENOSYS');
    }
  });

  it('exists for two architectures', () =>
    assert.deepEqual(['x64', 'arm64', 'ia32', 'riscv64'].map(supportsSeccompFilter), [true, true, false, false]));

  const headers: [file: string, column: 0 | 1][] = [
    ['/usr/include/x86_64-linux-gnu/asm/unistd_64.h', 0],
    ['/usr/include/asm-generic/unistd.h', 1],
  ];
  for (const [file, column] of headers)
    it(`has the numbers of ${file}`, function () {
      if (!existsSync(file)) return this.skip();
      const defined = new Map(
        [...readFileSync(file, 'utf8').matchAll(/#define __NR_(\w+)\s+(\d+)/g)].map(([, name, number]) => [
          name!,
          Number(number),
        ]),
      );
      // A header that is older than the call.
      const known = Object.entries(syscallNumbers).filter(([name]) => name !== 'open_tree_attr' || defined.has(name));
      assert.deepEqual(
        known.filter(([name, numbers]) => defined.get(name) !== numbers[column]),
        [],
      );
      assert.deepEqual(
        Object.entries(ordinaryNumbers).filter(([name, numbers]) => defined.get(name) !== numbers[column]),
        [],
      );
    });
});
