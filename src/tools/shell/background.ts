// @invariant background-commands-belong-to-a-window: A background command belongs to its window, neither to a turn nor to the abort

// signal of its call.
import type { CommandEnd, ProcessIdentity } from '../../protocol/run/events.ts';
import { isolated } from '../../protocol/values/listeners.ts';
import { ToolError } from '../core/tool.ts';
import { type Going, GoingCommand } from './backgroundCommand.ts';
import { processIdentity } from './orphanedCommands.ts';
import type { After } from './outputSilence.ts';

/** Commands that may go on at the same time: each keeps a few megabytes of what it writes. */
const mostCommands = 16;
/** Commands that have ended whose output is still in memory. */
const mostEnded = 4;

/** A command in the background, as people are told of it. `startedAt`: epoch milliseconds. */
export type CommandInBackground = Pick<GoingCommand, 'id' | 'runId' | 'toolCallId' | 'line' | 'folder' | 'startedAt'>;

interface BackgroundOptions {
  /** Hears of every end. */
  ended?(command: CommandInBackground, end: CommandEnd): unknown;
  /** Another number of them is at work. */
  changed?(): void;
  /** Keeps what a command of a run has written; gives its content id. */
  keep?(runId: string, text: string): Promise<string>;
  /** Reports what `ended`, `changed` or a listener of output threw: a command ends and is recorded without them, too. */
  onListenerError?(error: unknown): void;
  after?: After;
}

/** The commands of this window that go on when their call has its result: until they end, are stopped, or their run or window ends. */
export class BackgroundCommands {
  readonly after?: After;
  private readonly commands: GoingCommand[] = [];
  /** Resolve when their end is told. */
  private readonly told = new Map<GoingCommand, Promise<unknown>>();
  /** By their mark: those in the foreground that would go on. */
  private readonly offered = new Map<string, () => void>();
  private owner?: Promise<ProcessIdentity | undefined>;
  private isClosing = false;

  private readonly changed: () => void;

  constructor(private readonly options: BackgroundOptions = {}) {
    this.after = options.after;
    this.changed = this.isolated(() => options.changed?.());
  }

  /** Those at work, the oldest first. */
  get atWork(): CommandInBackground[] {
    return this.commands.filter(({ end }) => end === undefined);
  }

  /** One that goes on, or has ended not long ago. Another run's is not found. */
  find(runId: string, id: string): GoingCommand | undefined {
    return this.commands.find((one) => one.runId === runId && one.id === id);
  }

  /** The command with this mark is ours, and its end is told. */
  has(marker: string): boolean {
    return this.commands.some((one) => one.marker === marker && one.end === undefined);
  }

  /** The same words in the same folder, at work in this run. */
  twinOf(runId: string, line: string, folder: string): CommandInBackground | undefined {
    return this.atWork.find((one) => one.runId === runId && one.line.trim() === line.trim() && one.folder === folder);
  }

  /** Throws where one more would be too many. */
  makeRoom(): void {
    if (this.atWork.length >= mostCommands)
      throw new ToolError(
        'TOOL_EXEC_FAILED',
        `${mostCommands} commands are at work in the background. Stop one of them with shell.stop.`,
      );
  }

  /** A command in the foreground that the person can let go on, as long as it is one. */
  offer(marker: string): { asked: Promise<'goes on'>; end(): void } {
    const asked = new Promise<'goes on'>((resolve) => this.offered.set(marker, () => resolve('goes on')));
    return { asked, end: () => void this.offered.delete(marker) };
  }

  /** The person lets it go on. False: it is not there any more. */
  letGoOn(marker: string): boolean {
    const take = this.offered.get(marker);
    take?.();
    return take !== undefined;
  }

  /** From now on it belongs to the window. */
  take(going: Going): GoingCommand {
    this.owner ??= processIdentity(process.pid);
    const command = new GoingCommand(going, { owner: this.owner, after: this.after, keep: this.options.keep });
    this.commands.push(command);
    const told = command.done.then(async (end) => {
      this.forgetOld();
      this.changed();
      try {
        await this.options.ended?.(command, end);
      } catch (error) {
        this.report(error);
      }
    });
    this.told.set(command, told);
    this.changed();
    if (this.isClosing) void command.stop('window');
    return command;
  }

  /** Ends it with all that it has started. Undefined: there is none with this id. */
  async stop(id: string, by: 'person' | 'window'): Promise<CommandEnd | undefined> {
    return this.commands.find((one) => one.id === id)?.stop(by);
  }

  /** All that it has written, as much of it as is kept. */
  textOf(id: string): string | undefined {
    return this.commands.find((one) => one.id === id)?.text();
  }

  lineOf(id: string): string | undefined {
    return this.commands.find((one) => one.id === id)?.line;
  }

  /** Hears when there is more of it; the result ends that. */
  listen(id: string, hear: () => void): () => void {
    return this.commands.find((one) => one.id === id)?.listen(this.isolated(hear)) ?? (() => {});
  }

  /** The run goes. Resolves when nothing of its commands is left, and that is told. */
  async endRun(runId: string): Promise<void> {
    await this.endAll((one) => one.runId === runId);
  }

  /** The window closes. All are asked to end at once; who does not within a second is killed. */
  async close(): Promise<void> {
    this.isClosing = true;
    await this.endAll(() => true, closingGrace);
  }

  private async endAll(which: (one: GoingCommand) => boolean, grace?: number): Promise<void> {
    const all = this.commands.filter(which);
    for (const one of all) void one.stop('window', grace);
    await Promise.all(all.map((one) => this.told.get(one)));
  }

  private isolated(hear: () => unknown): () => void {
    const listen = isolated([hear], (error) => this.report(error));
    return () => listen(undefined);
  }

  private report(error: unknown): void {
    isolated([() => this.options.onListenerError?.(error)], () => {})(error);
  }

  private forgetOld(): void {
    const old = this.commands.filter(({ end }) => end !== undefined).slice(0, -mostEnded);
    for (const one of old) {
      this.commands.splice(this.commands.indexOf(one), 1);
      this.told.delete(one);
    }
  }
}

/** The editor does not wait long for an extension that it closes. */
const closingGrace = 1000;
