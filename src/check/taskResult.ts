import * as z from 'zod';
import { amount, inEnglish, type LocalizedMessage, language, t } from '../protocol/text/l10n.ts';
import { sentenceSchema } from '../protocol/text/localizedSchema.ts';

const count = z.number().nonnegative();

/** What became of one task. */
const taskResultSchema = z.object({
  id: z.string(),
  title: z.string(),
  passed: z.boolean(),
  /** What went wrong, in a sentence; not of one that passed. `said`: the same for people, where that can be told in their language. */
  why: z.string().optional(),
  said: sentenceSchema.optional(),
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
  /** Why not all tasks were tried, in a sentence. `said`: the same for people, where that can be told in their language. */
  ended: z.string().optional(),
  said: sentenceSchema.optional(),
});
export type CheckResult = z.infer<typeof checkResultSchema>;

export const passedOf = ({ tasks }: Pick<CheckResult, 'tasks'>): number => tasks.filter(({ passed }) => passed).length;

export const sumOf = ({ tasks }: Pick<CheckResult, 'tasks'>, of: 'ms' | 'replies' | 'prompt' | 'cached' | 'written') =>
  tasks.reduce((sum, task) => sum + task[of], 0);

/** In which language it is told what came of a check. */
export interface Tongue {
  tell(said: LocalizedMessage): string;
  /** For dates and numbers. */
  locale: string;
}

/** For what leaves this machine. */
export const english: Tongue = { tell: inEnglish, locale: 'en' };

export const ofThePerson = (): Tongue => ({ tell: t, locale: language() });

/** `13 of 15 tasks · 24 tokens/s`, for lists. */
export function checkInShort(result: CheckResult): string {
  const { writtenPerSecond: speed, of } = result;
  const done = t('{0} of {1}', passedOf(result), amount(of, 'task'));
  return [done, ...(speed === undefined ? [] : [t('{0} tokens/s', perSecond(speed, language()))])].join(' · ');
}

export const perSecond = (tokens: number, locale: string): string => {
  const digits = tokens >= 10 ? 0 : 1;
  return tokens.toLocaleString(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits });
};

/** `40 s`, `6 min`. */
export const formatDuration = (ms: number): string =>
  ms < 90_000 ? `${Math.max(1, Math.round(ms / 1000))} s` : `${Math.round(ms / 60_000)} min`;

export const inDay = (at: number, locale: string): string =>
  new Date(at).toLocaleDateString(/^en\b/.test(locale) ? 'en-GB' : locale, {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
  });
