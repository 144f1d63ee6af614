import { statfsSync } from 'node:fs';
import type { ExceededLimit } from '../../../../src/tools/commandSandbox/commandLimits.ts';
import type { Probe, ProbeWorld } from './probe.ts';
import { processesWith } from './world.ts';

const megabyte = 1024 ** 2;

/** Effect: the command was ended for a reason, has changed nothing, and has left no process. */
const isEndedFor = (reason: ExceededLimit['reason']) => (world: ProbeWorld) => {
  const { exceeded, leftAtEnd, tag } = world;
  const left = [...leftAtEnd, ...processesWith(tag)];
  return exceeded?.reason === reason && world.changes('ws').length === 0 && left.length === 0 ? reason : undefined;
};

const endedFor = (
  name: string,
  script: string,
  reason: ExceededLimit['reason'],
  limits: Probe['limits'],
  other: Partial<Probe> = {},
): Probe => ({
  ...{ name, limits, ending: 'limit', effect: isEndedFor(reason), control: 'none', ...other },
  script: `echo x > new; echo x > file; ${script}\nsleep 1000`,
});

const python = { needs: ['python3'] };
const fewProcesses = { maxProcesses: 200 };
const littleMemory = { maxMemory: 256 * megabyte };

/** Low limits: they end a command long before it concerns the machine, which could bear what the commands start without a limit, too. */
export const limits: readonly Probe[] = [
  endedFor(
    'doubles its processes',
    `f() { [ $1 -gt 11 ] && exec sleep 1000; f $(($1 + 1)) | f $(($1 + 1)) & }; f 0`,
    'PROCESS_LIMIT',
    fewProcesses,
  ),
  endedFor(
    'starts processes in sessions of their own',
    'export f=\'[ $0 -gt 11 ] || { for i in 1 2; do setsid bash -c "$f" $(($0 + 1)) & done; wait; }; sleep 1000\'; bash -c "$f" 0',
    'PROCESS_LIMIT',
    fewProcesses,
  ),
  endedFor(
    'starts processes that wait',
    `for i in {1..300}; do bash -c 'exec -a $TAG sleep 1000' & done`,
    'PROCESS_LIMIT',
    fewProcesses,
  ),
  endedFor(
    'starts threads',
    `python3 -c 'import threading, time
for at in range(300): threading.Thread(target=time.sleep, args=(1000,)).start()'`,
    'PROCESS_LIMIT',
    fewProcesses,
    python,
  ),
  endedFor(
    'allocates memory',
    `python3 -c 'import time
blocks = [bytearray(8 << 20) for at in range(80)]
time.sleep(1000)'`,
    'MEMORY_LIMIT',
    littleMemory,
    python,
  ),
  endedFor(
    'allocates memory in many processes',
    `for i in {1..20}; do python3 -c 'import time
block = bytearray(32 << 20)
time.sleep(1000)' & done`,
    'MEMORY_LIMIT',
    littleMemory,
    python,
  ),
  endedFor(
    'writes files in memory',
    'dd if=/dev/zero of=/dev/shm/x bs=1M count=640 2> /dev/null',
    'MEMORY_LIMIT',
    littleMemory,
  ),
  endedFor('fills the disk', 'dd if=/dev/zero of=big bs=1M count=1500 2> /dev/null', 'DISK_LIMIT', freeDiskLess),
  endedFor(
    'fills the disk with temporary files',
    'dd if=/dev/zero of=/tmp/big bs=1M count=1500 2> /dev/null',
    'DISK_LIMIT',
    freeDiskLess,
  ),
  {
    name: 'shares memory among processes',
    script: `python3 -c 'import os, time
block = bytearray(64 << 20)
for at in range(8):
  if os.fork() == 0: time.sleep(1.5); os._exit(0)
for at in range(8): os.wait()' && echo x > new`,
    limits: littleMemory,
    effect: ({ exceeded, changes }) => (exceeded ? undefined : changes('ws').join(', ') || undefined),
    control: 'none',
    ...python,
  },
  {
    name: 'stays below its limits',
    script: `for i in {1..100}; do sleep 1 & done; wait; echo x > new`,
    limits: { ...fewProcesses, ...littleMemory },
    effect: ({ exceeded, changes }) => (exceeded ? undefined : changes('ws').join(', ') || undefined),
    control: 'none',
  },
];

function freeDiskLess({ store }: ProbeWorld) {
  const { bavail, bsize } = statfsSync(store);
  return { minFreeDisk: bavail * bsize - 500 * megabyte };
}
