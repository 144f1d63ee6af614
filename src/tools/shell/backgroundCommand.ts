import { setTimeout as sleep } from 'node:timers/promises';
import type { BackgroundCommandStart, CommandEnd, ProcessIdentity } from '../../protocol/content/commandRecord.ts';
import { raceWithAbort } from '../../protocol/values/abort.ts';
import type { SandboxNetwork } from '../commandSandbox/commandSandbox.ts';
import { throwInterrupted } from '../core/interruption.ts';
import { CommandOutput } from './output.ts';
import { type DelayScheduler, OutputSilenceDetector } from './outputSilence.ts';
import { endCommandProcesses, processEndGraceMs, processLabel } from './processes.ts';
import { type CommandExit, formatCommandExit, type StartedCommand } from './spawnCommand.ts';

/**
 * Command on the way to the background. `timedOut` resolves at the timeout; `network` is that of a sandbox; `note` returns what the model
 * must know about the sandbox after the end; `over` releases the resources with a text about the end.
 */
export interface DetachingCommand {
  runId: string;
  toolCallId: string;
  line: string;
  folder: string;
  started: StartedCommand;
  timedOut?: Promise<'timeout'>;
  network?: SandboxNetwork;
  note?(end: CommandExit): Promise<string | undefined>;
  over(reason: string): void;
}

interface Ways {
  owner: Promise<ProcessIdentity | undefined>;
  after?: DelayScheduler;
  keep?(runId: string, text: string): Promise<string>;
}

type By = CommandEnd['by'];

export class RunningCommand {
  /** Id for the run: the unique beginning of the marker. */
  readonly id: string;
  readonly marker: string;
  readonly pid: number;
  readonly runId: string;
  readonly toolCallId: string;
  readonly line: string;
  readonly folder: string;
  readonly startedAt: number;
  /** Absent: the command uses the network of this machine. */
  readonly network?: SandboxNetwork;
  end?: CommandEnd;
  /** Resolves at the end, after all processes are gone or the remaining ones are named. Never rejects. */
  readonly done: Promise<CommandEnd>;
  /** True until the end or a stop request. */
  isWorking = true;
  /** False while a sandbox keeps its changes aside. */
  changesFiles: boolean;
  private news = new CommandOutput();
  private hasNews = false;
  private readonly listeners = new Set<() => void>();
  private stopping: (by: By) => void = () => {};
  private grace = processEndGraceMs;

  constructor(
    private readonly going: DetachingCommand,
    private readonly ways: Ways,
  ) {
    const { started, runId, toolCallId, line, folder } = going;
    this.runId = runId;
    this.toolCallId = toolCallId;
    this.line = line;
    this.folder = folder;
    this.startedAt = started.startedAt;
    this.marker = started.marker;
    this.id = started.marker.slice(0, 8);
    this.pid = started.pid!;
    if (going.network) this.network = going.network;
    this.changesFiles = !going.network;
    started.listen((text) => {
      this.news.add(text);
      this.hasNews = true;
      for (const listener of this.listeners) listener();
    });
    this.done = this.untilEnd();
  }

  async background(): Promise<BackgroundCommandStart> {
    const owner = await this.ways.owner;
    return { id: this.id, ...(owner && { owner }) };
  }

  text(): string {
    return this.going.started.output.text();
  }

  /** Returns new output since the last call, and the number of dropped bytes. */
  takeNews(): { text: string; dropped: number } {
    const { news } = this;
    this.news = new CommandOutput();
    this.hasNews = false;
    return { text: news.text(), dropped: news.dropped };
  }

  /** Resolves on new output followed by silence, after ten seconds, or at the end. Rejects on abort. */
  async untilNews(signal: AbortSignal): Promise<void> {
    if (this.hasNews || this.end) return;
    const quiet = new OutputSilenceDetector(this.ways.after);
    const unlisten = this.listen(quiet.onOutput);
    try {
      await raceWithAbort(Promise.race([quiet.settled, this.done]), signal, throwInterrupted);
    } finally {
      unlisten();
      quiet.end();
    }
  }

  /** Calls `listener` on new output and at the end; returns a function to unsubscribe. */
  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Stops the command with all processes and returns the end; an ended command stays unchanged. */
  stop(by: By, grace = processEndGraceMs): Promise<CommandEnd> {
    this.grace = Math.min(this.grace, grace);
    this.stopping(by);
    return this.done;
  }

  private async untilEnd(): Promise<CommandEnd> {
    const { started, timedOut } = this.going;
    const stopped = new Promise<By>((resolve) => {
      this.stopping = resolve;
    });
    const ended = started.ended.catch(() => ({ exitCode: null, signal: null }));
    const reason = await Promise.race([ended, stopped, ...(timedOut ? [timedOut] : [])]);
    this.isWorking = false;
    if (typeof reason === 'string') started.abandon();
    const scope = typeof reason === 'string' ? 'all' : 'group'; // a process that left the group survives a normal end and is named
    const left = await endCommandProcesses(this.pid, this.marker, scope, { grace: () => this.grace }).catch(() => []);
    await started.waitForOutput(100);
    const exit = typeof reason === 'string' ? await Promise.race([ended, sleep(100)]) : reason;
    const by = typeof reason !== 'string' ? 'itself' : reason === 'flooded' ? 'flood' : reason;
    const text = this.text();
    const note = by === 'itself' && typeof exit === 'object' ? await this.going.note?.(exit) : undefined;
    const outputId = text === '' ? undefined : await this.ways.keep?.(this.runId, text).catch(() => undefined);
    this.end = {
      by,
      ...(typeof exit === 'object' && exitOf(exit)),
      ...(left.length > 0 && { stillRunning: left.map(processLabel) }),
      ...(outputId && { outputId }),
      ...(note && { note }),
    };
    this.going.over(typeof reason === 'string' ? 'Ended.' : formatCommandExit(reason));
    for (const listener of this.listeners) listener();
    return this.end;
  }
}

const exitOf = ({ exitCode, signal }: CommandExit): Pick<CommandEnd, 'exitCode' | 'signal'> => ({
  exitCode,
  ...(signal && { signal }),
});
