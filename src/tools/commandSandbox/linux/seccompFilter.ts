import {
  allowCall,
  type BpfInstruction,
  bpfIf,
  encodeBpfProgram,
  failCall,
  killProcess,
  loadArchitecture,
  loadArgument,
  loadSyscallNumber,
  maskBits,
} from './bpfProgram.ts';
import { type SyscallName, syscallNumbers } from './syscallNumbers.ts';

export type SeccompArchitecture = 'x64' | 'arm64';

export const supportsSeccompFilter = (arch: string): arch is SeccompArchitecture => arch === 'x64' || arch === 'arm64';

/**
 * Returns the filter of system calls for `bwrap --seccomp`: the kernel interfaces that could leave the sandbox, or that are rarely needed
 * and often vulnerable, fail with an error. Debuggers work: `ptrace` and `process_vm_readv` reach only processes of the own PID namespace.
 */
export function createSeccompFilter(arch: SeccompArchitecture): Buffer {
  const numberOf = (name: SyscallName) => syscallNumbers[name][arch === 'x64' ? 0 : 1];
  const rule = (name: SyscallName, body: readonly BpfInstruction[]) => {
    const number = numberOf(name);
    return number === undefined ? [] : bpfIf('jumpIfEqual', number, body);
  };
  return encodeBpfProgram([
    loadArchitecture,
    ...unlessEqual([auditArchitectures[arch]], [killProcess]),
    loadSyscallNumber,
    // The x32 calls of a 64-bit process have other numbers.
    ...(arch === 'x64' ? bpfIf('jumpIfAtLeast', x32Bit, [failCall(errors.ENOSYS)]) : []),
    ...deniedCalls.flatMap(({ error, names }) => names.flatMap((name) => rule(name, [failCall(errors[error])]))),
    ...argumentRules.flatMap(([name, body]) => rule(name, body)),
    allowCall,
  ]);
}

const auditArchitectures = { x64: 0xc000003e, arm64: 0xc00000b7 } as const; // AUDIT_ARCH_X86_64, AUDIT_ARCH_AARCH64
const x32Bit = 0x40000000; // __X32_SYSCALL_BIT

const errors = { EPERM: 1, EACCES: 13, ENOSYS: 38, EPROTONOSUPPORT: 93, EAFNOSUPPORT: 97 } as const;

/** Calls that always fail. */
const deniedCalls: readonly { error: keyof typeof errors; names: readonly SyscallName[] }[] = [
  // The filter cannot read the flags of `clone3`, and libc then uses `clone`. Calls of io_uring bypass a filter.
  { error: 'ENOSYS', names: ['clone3', 'io_uring_setup', 'io_uring_enter', 'io_uring_register'] },
  // The error that the kernel returns if the administrator has not enabled it: profilers explain it.
  { error: 'EACCES', names: ['perf_event_open'] },
  { error: 'EPERM', names: ['setns', 'mount', 'umount2', 'pivot_root', 'chroot'] },
  {
    error: 'EPERM',
    names: ['move_mount', 'open_tree', 'open_tree_attr', 'fsopen', 'fsconfig', 'fsmount', 'fspick', 'mount_setattr'],
  },
  { error: 'EPERM', names: ['name_to_handle_at', 'open_by_handle_at'] },
  { error: 'EPERM', names: ['keyctl', 'add_key', 'request_key'] }, // keyrings have no namespace
  { error: 'EPERM', names: ['bpf', 'userfaultfd'] },
  { error: 'EPERM', names: ['kexec_load', 'kexec_file_load', 'init_module', 'finit_module', 'delete_module'] },
  { error: 'EPERM', names: ['reboot', 'swapon', 'swapoff', 'settimeofday', 'clock_settime', 'acct', 'syslog'] },
  { error: 'EPERM', names: ['quotactl', 'quotactl_fd', 'nfsservctl', 'lookup_dcookie', 'vhangup'] },
  { error: 'EPERM', names: ['uselib', 'iopl', 'ioperm', 'modify_ldt'] },
];

/** Flags of `clone` for a namespace. The time namespace has none: its bit is a part of the signal there. */
const namespaceFlags =
  0x00020000 | // CLONE_NEWNS
  0x02000000 | // CLONE_NEWCGROUP
  0x04000000 | // CLONE_NEWUTS
  0x08000000 | // CLONE_NEWIPC
  0x10000000 | // CLONE_NEWUSER
  0x20000000 | // CLONE_NEWPID
  0x40000000; // CLONE_NEWNET
const timeNamespaceFlag = 0x80; // CLONE_NEWTIME

const setParentDeathSignal = 1; // PR_SET_PDEATHSIG
const SIGKILL = 9;
const noError = 0; // the call has no effect

const terminalRequests = [0x5412, 0x541c]; // TIOCSTI, TIOCLINUX: write input for the terminal outside

const AF = { UNIX: 1, INET: 2, INET6: 10, NETLINK: 16 } as const;
const socketTypeMask = 0xf;
const internetTypes = [1, 2]; // SOCK_STREAM, SOCK_DGRAM
const internetProtocols = [0, 1, 6, 17, 58, 262]; // default, ICMP, TCP, UDP, ICMPv6, MPTCP
const routeProtocol = 0; // NETLINK_ROUTE, for the list of network interfaces

/** Returns `body` behind comparisons that skip it for each of the values. */
const unlessEqual = (values: readonly number[], body: readonly BpfInstruction[]): BpfInstruction[] =>
  values.reduceRight<BpfInstruction[]>(
    (rest, value) => {
      const [first, ...others] = bpfIf('jumpIfEqual', value, rest);
      return [{ ...first!, jumpTrue: first!.jumpFalse, jumpFalse: 0 }, ...others];
    },
    [...body],
  );

const internetSocketRule: readonly BpfInstruction[] = [
  loadArgument(1),
  maskBits(socketTypeMask),
  ...unlessEqual(internetTypes, [failCall(errors.EPERM)]), // raw sockets and packets
  loadArgument(2),
  ...unlessEqual(internetProtocols, [failCall(errors.EPROTONOSUPPORT)]),
  allowCall,
];

/** Calls that depend on an argument. The low halves suffice: the kernel reads `int`s, and refuses other flags of `unshare`. */
const argumentRules: readonly [SyscallName, readonly BpfInstruction[]][] = [
  ['clone', [loadArgument(0), ...bpfIf('jumpIfAnyBit', namespaceFlags, [failCall(errors.EPERM)]), allowCall]],
  [
    'unshare',
    [
      loadArgument(0),
      ...bpfIf('jumpIfAnyBit', namespaceFlags | timeNamespaceFlag, [failCall(errors.EPERM)]),
      allowCall,
    ],
  ],
  // The first process of the sandbox is killed together with Bubblewrap. A debugger could make it take that back. Another signal than SIGKILL
  // is not set, and reported as set: Postgres does not start without one.
  [
    'prctl',
    [
      loadArgument(0),
      ...bpfIf('jumpIfEqual', setParentDeathSignal, [
        loadArgument(1),
        ...bpfIf('jumpIfEqual', 0, [failCall(errors.EPERM)]),
        ...unlessEqual([SIGKILL], [failCall(noError)]),
        allowCall,
      ]),
      allowCall,
    ],
  ],
  [
    'ioctl',
    [
      loadArgument(1),
      ...terminalRequests.flatMap((request) => bpfIf('jumpIfEqual', request, [failCall(errors.EPERM)])),
      allowCall,
    ],
  ],
  [
    'socket',
    [
      loadArgument(0),
      ...bpfIf('jumpIfEqual', AF.UNIX, [allowCall]),
      ...bpfIf('jumpIfEqual', AF.INET, internetSocketRule),
      ...bpfIf('jumpIfEqual', AF.INET6, internetSocketRule),
      ...unlessEqual([AF.NETLINK], [failCall(errors.EAFNOSUPPORT)]),
      loadArgument(2),
      ...unlessEqual([routeProtocol], [failCall(errors.EPROTONOSUPPORT)]),
      allowCall,
    ],
  ],
  ['socketpair', [loadArgument(0), ...unlessEqual([AF.UNIX], [failCall(errors.EAFNOSUPPORT)]), allowCall]],
];
