// @invariant background-commands-belong-to-a-window: A background command belongs to its window, neither to a turn nor to the abort
// signal of its call.
import type { CommandEnd, ProcessIdentity } from '../../protocol/content/commandRecord.ts';
import { createIsolatedListener } from '../../protocol/values/listeners.ts';
import { CommandPrompts } from '../commandInput/commandPrompts.ts';
import { ToolError } from '../core/tool.ts';
import { type DetachingCommand, RunningCommand } from './backgroundCommand.ts';
import { processIdentity } from './orphanedCommands.ts';
import type { DelayScheduler } from './outputSilence.ts';

// Maximum background commands: each stores a few megabytes of output.
const maxCommands = 16;
const maxEnded = 4;

/** Background command for display. `startedAt`: epoch milliseconds. */
export type BackgroundCommandInfo = Pick<
  RunningCommand,
  'id' | 'runId' | 'toolCallId' | 'line' | 'folder' | 'startedAt' | 'network' | 'changesFiles'
>;

// Listeners of background commands. `keep` stores the output of a run's command and returns the content id. `applying` is called when a
// sandbox begins to apply the changes of a command.
interface BackgroundOptions {
  applying?(command: BackgroundCommandInfo): unknown;
  ended?(command: BackgroundCommandInfo, end: CommandEnd): unknown;
  changed?(): void;
  keep?(runId: string, text: string): Promise<string>;
  /** Receives exceptions of listeners; the record of a command does not depend on listeners. */
  onListenerError?(error: unknown): void;
  /** A user is there to answer commands that ask. */
  takesInput?: boolean;
  after?: DelayScheduler;
}

/**
 * Background commands of this window, from the end of the call until the command exits or is stopped, or until the run or the window ends.
 */
export class BackgroundCommands {
  readonly after?: DelayScheduler;
  /** Prompts of the commands of this window, in the background or not. Absent: their input is empty. */
  readonly prompts?: CommandPrompts;
  private readonly commands: RunningCommand[] = [];
  private readonly reports = new Map<RunningCommand, Promise<unknown>>();
  private readonly offered = new Map<string, () => void>();
  /** Markers of commands that the user wants in the background, and that are not at work. */
  private readonly askedEarly = new Set<string>();
  private owner?: Promise<ProcessIdentity | undefined>;
  private isClosing = false;

  private readonly changed: () => void;

  constructor(private readonly options: BackgroundOptions = {}) {
    this.after = options.after;
    this.changed = this.isolated(() => options.changed?.());
    if (options.takesInput) this.prompts = new CommandPrompts(this.changed);
  }

  get atWork(): BackgroundCommandInfo[] {
    return this.commands.filter(({ end }) => end === undefined);
  }

  find(runId: string, id: string): RunningCommand | undefined {
    return this.commands.find((one) => one.runId === runId && one.id === id);
  }

  /** Tells whether the command is at work, or its end is being recorded. */
  has(marker: string): boolean {
    return this.commands.some((one) => one.marker === marker && this.reports.has(one));
  }

  twinOf(runId: string, line: string, folder: string): BackgroundCommandInfo | undefined {
    return this.atWork.find((one) => one.runId === runId && one.line.trim() === line.trim() && one.folder === folder);
  }

  /** Throws if the maximum is reached. */
  dropOldest(): void {
    if (this.atWork.length >= maxCommands)
      throw new ToolError(
        'TOOL_EXEC_FAILED',
        `${maxCommands} commands are at work in the background. Stop one of them with shell.stop.`,
      );
  }

  /** Offers the user to move a foreground command to the background until `end` is called. The user may have asked before. */
  offer(marker: string): { asked: Promise<'goes on'>; end(): void } {
    const asked = new Promise<'goes on'>((resolve) => {
      if (this.askedEarly.delete(marker)) resolve('goes on');
      this.offered.set(marker, () => resolve('goes on'));
    });
    return { asked, end: () => void this.offered.delete(marker) };
  }

  /** Moves a command to the background, at its start if it has not started. Returns false if it is not at work. */
  letGoOn(marker: string): boolean {
    const take = this.offered.get(marker);
    if (take) take();
    else this.askedEarly.add(marker);
    return take !== undefined;
  }

  take(going: DetachingCommand): RunningCommand {
    this.owner ??= processIdentity(process.pid);
    const command = new RunningCommand(going, { owner: this.owner, after: this.after, keep: this.options.keep });
    this.commands.push(command);
    const report = command.done.then(async (end) => {
      this.forgetOld();
      this.changed();
      try {
        await this.options.ended?.(command, end);
      } catch (error) {
        this.report(error);
      } finally {
        this.reports.delete(command);
      }
    });
    this.reports.set(command, report);
    this.changed();
    if (this.isClosing) void command.stop('window');
    return command;
  }

  /** Returns a command of any run; ended ones are forgotten after a while. */
  commandOf(id: string): RunningCommand | undefined {
    return this.commands.find((one) => one.id === id);
  }

  /** Call when the sandbox of a command begins to apply its changes. */
  applies(command: RunningCommand): void {
    command.changesFiles = true;
    this.isolated(() => this.options.applying?.(command))();
  }

  async stop(id: string, by: 'person' | 'window'): Promise<CommandEnd | undefined> {
    return this.commandOf(id)?.stop(by);
  }

  textOf(id: string): string | undefined {
    return this.commandOf(id)?.text();
  }

  /** Calls `listener` on new output; returns a function to unsubscribe. */
  listen(id: string, listener: () => void): () => void {
    return this.commandOf(id)?.listen(this.isolated(listener)) ?? (() => {});
  }

  async endRun(runId: string): Promise<void> {
    await this.endAll((one) => one.runId === runId);
  }

  /** Stops all commands when the window closes; kills the rest after one second. */
  async close(): Promise<void> {
    this.isClosing = true;
    await this.endAll(() => true, closingGrace);
  }

  private async endAll(which: (one: RunningCommand) => boolean, grace?: number): Promise<void> {
    const all = this.commands.filter(which);
    for (const one of all) void one.stop('window', grace);
    await Promise.all(all.map((one) => this.reports.get(one)));
  }

  private isolated(listener: () => unknown): () => void {
    const listen = createIsolatedListener([listener], (error) => this.report(error));
    return () => listen(undefined);
  }

  private report(error: unknown): void {
    createIsolatedListener([() => this.options.onListenerError?.(error)], () => {})(error);
  }

  private forgetOld(): void {
    const old = this.commands.filter((one) => !this.reports.has(one)).slice(0, -maxEnded);
    for (const one of old) this.commands.splice(this.commands.indexOf(one), 1);
  }
}

// Milliseconds until the kill: the editor waits only briefly for extensions.
const closingGrace = 1000;
