import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ReadLimit } from '../engine/core/budget.ts';
import type { RunModel } from '../engine/run/runContext.ts';
import { message } from '../protocol/text/l10n.ts';
import { type LocalizableText, localizedMessageIn, toErrorInfo } from '../protocol/text/localized.ts';
import { type Measured, nothingMeasured } from './meter.ts';
import { runTask, type TaskLimits, type Trying, usualLimits } from './runTask.ts';
import type { Task } from './task.ts';
import type { CheckResult, TaskResult } from './taskResult.ts';
import { tasks as allTasks } from './tasks.ts';

export interface Checking {
  model: RunModel;
  /** The version of Towpath. */
  towpath: string;
  signal: AbortSignal;
  ripgrep?: string | undefined;
  tasks?: readonly Task[];
  limits?: Partial<TaskLimits>;
  /** What all of it may cost, as a run of the person's; without it there is no limit. */
  runLimit?: ReadLimit;
  record?: Trying['record'];
  /** Hears what it is at. */
  progress?(at: { done: number; of: number; task: Task; text?: string }): void;
  /** Hears how each task went, when it is over. */
  tried?(result: TaskResult): void;
}

/**
 * Lets a model work on all tasks, one after the other, each in a folder of its own below a temporary one, which is removed. A model that cannot
 * be asked, a limit of money and a stop end it early: `ended` says so. Throws nothing but what a full disk does.
 */
export async function checkModel({
  model,
  towpath,
  signal,
  tasks = allTasks,
  runLimit = () => 0,
  ...given
}: Checking): Promise<CheckResult> {
  const limits = { ...usualLimits, ...given.limits };
  const place = realpathSync(mkdtempSync(path.join(tmpdir(), 'towpath-check-')));
  const results: TaskResult[] = [];
  let all: Measured = nothingMeasured;
  let ended: LocalizableText | undefined;
  const at = Date.now();
  try {
    for (const task of tasks) {
      const progress = (text?: string) =>
        given.progress?.({ done: results.length, of: tasks.length, task, ...(text !== undefined && { text }) });
      progress();
      const folder = path.join(place, task.id);
      mkdirSync(folder);
      const { ripgrep, record } = given;
      const tried = await runTask(task, {
        model,
        folder,
        ripgrep,
        limits,
        runLimit: () => left(runLimit(), all.cost ?? 0),
        signal,
        record,
        progress,
      });
      all = sum(all, tried);
      if (tried.unasked) {
        ended = signal.aborted ? message('It was stopped.') : localizedMessageIn(tried.unasked);
        break;
      }
      const { why, ms, replies, prompt, cached, written } = tried;
      const { id, title } = task;
      const passed = why === undefined;
      const result = {
        id,
        title,
        passed,
        ...(!passed && whyAs(why)),
        ms: Math.round(ms),
        replies,
        prompt,
        cached,
        written,
      };
      results.push(result);
      given.tried?.(result);
    }
  } finally {
    await rm(place, { recursive: true, force: true, maxRetries: 3 }).catch(() => {}); // what a command still holds stays with the temporary files
  }
  return {
    'towpath-check': 1,
    model: model.id,
    at,
    towpath,
    ...(model.contextWindow && { window: model.contextWindow }),
    of: tasks.length,
    tasks: results,
    ...speed('readPerSecond', all.prompt - all.cached, all.readMs),
    ...speed('writtenPerSecond', all.written, all.writeMs),
    ...(all.cost !== undefined && all.replies > 0 && { cost: all.cost }),
    ...(ended !== undefined && endedAs(ended)),
  };
}

/** As it is kept. */
function whyAs(words: LocalizableText): Pick<TaskResult, 'why' | 'said'> {
  const { message: why, ...said } = toErrorInfo(words);
  return { why, ...said };
}

function endedAs(words: LocalizableText): Pick<CheckResult, 'ended' | 'said'> {
  const { message: ended, ...said } = toErrorInfo(words);
  return { ended, ...said };
}

/** What is left of a limit, which is none at 0: a limit that is used up is nearly nothing. */
const left = (limit: number, spent: number): number => (limit === 0 ? 0 : Math.max(limit - spent, Number.MIN_VALUE));

function sum(one: Measured, other: Measured): Measured {
  const { cost: _, ...counts } = one;
  const all = Object.fromEntries(
    Object.entries(counts).map(([name, value]) => [name, value + other[name as keyof typeof counts]]),
  ) as Omit<Measured, 'cost'>;
  return { ...all, ...(one.cost !== undefined && other.cost !== undefined && { cost: one.cost + other.cost }) };
}

/** Of what was too quick to be measured nothing is said. */
const speed = (name: 'readPerSecond' | 'writtenPerSecond', tokens: number, ms: number) =>
  tokens > 0 && ms >= 100 ? { [name]: Math.round((tokens / ms) * 10_000) / 10 } : {};
