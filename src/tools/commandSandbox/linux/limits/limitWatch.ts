import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CommandLimits,
  type ExceededLimit,
  exceededDisk,
  exceededFreeMemory,
  exceededMemory,
  exceededProcesses,
  unknownUse,
} from '../../commandLimits.ts';
import { type MachineUse, readDiskSize, readMachineUse } from './machineUse.ts';
import { type NamespaceView, openNamespaceView } from './namespaceUse.ts';

interface LimitWatchOptions {
  limits: CommandLimits;
  /** Folder on the disk that receives what commands write. */
  folder: string;
  /** First process of the command; undefined if it did not start. */
  first: Promise<number | undefined>;
  /** Returns a limit that the kernel has enforced. Absent: use is read from the processes. */
  enforced?(): Promise<ExceededLimit | undefined>;
  /** Called once, when the command may have an eighth of the processes that it may have. */
  onCrowded?(first: number): void;
  /** Called once, with the limit that the command exceeds. */
  onExceeded(limit: ExceededLimit): void;
}

// Milliseconds between two looks: until the view opens, usually, and when more than half of a limit is used on the machine.
const openingInterval = 5;
const usualInterval = 100;
const busyInterval = 20;
/** Milliseconds between two looks at the processes of a command that uses less than half of its limits. */
const calmInterval = 250;
/** Milliseconds until processes have noticed that they are stopped. */
const restTime = 30;
/** Milliseconds for which Bubblewrap may set up the view. */
const maxOpening = 2000;

/**
 * Watches the use of one command. A command cannot use more than the whole machine does: its processes are read only when the machine uses
 * more than a limit, or has so many new threads that they can exceed one. A usual command costs three small reads ten times a second.
 */
export function watchLimits({ limits, folder, first, enforced, onCrowded, onExceeded }: LimitWatchOptions): {
  end(): void;
} {
  const ended = new AbortController();
  const { signal } = ended;
  watch().catch(() => undefined); // it ends while it waits
  return { end: () => ended.abort() };

  async function watch(): Promise<void> {
    const pid = await first;
    if (pid === undefined || signal.aborted) return;
    const opensUntil = Date.now() + maxOpening;
    let view: NamespaceView | undefined;
    let found: ExceededLimit | undefined;
    let reading: Promise<void> | undefined;
    let nextRead = 0;
    let restsUntil: number | undefined;
    const began = readMachineUse().threads;
    let counted = { all: began, own: 0 };
    try {
      while (!signal.aborted) {
        if (!enforced) view ??= openNamespaceView(pid);
        const isOpening = !enforced && !view && Date.now() < opensUntil;
        let isBusy = true;
        try {
          const machine = readMachineUse();
          isBusy = restsUntil !== undefined || shareOf(machine.usedMemory, machine.threads) > 0.5;
          found ??= findExceeded(machine, pid) ?? (await enforced?.());
        } catch {} // too many open files: the next look is soon
        if (found) return signal.aborted ? undefined : onExceeded(found);
        const interval = isOpening ? openingInterval : isBusy ? busyInterval : usualInterval;
        await sleep(interval, undefined, { signal, ref: false });
      }
    } finally {
      await reading;
      view?.close();
    }

    function findExceeded({ usedMemory, freeMemory, threads }: MachineUse, pid: number): ExceededLimit | undefined {
      if (readDiskSize(folder).freeDisk < limits.minFreeDisk) return exceededDisk(limits);
      if (freeMemory < limits.minFreeMemory) return exceededFreeMemory(limits);
      if (enforced) return undefined;
      if (threads - began > limits.maxProcesses / 8) {
        onCrowded?.(pid);
        onCrowded = undefined;
      }
      const hasGrown = threads - counted.all > limits.maxProcesses - counted.own;
      if (!view) {
        const isUnknown = Date.now() > opensUntil && (hasGrown || usedMemory > limits.maxMemory);
        return isUnknown ? unknownUse(hasGrown ? exceededProcesses(limits) : exceededMemory(limits)) : undefined;
      }
      if (restsUntil !== undefined) return Date.now() < restsUntil ? undefined : countAtRest(view, pid);
      if (hasGrown) {
        send(-pid, 'SIGSTOP');
        restsUntil = Date.now() + restTime;
      }
      if (shareOf(usedMemory, threads) > 1 && Date.now() > nextRead) reading ??= readProcesses(view);
      return undefined;
    }

    /**
     * Counts processes that have been stopped for a moment. Next to a thousand of them that work, it would take seconds, in which they are ten
     * thousand: only a wait and a signal are fast then.
     */
    function countAtRest(view: NamespaceView, pid: number): ExceededLimit | undefined {
      counted = { all: readMachineUse().threads, own: view.countTasks(limits.maxProcesses) };
      if (counted.own > limits.maxProcesses) return exceededProcesses(limits);
      restsUntil = undefined;
      send(-pid, 'SIGCONT');
      return undefined;
    }

    /** Does not wait for many files of many processes: they are counted meanwhile. */
    async function readProcesses(view: NamespaceView): Promise<void> {
      try {
        const { tasks, memory } = await view.read(limits.maxMemory);
        if (tasks > limits.maxProcesses) found = exceededProcesses(limits);
        else if (memory > limits.maxMemory) found = exceededMemory(limits);
        if (shareOf(memory, tasks) < 0.5) nextRead = Date.now() + calmInterval;
      } catch {
        // its processes have ended
      } finally {
        reading = undefined;
      }
    }
  }

  function shareOf(memory: number, tasks: number): number {
    return Math.max(memory / limits.maxMemory, tasks / limits.maxProcesses);
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // already gone
  }
}
