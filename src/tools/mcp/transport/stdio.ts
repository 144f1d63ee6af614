import { type ChildProcess, spawn as nodeSpawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { type LocalizedMessage, message } from '../../../protocol/text/l10n.ts';
import { UserFacingError } from '../../../protocol/text/localized.ts';
import type { SandboxedCommand } from '../../commandSandbox/commandSandbox.ts';
import { currentProgramEnvironment, resolveProgramPath } from '../../core/programs.ts';
import { commandEnvironment } from '../../shell/environment.ts';
import { TerminalOutputCleaner } from '../../shell/output.ts';
import { endCommandProcesses } from '../../shell/processes.ts';
import type { StdioServerConfig } from '../config/config.ts';
import { normalizeJsonRpcMessage } from '../forms/messageForms.ts';
import type { McpSdk } from '../loadSdk.ts';

export const maxServerMessageBytes = 8 * 1024 * 1024;
export const messageTooLongReason = message('sent a message of more than {0} MiB', maxServerMessageBytes / 1024 / 1024);
const stderrLimit = 2_000_000;
// Tolerated lines of plain text on stdout: some servers print a greeting.
const chatterLimit = 100;
// Milliseconds for a server to exit after its input closes.
const goodbyeTime = 300;

interface StdioHooks {
  log(text: string): void;
  errors(text: string): void;
  fault(what: LocalizedMessage, died?: boolean): void;
  confine?(launch: StdioServerConfig): Promise<SandboxedCommand | undefined>;
}

/** Reason why a server cannot be used, as the end of a sentence. */
export class McpServerFault extends UserFacingError {}

// The client takes a transport with these members for a process, which may stay silent in answer to `server/discover`.
const processMark = { pid: null, stderr: null };

/**
 * Creates the stdio transport: a child process with one JSON message per line (MCP specification, transports). Unlike the client's: a process
 * group that ends together, an environment without the editor's secrets, and a limit for incomplete lines.
 */
export function stdioTransport(launch: StdioServerConfig, sdk: McpSdk, hooks: StdioHooks): Transport {
  const marker = randomUUID();
  let child: ChildProcess | undefined;
  let confined: SandboxedCommand | undefined;
  let closing: Promise<void> | undefined;
  let ended: Promise<unknown> = Promise.resolve();
  let chatter = 0;

  const transport: Transport & typeof processMark = {
    ...processMark,
    start: async () => {
      confined = await hooks.confine?.(launch);
      if (closing) await confined?.discard();
      await new Promise<void>((resolve, reject) => {
        if (closing) return reject(new Error('it is not running'));
        child = confined ? startConfined(launch, confined, marker) : start(launch, sdk, marker);
        if (confined) resolve(); // the process waited for its program
        ended = new Promise((done) => child!.once('exit', done).once('error', done));
        child.once('spawn', resolve);
        child.once('error', (error: NodeJS.ErrnoException) => {
          hooks.log(`(not started) ${error.message}`);
          reject(notStarted(error.code));
          transport.onclose?.();
        });
        const errorOutput = readErrors(child, hooks);
        child.once('exit', async (code, signal) => {
          await Promise.race([errorOutput, sleep(goodbyeTime)]); // the reason may still be in the pipe
          if (closing) return;
          const reason = signal ? message('signal {0}', signal) : message('code {0}', `${code}`);
          hooks.fault(message('ended on its own ({0})', reason), true);
          void transport.close();
        });
        child.stdin!.on('error', () => {}); // the exit event reports the end
        readLines(child, hooks, (line) => receive(line));
      });
    },
    send: (message) =>
      new Promise((resolve, reject) => {
        const input = child?.stdin;
        if (!input?.writable) return reject(new Error('it is not running'));
        if (input.write(`${JSON.stringify(message)}\n`)) return resolve();
        input.once('drain', resolve).once('close', resolve);
      }),
    close: () => {
      closing ??= end();
      return closing;
    },
  };
  return transport;

  async function end(): Promise<void> {
    const { pid } = child ?? {};
    child?.stdin?.end();
    child?.stdout?.destroy();
    if (child && pid !== undefined) {
      await Promise.race([ended, sleep(goodbyeTime)]);
      await endCommandProcesses(pid, marker, confined && !confined.leavesProcesses ? 'group' : 'all');
      child.stderr?.destroy();
      child.unref();
    }
    if (confined) await settle(confined);
    transport.onclose?.();
  }

  async function settle(sandboxed: SandboxedCommand): Promise<void> {
    try {
      const exceeded = await sandboxed.exceededLimit();
      if (exceeded) hooks.log(exceeded.message);
      if (child && !exceeded) await sandboxed.keep();
    } catch (error) {
      hooks.log(`Its changes were not kept: ${(error as Error).message}`);
    }
    await sandboxed.discard();
  }

  function receive(line: string): void {
    if (closing || line.trim() === '') return;
    if (!/^\s*[[{]/.test(line)) {
      chatter += 1;
      hooks.log(`(on its output) ${line.slice(0, 500)}`);
      if (chatter > chatterLimit) hooks.fault(message('uses text where messages are expected'));
      return;
    }
    let rpcMessage: JSONRPCMessage;
    try {
      rpcMessage = sdk.JSONRPCMessageSchema.parse(normalizeJsonRpcMessage(JSON.parse(line)));
    } catch {
      hooks.fault(message('sent something that is not a JSON-RPC message'));
      return;
    }
    transport.onmessage?.(rpcMessage);
  }
}

// Returns the fault of a failed start by the system's error code, which only the log shows.
function notStarted(code: string | undefined): McpServerFault {
  if (code === 'ENOENT') return new McpServerFault(message('could not be started: its command was not found'));
  if (code === 'EACCES') return new McpServerFault(message('could not be started: its command may not be run'));
  return new McpServerFault(message('could not be started'));
}

const environmentOf = ({ env }: StdioServerConfig, marker: string, more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries({ ...commandEnvironment(process.env, marker), ...more, ...env }).filter(
      ([, value]) => value !== null,
    ),
  ) as NodeJS.ProcessEnv;

const startConfined = (launch: StdioServerConfig, confined: SandboxedCommand, marker: string): ChildProcess =>
  confined.spawn([launch.command, ...launch.args], environmentOf(launch, marker, confined.environment));

function start(launch: StdioServerConfig, sdk: McpSdk, marker: string): ChildProcess {
  const options = {
    cwd: launch.cwd,
    env: environmentOf(launch, marker),
    stdio: 'pipe' as const,
    detached: process.platform !== 'win32',
    windowsHide: true,
  };
  const program = resolveProgramPath(launch.command, { ...currentProgramEnvironment(), env: options.env });
  if (program === undefined) throw notStarted('ENOENT');
  // On Windows, `npx` and similar programs are scripts that need a shell; the library handles this.
  return (process.platform === 'win32' ? sdk.spawn : nodeSpawn)(program, launch.args, options);
}

function readLines(child: ChildProcess, hooks: StdioHooks, receive: (line: string) => void): void {
  let pieces: Buffer[] = [];
  let size = 0;
  const stop = () => {
    child.stdout!.off('data', take);
    child.stdout!.resume();
  };
  const take = (chunk: Buffer) => {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      pieces.push(chunk.subarray(from, end));
      const line = Buffer.concat(pieces).toString('utf8');
      pieces = [];
      size = 0;
      from = end + 1;
      receive(line);
      if (child.stdout!.destroyed) return;
    }
    const rest = chunk.subarray(from);
    pieces.push(rest);
    size += rest.length;
    if (size <= maxServerMessageBytes) return;
    pieces = [];
    stop();
    hooks.fault(messageTooLongReason);
  };
  child.stdout!.on('data', take).on('error', () => {});
}

function readErrors(child: ChildProcess, hooks: StdioHooks): Promise<unknown> {
  const cleaner = new TerminalOutputCleaner();
  let left = stderrLimit;
  child.stderr!.on('error', () => {});
  child.stderr!.on('data', (chunk: Buffer) => {
    if (left <= 0) return;
    const text = cleaner.add(chunk).replaceAll('\r', '\n').slice(0, left);
    left -= text.length;
    hooks.errors(left > 0 ? text : `${text}\n(it writes too much: the rest is left out)`);
  });
  return new Promise((resolve) => child.stderr!.once('close', resolve));
}
