import os from 'node:os';
import type { RunEvent, StoredEvent } from '../../protocol/run/events.ts';
import { type LogLine, logLineOf } from '../../protocol/run/logLine.ts';
import { redactForReport, type ValuesToRedact } from '../settings/redactSettings.ts';

type Channel = Record<LogLine['level'], (text: string) => void>;

/** Implements *Towpath: Show Log*: a line per informative event, without keys, home folders and message content. */
export class RunLogChannel {
  private readonly waiting: RunEvent[] = [];
  private flushing?: Promise<void>;

  /** @param secrets current stored keys */
  constructor(
    private readonly channel: Channel,
    private readonly secrets: () => Promise<string[]>,
    private readonly home = os.homedir(),
  ) {}

  onEvent(event: RunEvent): void {
    if (event.type === 'chunk' || event.type === 'tool-output') return; // frequent, and none has a line
    this.waiting.push(event);
    this.flushing ??= this.flush().finally(() => {
      this.flushing = undefined;
    });
  }

  async written(): Promise<void> {
    while (this.flushing) await this.flushing;
  }

  private async flush(): Promise<void> {
    while (this.waiting.length > 0) {
      const secrets = await this.secrets().catch(() => undefined);
      for (const event of this.waiting.splice(0)) {
        if (!secrets) continue; // without the keys nothing can be redacted, so nothing is logged
        const line = logLineOf(event, (text) => redactForReport(text, { secrets, home: this.home }));
        if (line) this.channel[line.level](`${shortRunId(event.runId)} ${line.text}`);
      }
    }
  }
}

/** Log of a stored run for a bug report. `headerLines`: lines about the environment. */
export function storedRunLog(
  { events, damage }: { events: readonly StoredEvent[]; damage: readonly string[] },
  headerLines: readonly string[],
  hidden: ValuesToRedact,
): string {
  const hide = (text: string) => redactForReport(text, hidden);
  const lines = events.flatMap((event) => {
    const line = logLineOf(event, hide);
    return line ? [`${timeOf(event.at)} [${line.level}] ${line.text}`] : [];
  });
  const damageLines = damage.map((text) => `The record is damaged: ${text}.`);
  return [...headerLines.map(hide), ...damageLines, '', ...lines, ''].join('\n');
}

export const shortRunId = (runId: string): string => runId.slice(0, 'run-12345678'.length);

/** An invalid time must not prevent the log. */
const timeOf = (at: number): string => {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? '?' : time.toISOString();
};
