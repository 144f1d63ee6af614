import { existsSync, readFileSync } from 'node:fs';
import type { Probe, ProbeWorld } from './probe.ts';

const text = ({ ws }: ProbeWorld, name: string) =>
  existsSync(`${ws}/${name}`) ? readFileSync(`${ws}/${name}`, 'utf8').trim() : '';

/** The script writes `got` only after the kernel has allowed something. */
const got = (name: string, script: string, other: Partial<Probe> = {}): Probe => ({
  ...{ name, script: `${script}\ntrue`, effect: (world) => text(world, 'got') || undefined, control: 'outside' },
  ...other,
});

/** A call of the kernel by its number on x64. */
const call = (name: string, values: string, other: Partial<Probe> = {}): Probe =>
  got(
    `calls ${name}`,
    `perl -e 'my $b = "\\0" x 256; my $r = syscall(${values}); open(F, ">", "got") and print F "$r" if $r != -1'`,
    { ...onX64, ...other },
  );

const onX64: Partial<Probe> = process.arch === 'x64' ? {} : { needs: ['a processor of x64'] };

const socket = (name: string, values: string, other: Partial<Probe> = {}): Probe =>
  got(`opens ${name}`, `perl -e 'socket(S, ${values}) and open(F, ">", "got") and print F "opened"'`, other);

const program = (name: string, code: string, other: Partial<Probe> = {}): Probe =>
  got(
    name,
    `cat > /tmp/$TAG.c <<'END'\n#define _GNU_SOURCE\n#include <errno.h>\n#include <fcntl.h>\n#include <sched.h>\n#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <sys/mount.h>\n#include <sys/ptrace.h>\n#include <sys/syscall.h>\n#include <sys/uio.h>\n#include <sys/wait.h>\n#include <unistd.h>\nstatic void got(long n) { FILE *f = fopen("got", "w"); fprintf(f, "%ld", n); fclose(f); }\nint main(void) { ${code} return 0; }\nEND\ngcc -w -o /tmp/$TAG /tmp/$TAG.c && /tmp/$TAG; rm -f /tmp/$TAG /tmp/$TAG.c`,
    { needs: ['gcc'], ...other },
  );

const userNamespace = '0x10000000';

export const privileges: readonly Probe[] = [
  {
    name: 'has capabilities',
    script: 'grep -E "^(Cap|NoNewPrivs|Seccomp:)" /proc/self/status > status',
    effect: (world) =>
      /^(Cap\w+:\s+0{16}\s+){5}NoNewPrivs:\s+1\s+Seccomp:\s+2$/.test(text(world, 'status'))
        ? undefined
        : text(world, 'status'),
    control: 'outside',
  },
  got('becomes root by a program that runs as root', '$ROOTED -u > id; grep -qx 0 id && cp id got', {
    user: 'ordinary',
    prepare: (world) => {
      world.variables.ROOTED = process.env.ROOTED ?? '/nonexistent';
    },
    needs: ['$ROOTED'],
  }),
  got('becomes root by su', 'echo | su -c "id -u > $WS/got" root; sudo -n id -u > id && cp id got', {
    user: 'ordinary',
    control: 'none',
  }),
  got('changes its user', `perl -e 'open(F, ">", "got"); syscall(117, 1, 1, 1); print F $>'`, {
    user: 'root',
    control: 'outside',
    effect: (world) => (text(world, 'got') === '1' ? 'changed' : undefined),
  }),
  got('creates a user namespace', `unshare -U sh -c 'echo x > got'; unshare -Ur sh -c 'echo x > got'`),
  got('creates a mount namespace', `unshare -m sh -c 'echo x > got'`, { controlAs: 'root' }),
  got('creates a network namespace', `unshare -Urn sh -c 'echo x > got'`),
  got('starts a sandbox of its own', `bwrap --bind / / --dev /dev sh -c 'echo x > got'`),
  call('unshare for a user namespace', `272, ${userNamespace}`),
  call('unshare for a user namespace with high bits', `272, ${userNamespace} | (1 << 32)`, { control: 'none' }),
  call('unshare for a time namespace', '272, 0x10000080'),
  call('mount', '165, my $a = "none", my $c = "/tmp", my $d = "tmpfs", 0, 0', { control: 'none' }),
  call('umount2', '166, my $a = "$ENV{HOME}/.ssh", 2', { control: 'none' }),
  call('pivot_root', '155, my $a = ".", my $c = "."', { control: 'none' }),
  call('chroot', '161, my $a = "/tmp"', { control: 'none' }),
  call('open_tree', '428, -100, my $a = "/", 1', { controlAs: 'root' }),
  call('fsopen', '430, my $a = "tmpfs", 0', { controlAs: 'root' }),
  call(
    'name_to_handle_at',
    '303, -100, my $a = "/tmp", (my $h = pack("II", 128, 0) . "\\0" x 128), (my $i = pack("i", 0)), 0',
  ),
  call('keyctl', '250, 0, -3, 1'),
  call('add_key', '248, my $a = "user", my $c = "probe", my $d = "x", 1, -2'),
  call('io_uring_setup', '425, 1, $b'),
  call('userfaultfd', '323, 0x80801', { controlAs: 'root' }),
  call('bpf', '321, 0, (my $m = pack("IIIII", 2, 4, 4, 1, 0) . "\\0" x 100), 72', { controlAs: 'root' }),
  call('perf_event_open', '298, (my $m = pack("IIQ", 1, 112, 0) . "\\0" x 96), 0, -1, -1, 0', { controlAs: 'root' }),
  call('syslog', '103, 10, 0, 0', { controlAs: 'root' }),
  call('modify_ldt', '154, 0, $b, 256'),
  call('a number of x32', '0x40000000 + 39', { control: 'none' }),
  call('setns', `308, do { open(N, "<", "/proc/self/ns/net"); fileno N }, 0`, { controlAs: 'root' }),
  program(
    'creates a user namespace by clone',
    `char *stack = malloc(65536); int f(void *x) { got(1); return 0; } int pid = clone(f, stack + 65536, CLONE_NEWUSER | SIGCHLD, 0); if (pid > 0) waitpid(pid, 0, 0);`,
  ),
  program(
    'creates a user namespace by clone3',
    `unsigned long long a[11] = { CLONE_NEWUSER, 0, 0, 0, SIGCHLD }; long pid = syscall(435, a, 64); if (pid == 0) { got(1); _exit(0); } if (pid > 0) waitpid(pid, 0, 0);`,
  ),
  program(
    'calls the kernel by the interrupt of 32 bits',
    `long r; __asm__ volatile("int $0x80" : "=a"(r) : "a"(20) : "memory"); if (r > 0) got(r);`,
    { needs: process.arch === 'x64' ? ['gcc'] : ['a processor of x64'] },
  ),
  program(
    'creates a namespace by the interrupt of 32 bits',
    `long r; __asm__ volatile("int $0x80" : "=a"(r) : "a"(310), "b"(${userNamespace}) : "memory"); if (r == 0) got(1);`,
    { needs: process.arch === 'x64' ? ['gcc'] : ['a processor of x64'] },
  ),
  program(
    'reads a file by its handle',
    `struct file_handle *h = malloc(200); int id; h->handle_bytes = 128; if (name_to_handle_at(AT_FDCWD, "/etc", h, &id, 0)) { unsigned v[2] = { 8, 1 }; h->handle_bytes = 8; h->handle_type = 1; *(unsigned long *)h->f_handle = 2; } int m = open("/etc", O_RDONLY); int fd = open_by_handle_at(m, h, O_RDONLY); if (fd >= 0) got(fd);`,
    { controlAs: 'root' },
  ),
  program(
    'writes to the memory of a process outside',
    `char *p = getenv("VICTIM"); char b[8]; FILE *f; char n[64]; unsigned long at = 0; sprintf(n, "/proc/%s/maps", p); f = fopen(n, "r"); if (f) { fscanf(f, "%lx", &at); fclose(f); } struct iovec l = { b, 8 }, r = { (void *)at, 8 }; if (process_vm_readv(atoi(p), &l, 1, &r, 1, 0) == 8) got(1);`,
    { needs: ['gcc'], prepare: (world) => world.startVictim() },
  ),
  socket('a raw socket', '2, 3, 1', { controlAs: 'root' }),
  socket('a raw socket of IPv6', '10, 3, 58', { controlAs: 'root' }),
  socket('a packet socket', '17, 3, 768', { controlAs: 'root' }),
  socket('a socket of the audit', '16, 3, 9'),
  socket('a socket of the kernel events', '16, 3, 15'),
  socket('a socket of netfilter', '16, 3, 12', { controlAs: 'root' }),
  socket('a socket of generic netlink', '16, 3, 16'),
  socket('a socket of the crypto interface', '38, 5, 0', { control: 'none' }),
  socket('a socket to the hypervisor', '40, 1, 0'),
  socket('a Bluetooth socket', '31, 3, 1', { control: 'none' }),
  socket('an SCTP socket', '2, 1, 132', { control: 'none' }),
  got(
    'writes input for a terminal',
    `script -qec "perl -e 'ioctl(STDIN, 0x5412, \\"x\\") and open(F, \\">\\", \\"got\\") and print F 1'" /dev/null < /dev/null`,
    { needs: ['script'], control: 'none' },
  ),
  got(
    'opens a disk, the memory or the log of the kernel',
    'for d in /dev/vda /dev/sda /dev/nvme0n1 /dev/mem /dev/kmsg /dev/loop-control /dev/fuse /dev/kvm /dev/net/tun /dev/userfaultfd; do (: < $d) 2>/dev/null && echo $d >> got; done',
    { controlAs: 'root' },
  ),
  got(
    'traces the kernel',
    'for d in /sys/kernel/tracing/trace /sys/kernel/debug/sleep_time /sys/kernel/security/lsm; do (: >> $d) 2>/dev/null && echo $d >> got; done',
    { control: 'none' },
  ),
];
