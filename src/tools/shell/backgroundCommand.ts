import { setTimeout as sleep } from 'node:timers/promises';
import type { Background, CommandEnd, ProcessIdentity } from '../../protocol/run/events.ts';
import { beforeStop } from '../core/abortable.ts';
import { CommandOutput } from './output.ts';
import { type After, Quiet } from './outputSilence.ts';
import { endProcesses, graceTime, processLabel } from './processes.ts';
import { type Exit, exitText, type StartedCommand } from './spawnCommand.ts';

/** A command on its way to the background. */
export interface Going {
  runId: string;
  toolCallId: string;
  line: string;
  folder: string;
  started: StartedCommand;
  /** Resolves when its own time limit is over. */
  timedOut?: Promise<'timeout'>;
  /** Nothing of it is needed any more; how it ended, in words. */
  over(how: string): void;
}

interface Ways {
  owner: Promise<ProcessIdentity | undefined>;
  after?: After;
  keep?(runId: string, text: string): Promise<string>;
}

type By = CommandEnd['by'];

/** One command in the background, from the moment it goes on. What it wrote before that has been told. */
export class GoingCommand {
  /** By which its run speaks of it: the beginning of its mark, which no other has. */
  readonly id: string;
  readonly marker: string;
  readonly pid: number;
  readonly runId: string;
  readonly toolCallId: string;
  readonly line: string;
  readonly folder: string;
  readonly startedAt: number;
  /** How it ended, once it has. */
  end?: CommandEnd;
  /** Resolves at its end, when nothing of it is left, or what is left is named. Never rejects. */
  readonly done: Promise<CommandEnd>;
  /** It is at work, and nobody has asked it to end. */
  isWorking = true;
  /** What nobody has read yet. */
  private news = new CommandOutput();
  private hasNews = false;
  private readonly hearers = new Set<() => void>();
  private stopping: (by: By) => void = () => {};
  private grace = graceTime;

  constructor(
    private readonly going: Going,
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
    started.listen((text) => {
      this.news.add(text);
      this.hasNews = true;
      for (const hear of this.hearers) hear();
    });
    this.done = this.untilEnd();
  }

  async background(): Promise<Background> {
    const owner = await this.ways.owner;
    return { id: this.id, ...(owner && { owner }) };
  }

  /** All that it has written, as much of it as is kept. */
  text(): string {
    return this.going.started.kept.text();
  }

  /** What is new since the last time, and how many bytes of that are missing. */
  takeNews(): { text: string; dropped: number } {
    const { news } = this;
    this.news = new CommandOutput();
    this.hasNews = false;
    return { text: news.text(), dropped: news.dropped };
  }

  /** Resolves when there is something new and it is quiet again, after ten seconds, or at its end. Rejects at the stop. */
  async untilNews(signal: AbortSignal): Promise<void> {
    if (this.hasNews || this.end) return;
    const quiet = new Quiet(this.ways.after);
    const unlisten = this.listen(quiet.heard);
    try {
      await beforeStop(signal, Promise.race([quiet.settled, this.done]));
    } finally {
      unlisten();
      quiet.end();
    }
  }

  /** Hears when there is more of it, and at its end; the result ends that. */
  listen(hear: () => void): () => void {
    this.hearers.add(hear);
    return () => this.hearers.delete(hear);
  }

  /** Ends it with all that it has started, and gives how it ended; what has ended stays as it ended. */
  stop(by: By, grace = graceTime): Promise<CommandEnd> {
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
    const how = await Promise.race([ended, stopped, ...(timedOut ? [timedOut] : [])]);
    this.isWorking = false;
    const scope = typeof how === 'string' ? 'all' : 'group'; // what made itself independent stays behind its own end, and is named
    const left = await endProcesses(this.pid, this.marker, scope, () => this.grace).catch(() => []);
    await started.heard(100);
    const exit = typeof how === 'string' ? await Promise.race([ended, sleep(100)]) : how;
    const by = typeof how !== 'string' ? 'itself' : how === 'flooded' ? 'flood' : how;
    const text = this.text();
    const outputId = text === '' ? undefined : await this.ways.keep?.(this.runId, text).catch(() => undefined);
    this.end = {
      by,
      ...(typeof exit === 'object' && exitOf(exit)),
      ...(left.length > 0 && { stillRunning: left.map(processLabel) }),
      ...(outputId && { outputId }),
    };
    this.going.over(typeof how === 'string' ? 'Ended.' : exitText(how));
    for (const hear of this.hearers) hear();
    return this.end;
  }
}

const exitOf = ({ exitCode, signal }: Exit): Pick<CommandEnd, 'exitCode' | 'signal'> => ({
  exitCode,
  ...(signal && { signal }),
});
