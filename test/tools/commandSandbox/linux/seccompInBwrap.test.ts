import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as paths from 'node:path';
import {
  createSeccompFilter,
  supportsSeccompFilter,
} from '../../../../src/tools/commandSandbox/linux/seccompFilter.ts';
import { type SyscallName, syscallNumbers } from '../../../../src/tools/commandSandbox/linux/syscallNumbers.ts';
import { canRunBwrap, hasProgram, runBwrap } from '../../../support/bwrap.ts';

// Without the filter, most of these calls succeed, or fail with another error because of their arguments.
const calls: [name: SyscallName, values: number[], error: string][] = [
  ['clone3', [0, 0], 'ENOSYS'],
  ['io_uring_setup', [0, 0], 'ENOSYS'],
  ['unshare', [0x10000000], 'EPERM'],
  ['unshare', [0x400], '0'],
  ['keyctl', [0, -3, 0], 'EPERM'],
  ['bpf', [0, 0, 0], 'EPERM'],
  ['fsopen', [0, 0], 'EPERM'],
  ['userfaultfd', [1], 'EPERM'],
  ['perf_event_open', [0, 0, -1, -1, 0], 'EACCES'],
  ['name_to_handle_at', [-1, 0, 0, 0, 0], 'EPERM'],
  ['ioctl', [0, 0x5412, 0], 'EPERM'],
  ['ioctl', [-1, 0x5401, 0], 'EBADF'],
  ['prctl', [1, 15, 0], '0'], // PR_SET_PDEATHSIG, without effect
  ['prctl', [1, 0, 0], 'EPERM'],
  ['socket', [1, 1, 0], '0'],
  ['socket', [2, 1, 0], '0'],
  ['socket', [2, 3, 1], 'EPERM'],
  ['socket', [16, 3, 0], '0'],
  ['socket', [16, 3, 15], 'EPROTONOSUPPORT'],
  ['socket', [38, 5, 0], 'EAFNOSUPPORT'],
  ['socket', [40, 1, 0], 'EAFNOSUPPORT'],
  ['socketpair', [40, 1, 0, 0], 'EAFNOSUPPORT'],
];

const programs: [name: string, command: string][] = [
  ['bash', "bash -c 'read x < <(echo a | cat); test $x = a'"],
  ['node', "node -e \"new (require('node:worker_threads').Worker)('0', { eval: true })\""],
  [
    'python3',
    'python3 -c "import subprocess, threading; subprocess.check_call([\'true\']); threading.Thread(target=print).start()"',
  ],
  ['git', 'git init -q /tmp/repository && git -C /tmp/repository status'],
  ['gcc', 'echo "int main(void){return 0;}" | gcc -x c - -o /tmp/program && /tmp/program'],
  ['unshare', '! unshare --user true'],
  ['unshare', '! unshare --mount true'],
  ['bwrap', '! bwrap --ro-bind / / true'],
];

describe('the filter in the kernel', () => {
  let folder: string;
  let filter: string;

  before(function () {
    if (!canRunBwrap() || !supportsSeccompFilter(process.arch)) return this.skip();
    folder = mkdtempSync(paths.join(tmpdir(), 'towpath-seccomp-'));
    filter = paths.join(folder, 'filter');
    writeFileSync(filter, createSeccompFilter(process.arch));
  });

  after(() => {
    if (folder) rmSync(folder, { recursive: true });
  });

  const run = (command: string) =>
    runBwrap(
      [
        ...['--unshare-user', '--unshare-pid', '--cap-drop', 'ALL', '--die-with-parent', '--seccomp', '3'],
        ...['--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--'],
      ],
      command,
      filter,
    );

  for (const [name, values, error] of calls)
    it(`answers ${name}(${values.join(', ')}) with ${error === '0' ? 'success' : error}`, function () {
      if (!hasProgram('perl')) return this.skip();
      const number = syscallNumbers[name][process.arch === 'x64' ? 0 : 1];
      const script = `syscall(${[number, ...values].join(', ')}) == -1 or exit print 0; print grep { $!{$_} } keys %!`;
      assert.deepEqual(run(`perl -MErrno -e '${script}'`), { code: error === '0' ? 1 : 0, output: error });
    });

  for (const [name, command] of programs)
    it(`lets this end well: ${command}`, function () {
      if (!hasProgram(name)) return this.skip();
      const { code, output } = run(command);
      assert.equal(code, 0, output);
    });
});
