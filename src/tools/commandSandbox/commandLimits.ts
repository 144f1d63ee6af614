import type { OutcomeReason } from '../../protocol/text/codes.ts';

/** Limit because of which a command was ended. `message` is a sentence for the model. */
export interface ExceededLimit {
  reason: Extract<OutcomeReason, 'MEMORY_LIMIT' | 'PROCESS_LIMIT' | 'DISK_LIMIT'>;
  message: string;
}

/** Limits of one sandboxed command with all of its processes. */
export interface CommandLimits {
  /** Bytes of memory, with files in memory and swapped memory. */
  maxMemory: number;
  /** Processes and threads. */
  maxProcesses: number;
  /** Bytes of memory of the machine that stay free. */
  minFreeMemory: number;
  /** Bytes that stay free on the disk that receives what commands write. */
  minFreeDisk: number;
}

const megabyte = 1024 ** 2;
const gigabyte = 1024 ** 3;

/** A browser test or a parallel build has hundreds of them; next to more that work, the machine answers late. */
const maxProcesses = 2048;

/** Bytes of a machine, or of the container in which the editor runs. `free…` are those at the start of the command. */
interface MachineSize {
  memory: number;
  freeMemory: number;
  disk: number;
  freeDisk: number;
}

/** Returns the limits of a command that starts now. A machine that is nearly full already ends no command before it has used something. */
export const limitsFor = ({ memory, freeMemory, disk, freeDisk }: MachineSize): CommandLimits => ({
  maxMemory: Math.round(memory * 0.75),
  maxProcesses,
  minFreeMemory: Math.min(512 * megabyte, memory / 16, freeMemory / 2),
  minFreeDisk: Math.min(gigabyte, disk / 20, freeDisk / 2),
});

export const exceededMemory = ({ maxMemory }: CommandLimits): ExceededLimit => ({
  reason: 'MEMORY_LIMIT',
  message: `The command used more than ${size(maxMemory)} of memory and was stopped.`,
});

export const exceededProcesses = ({ maxProcesses }: CommandLimits): ExceededLimit => ({
  reason: 'PROCESS_LIMIT',
  message: `The command had more than ${maxProcesses} processes and threads and was stopped.`,
});

export const exceededFreeMemory = ({ minFreeMemory }: CommandLimits): ExceededLimit => ({
  reason: 'MEMORY_LIMIT',
  message: `The machine had less than ${size(minFreeMemory)} of free memory, so that the command was stopped.`,
});

export const exceededDisk = ({ minFreeDisk }: CommandLimits): ExceededLimit => ({
  reason: 'DISK_LIMIT',
  message: `Less than ${size(minFreeDisk)} was free on the disk, so that the command was stopped.`,
});

/** @param limit the one that the machine has nearly reached without a view of the command */
export const unknownUse = (limit: ExceededLimit): ExceededLimit => ({
  reason: limit.reason,
  message: 'The memory and the processes of the command could not be read, so that it was stopped.',
});

const size = (bytes: number): string =>
  bytes >= gigabyte ? `${Number((bytes / gigabyte).toFixed(1))} GB` : `${Math.max(1, Math.round(bytes / megabyte))} MB`;
