import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { LocalizedMessage } from '../../protocol/text/l10n.ts';
import type { CommandTerminal } from '../commandInput/terminal.ts';
import type { SandboxAvailability } from '../core/commandSandbox.ts';
import type { LoopbackAddress } from '../network/listeningSockets.ts';
import type { ExceededLimit } from './commandLimits.ts';

/** Network target of a command: a normalized host name or address. */
export interface NetworkTarget {
  host: string;
  port: number;
}

/** `path`: absolute path of a protected file or folder that a command has changed. */
interface ProtectedChange {
  path: string;
  reason: LocalizedMessage;
}

/** Questions of a command at work. Each resolves to false for a denial, and if nobody can answer. */
export interface SandboxQuestions {
  /** Asked for each host and port that a command connects to; the connection waits for the answer. */
  mayConnect(target: NetworkTarget, signal: AbortSignal): Promise<boolean>;
  /** Asked once at the end of a command, before its changes are kept. */
  mayKeep(changes: readonly ProtectedChange[]): Promise<boolean>;
}

/** `folder`: working folder; `folders`: the open folders; both absolute and real. */
export interface SandboxedCommandRequest {
  runId: string;
  folder: string;
  folders: readonly string[];
  /**
   * The command sees each later change of the open folders, as servers and watchers need it, and can write only in folders that Git ignores.
   * Otherwise it can write in all of the open folders, and does not see what others change meanwhile.
   */
  isLive?: boolean;
  /** The process has a pipe as input, as servers need it; otherwise its input is empty. */
  hasInput?: boolean;
  /** The process has a terminal as input, if there is one. */
  hasTerminal?: boolean;
  /** Folders outside of the workspace that rules allow to write. Those that may not be written any more are left out. */
  allowed?: readonly string[];
  questions: SandboxQuestions;
}

/**
 * Effects of a command that has ended. `blocked`: hosts that it could not reach. `discarded`: protected files whose changes were not kept;
 * `conflicts`: files that something else has changed meanwhile; `special`: pipes, sockets and devices; `failed`: files that the system did
 * not let be changed, with its code. Paths in a window with one folder are relative to it.
 */
export interface SandboxReport {
  blocked: NetworkTarget[];
  discarded: string[];
  conflicts: string[];
  special: string[];
  failed: string[];
  /** Number of files that were changed. */
  changed: number;
  /** Tells if commands may write a path (absolute). */
  isWritable(path: string): boolean;
}

/** Network of the commands of a run, which nothing outside can reach but through it. */
export interface SandboxNetwork {
  /** Process whose files in `/proc` show the sockets of the network. */
  pid: number;
  /** Connects to a port of a command. Rejects with the code of the system. */
  connect(target: { address: LoopbackAddress; port: number }): Promise<Socket>;
}

/** Process of a sandboxed command, in a process group of its own. */
export type SandboxedProcess = ChildProcess & { stdout: Readable; stderr: Readable };

/** Confined start of one command. Its changes are aside until `keep`; without it, nothing has changed. */
export interface SandboxedCommand {
  /** Starts a program, once. `environment`: all its variables. Throws an error with a sentence if that is not possible. */
  spawn(program: readonly string[], environment: NodeJS.ProcessEnv): SandboxedProcess;
  /** Input of the process; its owner closes it. */
  terminal?: CommandTerminal;
  /** Processes that the command leaves behind go on; else all end with it. */
  leavesProcesses?: true;
  /** Returns the limit because of which the command was ended, after its end. Nothing of it must be kept then. */
  exceededLimit(): Promise<ExceededLimit | undefined>;
  /** Variables in addition to those of a command outside. */
  environment: NodeJS.ProcessEnv;
  /** Absent: the network of this machine, confined. */
  network?: SandboxNetwork;
  /** Ends the processes that are left, and keeps the changes. On abort, it rejects unless changes are being applied. */
  keep(signal?: AbortSignal): Promise<SandboxReport>;
  /** Forgets the changes, if not kept. Never rejects. */
  discard(): Promise<void>;
}

/** Runs commands so that the operating system confines them. */
export interface CommandSandbox {
  /** Tests once per window if commands are confined here: a real command must fail to write outside and to connect. */
  availability(): Promise<SandboxAvailability>;
  /** Throws an error with a sentence if the sandbox cannot be set up; nothing has run then. */
  begin(request: SandboxedCommandRequest): Promise<SandboxedCommand>;
  /** Returns the folder that a rule can allow, so that commands can write a path (absolute); undefined if there is none. */
  allowableFolder(path: string, folders: readonly string[]): Promise<string | undefined>;
  /** Ends what is kept for runs: network namespaces and proxies. */
  close(): Promise<void>;
}
