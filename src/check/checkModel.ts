import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ReadSpendingLimit } from '../engine/core/budget.ts';
import type { RunModel } from '../engine/run/runContext.ts';
import { message } from '../protocol/text/l10n.ts';
import { type LocalizableText, storedLocalizableText, toErrorInfo } from '../protocol/text/localized.ts';
import { emptyMeasurements, type ModelCallMeasurements } from './meter.ts';
import { type CheckTaskLimits, type CheckTaskOptions, defaultCheckTaskLimits, runCheckTask } from './runTask.ts';
import type { ModelCheckTask } from './task.ts';
import type { CheckResult, CheckTaskResult } from './taskResult.ts';
import { modelCheckTasks as allTasks } from './tasks.ts';

export interface ModelCheckOptions {
  model: RunModel;
  towpath: string;
  signal: AbortSignal;
  ripgrep?: string | undefined;
  tasks?: readonly ModelCheckTask[];
  limits?: Partial<CheckTaskLimits>;
  /** Spending limit in US dollars, shared with runs of the user; absent: no limit. */
  runLimit?: ReadSpendingLimit;
  record?: CheckTaskOptions['record'];
  progress?(at: { done: number; of: number; task: ModelCheckTask; text?: string }): void;
  tried?(result: CheckTaskResult): void;
}

/**
 * Runs all tasks in sequence, each in a temporary folder that is removed. An unreachable model, a spending limit or a stop ends the check
 * early, with the reason in `ended`. Throws only for a full disk.
 */
export async function runModelCheckTasks({
  model,
  towpath,
  signal,
  tasks = allTasks,
  runLimit = () => 0,
  ...given
}: ModelCheckOptions): Promise<CheckResult> {
  const limits = { ...defaultCheckTaskLimits, ...given.limits };
  const temporaryFolder = realpathSync(mkdtempSync(path.join(tmpdir(), 'towpath-check-')));
  const results: CheckTaskResult[] = [];
  let all: ModelCallMeasurements = emptyMeasurements;
  let ended: LocalizableText | undefined;
  const at = Date.now();
  try {
    for (const task of tasks) {
      const progress = (text?: string) =>
        given.progress?.({ done: results.length, of: tasks.length, task, ...(text !== undefined && { text }) });
      progress();
      const folder = path.join(temporaryFolder, task.id);
      mkdirSync(folder);
      const { ripgrep, record } = given;
      const tried = await runCheckTask(task, {
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
        ended = signal.aborted ? message('It was stopped.') : storedLocalizableText(tried.unasked);
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
    await rm(temporaryFolder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {}); // files held by a command stay in the temporary folder
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

function whyAs(text: LocalizableText): Pick<CheckTaskResult, 'why' | 'said'> {
  const { message: why, ...info } = toErrorInfo(text);
  return { why, ...info };
}

function endedAs(text: LocalizableText): Pick<CheckResult, 'ended' | 'said'> {
  const { message: ended, ...info } = toErrorInfo(text);
  return { ended, ...info };
}

/** Remaining budget. 0 means unlimited, therefore an exhausted limit returns the smallest number. */
const left = (limit: number, spent: number): number => (limit === 0 ? 0 : Math.max(limit - spent, Number.MIN_VALUE));

function sum(one: ModelCallMeasurements, other: ModelCallMeasurements): ModelCallMeasurements {
  const { cost: _, ...counts } = one;
  const all = Object.fromEntries(
    Object.entries(counts).map(([name, value]) => [name, value + other[name as keyof typeof counts]]),
  ) as Omit<ModelCallMeasurements, 'cost'>;
  return { ...all, ...(one.cost !== undefined && other.cost !== undefined && { cost: one.cost + other.cost }) };
}

/** Speeds under 100 ms of measurement are omitted. */
const speed = (name: 'readPerSecond' | 'writtenPerSecond', tokens: number, ms: number) =>
  tokens > 0 && ms >= 100 ? { [name]: Math.round((tokens / ms) * 10_000) / 10 } : {};
