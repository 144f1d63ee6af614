import { spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isStoredEvent } from '../../src/protocol/run/fold.ts';
import { pendingCalls } from '../../src/protocol/run/pending.ts';
import { projectRoot, testOut } from '../support/editor/project.ts';
import { buildChild, type Played } from './case.ts';
import { canBeHalf, type Harm } from './disk.ts';
import { type Breach, eventOf, type Invariant } from './invariants.ts';
import { randomOf } from './random.ts';
import { lastWords, openTaskWindow, type TaskReportLine, tasks, writtenFiles } from './taskWindow.ts';

/** The kills of the windows of one run. */
export type TaskCase = Harm[];

const moments = ['before', 'half', 'after'] as const;

export const nameOfTasks = (one: TaskCase): string => ['tasks', ...one.map(({ at, how }) => `${at}:${how}`)].join('/');

export const taskCaseOf = (name: string): TaskCase =>
  name
    .split('/')
    .slice(1)
    .map((blow) => {
      const [at = '', how = ''] = blow.split(':');
      return { at: Number(at), how: how as Harm['how'] };
    });

/** Plays kills of a window whose run has three tasks at work: two that write, and one that reads. */
export class TaskStage {
  private readonly folder = mkdtempSync(path.join(tmpdir(), 'towpath-task-kills-'));
  private readonly child = path.join(testOut, 'kills', `tasks-${process.pid}.mjs`);

  static async open(): Promise<TaskStage> {
    const stage = new TaskStage();
    await buildChild('taskChild.ts', stage.child);
    return stage;
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
    rmSync(this.child, { force: true });
  }

  /** Every operation, before it, in its middle where it has one, and after it. */
  async points(): Promise<TaskCase[]> {
    return (await this.operations()).flatMap((operation, index) =>
      moments.filter((how) => how !== 'half' || canBeHalf(operation)).map((how): TaskCase => [{ at: index + 1, how }]),
    );
  }

  /** Two kills, the second while the next window recovers or goes on. */
  async doubles(seed: number, count = 60): Promise<TaskCase[]> {
    const random = randomOf(seed);
    const { length } = await this.operations();
    return Array.from({ length: count }, () =>
      [length, 40].map((below) => ({ at: 1 + random(below), how: moments[random(3)]! })),
    );
  }

  async play(one: TaskCase): Promise<Played> {
    const folder = this.begin();
    const breaches: Breach[] = [];
    const breach = (invariant: Invariant, what: string) => breaches.push({ invariant, what });
    const effects: string[] = [];
    const harmed: string[] = [];
    let kills = 0;
    const hear = (reports: readonly TaskReportLine[]) => {
      const record = recordIn(folder);
      for (const { told, effect, unpaired, harmed: at } of reports) {
        if (effect !== undefined) effects.push(effect);
        if (at !== undefined) harmed.push(at.replace(/[0-9a-f-]{32,}/g, '…'));
        if (unpaired) breach('K5', `the model was asked with ${unpaired.join(', ')} open`);
        if (told && isStoredEvent(told) && !record.has(JSON.stringify(told)))
          breach('K1', `${told.type} ${told.seq} is lost`);
      }
    };
    for (const blow of one) {
      const reports = await this.window(folder, blow);
      if (!reports.some(({ ended }) => ended)) kills++;
      hear(reports);
    }
    const reports: TaskReportLine[] = [];
    const window = openTaskWindow(folder, (line) => reports.push(line));
    await window.work();
    hear(reports);
    await this.check(window, effects, breach);
    rmSync(folder, { recursive: true });
    return { name: nameOfTasks(one), kills, harmed, breaches };
  }

  private async check(
    window: ReturnType<typeof openTaskWindow>,
    effects: readonly string[],
    breach: (invariant: Invariant, what: string) => void,
  ): Promise<void> {
    const run = await window.run();
    if (!run) return breach('K6', 'there is no run');
    if (run.messages.at(-1)?.content !== lastWords) breach('K6', `it ends ${run.phase} ${run.error?.code ?? ''}`);
    const results = run.messages.flatMap((one) => (one.role === 'tool' ? one.toolResults : []));
    if (pendingCalls(run.messages).length > 0) breach('K5', 'a task has no result');
    for (const [prompt, { says }] of Object.entries(tasks)) {
      const given = results.filter(({ content }) => content.includes(JSON.stringify(says)));
      if (given.length !== 1) breach('K4', `“${prompt}” has returned ${given.length} times`);
    }
    for (const task of Object.values(run.tasks ?? {})) {
      if (task.status !== 'done') breach('K6', `“${task.title}” ends ${task.status}`);
      if (task.messages.filter(({ role }) => role === 'user').length !== 1)
        breach('said', `“${task.title}” is told twice`);
      if (pendingCalls(task.messages).length > 0) breach('K5', `“${task.title}” has an open call`);
    }
    const replies = [run, ...Object.values(run.tasks ?? {})].flatMap(({ messages }) => messages);
    const whole = replies.filter((one) => one.role === 'assistant' && !one.incomplete).length;
    if ((run.usage.cost ?? 0) < whole) breach('K1', `${run.usage.cost} of ${whole} replies are counted`);
    for (const file of writtenFiles) {
      if (window.file(file) !== `${file}\n`) breach('K6', `${file} is not written`);
      if (effects.filter((one) => one === file).length > 1) breach('K2', `${file} was written again`);
    }
    const undone = await window.undo();
    if ('code' in undone) return breach('undo', undone.code);
    for (const file of writtenFiles) if (window.file(file) !== undefined) breach('undo', `${file} is left`);
  }

  private async operations(): Promise<string[]> {
    const folder = this.begin();
    const reports = await this.window(folder, undefined);
    rmSync(folder, { recursive: true });
    return reports.flatMap(({ operations = [] }) => operations);
  }

  private begin(): string {
    const folder = mkdtempSync(path.join(this.folder, 'case-'));
    mkdirSync(path.join(folder, 'ws'));
    writeFileSync(path.join(folder, 'ws', 'there.txt'), 'there\n');
    return folder;
  }

  /** Resolves when the process is gone. */
  private async window(folder: string, harm: Harm | undefined): Promise<TaskReportLine[]> {
    const file = path.join(folder, 'reports.jsonl');
    const fd = openSync(file, 'w');
    const child = spawn(process.execPath, [this.child, folder, ...(harm ? [JSON.stringify(harm)] : [])], {
      cwd: projectRoot,
      stdio: ['ignore', 'inherit', 'inherit', fd],
    });
    const killing = setTimeout(() => child.kill('SIGKILL'), 60_000);
    await new Promise((resolve) => child.once('exit', resolve));
    clearTimeout(killing);
    closeSync(fd);
    const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
    return lines.map((line) => JSON.parse(line) as TaskReportLine);
  }
}

/** The events on record, each as it was told. */
function recordIn(folder: string): Set<string> {
  const runs = path.join(folder, 'store', 'runs');
  const ids = existsSync(runs) ? readdirSync(runs) : [];
  const lines = ids.flatMap((id) => {
    const file = path.join(runs, id, 'journal.jsonl');
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  });
  return new Set(lines.flatMap(eventOf).map((event) => JSON.stringify(event)));
}
