import os from 'node:os';
import type { RunEvent, StoredEvent } from '../../protocol/run/events.ts';
import { type LogLine, logLineOf } from '../../protocol/run/logLine.ts';
import { type Hidden, redacted } from '../settings/redactSettings.ts';

/** Where lines go: an output channel of the editor, by level. */
type Channel = Record<LogLine['level'], (text: string) => void>;

/**
 * *Towpath: Show Log*: what happens in runs, as it happens, a line for each event that says something. Keys and home folders are not in
 * it, and nothing of what is said or read.
 */
export class RunLogs {
  private readonly waiting: RunEvent[] = [];
  private flushing?: Promise<void>;

  /** @param secrets every saved key, as they are now */
  constructor(
    private readonly channel: Channel,
    private readonly secrets: () => Promise<string[]>,
    private readonly home = os.homedir(),
  ) {}

  told(event: RunEvent): void {
    if (event.type === 'chunk' || event.type === 'tool-output') return; // there are thousands of them, and none has a line
    this.waiting.push(event);
    this.flushing ??= this.flush().finally(() => {
      this.flushing = undefined;
    });
  }

  /** Resolves when what was told is in the log. */
  async written(): Promise<void> {
    while (this.flushing) await this.flushing;
  }

  private async flush(): Promise<void> {
    while (this.waiting.length > 0) {
      const secrets = await this.secrets().catch(() => undefined);
      for (const event of this.waiting.splice(0)) {
        if (!secrets) continue; // what cannot be hidden is not shown
        const line = logLineOf(event, (text) => redacted(text, { secrets, home: this.home }));
        if (line) this.channel[line.level](`${shortId(event.runId)} ${line.text}`);
      }
    }
  }
}

/** What is kept of a run as its log would have it, for a report about a fault. `about`: what it ran in, a line each. */
export function logOfRun(
  { events, damage }: { events: readonly StoredEvent[]; damage: readonly string[] },
  about: readonly string[],
  hidden: Hidden,
): string {
  const hide = (text: string) => redacted(text, hidden);
  const lines = events.flatMap((event) => {
    const line = logLineOf(event, hide);
    return line ? [`${timeOf(event.at)} [${line.level}] ${line.text}`] : [];
  });
  const wounds = damage.map((text) => `The record is damaged: ${text}.`);
  return [...about.map(hide), ...wounds, '', ...lines, ''].join('\n');
}

/** The beginning of a run's id is enough to tell it from others. */
export const shortId = (runId: string): string => runId.slice(0, 'run-12345678'.length);

/** A damaged clock is no reason for having no log. */
const timeOf = (at: number): string => {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? '?' : time.toISOString();
};
