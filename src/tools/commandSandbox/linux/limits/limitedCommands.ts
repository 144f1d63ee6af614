import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type CommandLimits, type ExceededLimit, limitsFor } from '../../commandLimits.ts';
import { type CommandCgroup, createCommandCgroup, findCgroupParent } from './commandCgroup.ts';
import { watchLimits } from './limitWatch.ts';
import { readDiskSize, readMachineUse, totalMemory } from './machineUse.ts';

interface LimitedCommandsOptions {
  /** Folder on the disk that receives what commands write. */
  folder: string;
  /** Path of a shell. */
  shell: string;
  /** Limits in place of those of the machine. */
  limits?: Partial<CommandLimits>;
}

/** Limits of one command at work. */
interface LimitedCommand {
  /** Call before the command starts in a process. Throws if it cannot be limited. */
  enter(pid: number): void;
  /**
   * Watches the command.
   * @param first process id of its first process
   * @param stop ends all processes; called at most once
   */
  started(first: Promise<number | undefined>, stop: () => void): void;
  /** Returns the limit because of which it was ended, after its end. */
  exceeded(): Promise<ExceededLimit | undefined>;
  /** Stops watching. */
  end(): void;
  /** Call when all processes have ended. Never rejects. */
  remove(): Promise<void>;
}

/** Limits the memory, the processes and the disk of commands: by a cgroup of each where the user can create it, and else by watching. */
export function createLimitedCommands({ folder, shell, limits: changed }: LimitedCommandsOptions) {
  let parent: Promise<string | undefined> | undefined;

  return async (): Promise<LimitedCommand> => {
    const limits: CommandLimits = { ...machineLimits(folder), ...changed };
    parent ??= findCgroupParent(limits, (use) => withWaitingProcess(shell, use));
    const cgroup = await createIn(await parent, limits);
    let exceeded: ExceededLimit | undefined;
    let watch: { end(): void } | undefined;
    return {
      enter: (pid) => cgroup?.enter(pid),
      started(first, stop) {
        const onExceeded = (limit: ExceededLimit) => {
          exceeded = limit;
          stop();
        };
        watch = watchLimits({
          limits,
          folder,
          first,
          enforced: cgroup?.exceeded,
          onCrowded: lowerPriority,
          onExceeded,
        });
      },
      exceeded: async () => exceeded ?? (await cgroup?.exceeded()),
      end: () => watch?.end(),
      remove: async () => cgroup?.remove(),
    };
  };
}

const machineLimits = (folder: string): CommandLimits =>
  limitsFor({ memory: totalMemory(), freeMemory: readMachineUse().freeMemory, ...readDiskSize(folder) });

/** A cgroup that cannot be created any more is replaced by watching. */
async function createIn(parent: string | undefined, limits: CommandLimits): Promise<CommandCgroup | undefined> {
  return parent === undefined ? undefined : createCommandCgroup(parent, limits).catch(() => undefined);
}

/** Lowers the priority of many processes, so that the editor still works next to them. */
function lowerPriority(group: number): void {
  execFile('renice', ['-n', '10', '-g', String(group)], { cwd: '/' }, () => {}); // without it, the editor is slower
}

async function withWaitingProcess(shell: string, use: (pid: number) => void): Promise<void> {
  const child = spawn(shell, ['-c', 'read line'], { cwd: '/', stdio: ['pipe', 'ignore', 'ignore'] });
  const ended = once(child, 'exit');
  child.stdin.on('error', () => {}); // it has ended
  try {
    if (child.pid !== undefined) use(child.pid);
  } finally {
    child.stdin.end();
    await ended;
  }
}
