import * as z from 'zod';
import { counted } from '../protocol/counted.ts';

const count = z.number().nonnegative();

/** What became of one task. */
export const taskResultSchema = z.object({
  id: z.string(),
  title: z.string(),
  passed: z.boolean(),
  /** What went wrong, in a sentence; not of one that passed. */
  why: z.string().optional(),
  ms: count,
  replies: count,
  /** Tokens: of all prompts, how many of those were not read again, and what it wrote. */
  prompt: count,
  cached: count,
  written: count,
});
export type TaskResult = z.infer<typeof taskResultSchema>;

/** What a model can do, as far as it was tried. */
export const checkResultSchema = z.object({
  'towpath-check': z.literal(1),
  /** `provider/model`. */
  model: z.string(),
  /** Epoch milliseconds. */
  at: count,
  /** The version that has checked it. */
  towpath: z.string(),
  window: count.optional(),
  /** Of how many there are to try. */
  of: count,
  tasks: z.array(taskResultSchema),
  /** Tokens a second, where they were counted and took their time. */
  readPerSecond: count.optional(),
  writtenPerSecond: count.optional(),
  /** US dollars, where the price is known. */
  cost: count.optional(),
  /** Why not all tasks were tried, in a sentence. */
  ended: z.string().optional(),
});
export type CheckResult = z.infer<typeof checkResultSchema>;

export const passedOf = ({ tasks }: Pick<CheckResult, 'tasks'>): number => tasks.filter(({ passed }) => passed).length;

export const sumOf = ({ tasks }: Pick<CheckResult, 'tasks'>, of: 'ms' | 'replies' | 'prompt' | 'cached' | 'written') =>
  tasks.reduce((sum, task) => sum + task[of], 0);

/** `13 of 15 tasks · 24 tokens/s`, for lists. */
export function checkInShort(result: CheckResult): string {
  const { writtenPerSecond, of } = result;
  const speed = writtenPerSecond === undefined ? [] : [`${perSecond(writtenPerSecond)} tokens/s`];
  return [`${passedOf(result)} of ${counted(of, 'task')}`, ...speed].join(' · ');
}

export const perSecond = (tokens: number): string =>
  tokens >= 10 ? Math.round(tokens).toLocaleString('en-US') : tokens.toFixed(1);

/** `40 s`, `6 min`. */
export const inTime = (ms: number): string =>
  ms < 90_000 ? `${Math.max(1, Math.round(ms / 1000))} s` : `${Math.round(ms / 60_000)} min`;

export const inDay = (at: number): string =>
  new Date(at).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
