import { setTimeout as sleep } from 'node:timers/promises';
import type { Probe, ProbeWorld } from './probe.ts';
import { processesWith } from './world.ts';

const isVictimChanged = async (world: ProbeWorld) => {
  await sleep(0); // the exit of a killed process is noted
  return world.victimState();
};

const onVictim = (name: string, script: string, other: Partial<Probe> = {}): Probe => ({
  name,
  script: `${script}\ntrue`,
  prepare: (world) => world.startVictim(),
  effect: isVictimChanged,
  control: 'outside',
  ...other,
});

/** A process that carries the tag must be gone after the end. */
const leftBehind = (name: string, script: string, ending: 'keep' | 'stop' = 'keep'): Probe => ({
  name,
  script: ending === 'stop' ? `${script}\necho ::ready; sleep 1000` : script,
  ending,
  async effect(world) {
    // A command that has ended leaves nothing, not even for a moment: its changes are read then. A stopped one has changed nothing.
    const deadline = Date.now() + (world.isControl || ending === 'keep' ? 0 : 10_000);
    let left = ending === 'keep' ? world.leftAtEnd : processesWith(world.tag);
    for (; left.length > 0 && Date.now() < deadline; left = processesWith(world.tag)) await sleep(10);
    return left.length > 0 ? `${left.length} processes` : undefined;
  },
  control: 'outside',
});

// The end of the output shows that it has left its session.
const daemon = `: $(perl -e 'fork and exit; POSIX::setsid() if require POSIX; fork and exit; $SIG{$_} = "IGNORE" for qw(TERM HUP INT); open STDOUT, ">", "/dev/null"; open STDERR, ">", "/dev/null"; sleep 1000' $TAG)`;

export const processes: readonly Probe[] = [
  onVictim('kills a process outside', 'kill -9 $VICTIM'),
  onVictim('stops a process outside', 'kill -STOP $VICTIM'),
  onVictim('kills by a name', 'pkill -9 -f $TAG', { needs: ['pkill'] }),
  onVictim('kills everything', 'trap "" TERM; kill -TERM -1', { control: 'none' }),
  onVictim(
    'kills by a descriptor of the process',
    `perl -e 'my $fd = syscall(434, $ENV{VICTIM} + 0, 0); syscall(424, $fd, 9, 0, 0)'`,
  ),
  onVictim(
    'attaches to a process outside',
    `perl -e 'syscall(101, 16, $ENV{VICTIM} + 0, 0, 0); syscall(101, 0x4206, $ENV{VICTIM} + 0, 0, 0); kill "STOP", $ENV{VICTIM}; exec "sleep", "0.05"'`,
  ),
  onVictim('changes the priority of a process outside', 'renice -n 5 -p $VICTIM'),
  onVictim('changes the limits of a process outside', 'prlimit --pid $VICTIM --nofile=100:100', { needs: ['prlimit'] }),
  onVictim('changes the processors of a process outside', 'taskset -p 1 $VICTIM', { needs: ['taskset'] }),
  onVictim('makes a process outside the first to be killed', 'echo 900 > /proc/$VICTIM/oom_score_adj'),
  leftBehind(
    'leaves a process in the background',
    `bash -c 'exec -a $TAG sleep 1000' > /dev/null 2>&1 & until grep -qa $TAG /proc/$!/cmdline; do :; done`,
  ),
  leftBehind(
    'leaves a process with nohup',
    `nohup bash -c 'exec -a $TAG sleep 1000' > /dev/null 2>&1 & until grep -qa $TAG /proc/$!/cmdline; do :; done`,
  ),
  leftBehind(
    'leaves a process in another session',
    `setsid bash -c 'exec -a $TAG sleep 1000' > /dev/null 2>&1 < /dev/null & until grep -qa $TAG /proc/$!/cmdline; do :; done`,
  ),
  leftBehind('leaves a daemon', daemon),
  leftBehind(
    'leaves many processes',
    `for i in {1..40}; do bash -c 'exec -a $TAG sleep 1000' > /dev/null 2>&1 & done; for p in $(jobs -p); do until grep -qa $TAG /proc/$p/cmdline; do :; done; done`,
  ),
  leftBehind(
    'is stopped with a process in another session',
    `setsid bash -c 'exec -a $TAG sleep 1000' > /dev/null 2>&1 < /dev/null & until grep -qa $TAG /proc/$!/cmdline; do :; done`,
    'stop',
  ),
  leftBehind('is stopped with a daemon', daemon, 'stop'),
  {
    ...leftBehind(
      'is stopped while it starts processes',
      `(while :; do setsid bash -c 'exec -a $TAG sleep 0.2' > /dev/null 2>&1 & wait; done) & `,
      'stop',
    ),
    control: 'none', // the group has ended by then
  },
  {
    // The first process is told by the kernel when Bubblewrap ends; a debugger could take that back.
    ...leftBehind(
      'is stopped after it has changed the first process',
      `cat > /tmp/$TAG.c <<'END'
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
int main(void) {
  struct user_regs_struct r, o; int s;
  if (ptrace(PTRACE_ATTACH, 1, 0, 0)) { perror("attach"); return 0; }
  waitpid(1, &s, 0); ptrace(PTRACE_GETREGS, 1, 0, &o);
  r = o; r.rax = 157; r.rdi = 1; r.rsi = 0; r.rip -= 2; r.orig_rax = -1; /* prctl(PR_SET_PDEATHSIG, 0) at the instruction of the call */
  long code = ptrace(PTRACE_PEEKTEXT, 1, r.rip, 0);
  ptrace(PTRACE_SETREGS, 1, 0, &r); ptrace(PTRACE_SINGLESTEP, 1, 0, 0); waitpid(1, &s, 0);
  ptrace(PTRACE_GETREGS, 1, 0, &r); fprintf(stderr, "code %lx result %lld status %x\\n", code & 0xffff, (long long)r.rax, s);
  o.rax = o.orig_rax; o.rip -= 2; ptrace(PTRACE_SETREGS, 1, 0, &o); ptrace(PTRACE_DETACH, 1, 0, 0);
  return 0;
}
END
gcc -w -o /tmp/$TAG /tmp/$TAG.c && /tmp/$TAG; rm -f /tmp/$TAG.c
setsid bash -c 'exec -a $TAG sleep 1000' > /dev/null 2>&1 < /dev/null & until grep -qa $TAG /proc/$!/cmdline; do :; done`,
      'stop',
    ),
    needs: process.arch === 'x64' ? ['gcc'] : ['a processor of x64'],
    control: 'none',
  },
];
