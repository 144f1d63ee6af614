import * as z from 'zod';
import { currentLocale, type LocalizedMessage, localizedCount, t, toEnglishText } from '../protocol/text/l10n.ts';
import { localizedMessageSchema } from '../protocol/text/localizedSchema.ts';

const count = z.number().nonnegative();

/**
 * Result of one task. `why`: reason of a failure as a sentence; `said`: localizable form. Tokens: `prompt` in all prompts, `cached` of
 * these, `written` output.
 */
const taskResultSchema = z.object({
  id: z.string(),
  title: z.string(),
  passed: z.boolean(),
  why: z.string().optional(),
  said: localizedMessageSchema.optional(),
  ms: count,
  replies: count,
  prompt: count,
  cached: count,
  written: count,
});
export type CheckTaskResult = z.infer<typeof taskResultSchema>;

/**
 * Result of a check. `model`: `provider/model`. `at`: epoch milliseconds. `of`: number of tasks. Speeds are tokens per second, absent if
 * not measured. `cost`: US dollars, absent if unknown. `ended`: reason of an early end as a sentence; `said`: localizable form.
 */
export const checkResultSchema = z.object({
  'towpath-check': z.literal(1),
  model: z.string(),
  at: count,
  towpath: z.string(),
  window: count.optional(),
  of: count,
  tasks: z.array(taskResultSchema),
  readPerSecond: count.optional(),
  writtenPerSecond: count.optional(),
  cost: count.optional(),
  ended: z.string().optional(),
  said: localizedMessageSchema.optional(),
});
export type CheckResult = z.infer<typeof checkResultSchema>;

export const passedTaskCount = ({ tasks }: Pick<CheckResult, 'tasks'>): number =>
  tasks.filter(({ passed }) => passed).length;

export const sumCheckTaskField = (
  { tasks }: Pick<CheckResult, 'tasks'>,
  of: 'ms' | 'replies' | 'prompt' | 'cached' | 'written',
) => tasks.reduce((sum, task) => sum + task[of], 0);

/** Language of a report; `locale` is for dates and numbers. */
export interface ReportLanguage {
  localize(message: LocalizedMessage): string;
  locale: string;
}

/** Language of files that leave the machine. */
export const englishReportLanguage: ReportLanguage = { localize: toEnglishText, locale: 'en' };

export const userReportLanguage = (): ReportLanguage => ({ localize: t, locale: currentLocale() });

export function shortCheckResult(result: CheckResult): string {
  const { writtenPerSecond: speed, of } = result;
  const done = t('{0} of {1}', passedTaskCount(result), localizedCount(of, 'task'));
  return [
    done,
    ...(speed === undefined ? [] : [t('{0} tokens/s', formatTokensPerSecond(speed, currentLocale()))]),
  ].join(' · ');
}

export const formatTokensPerSecond = (tokens: number, locale: string): string => {
  const digits = tokens >= 10 ? 0 : 1;
  return tokens.toLocaleString(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits });
};

export const formatDuration = (ms: number): string =>
  ms < 90_000 ? `${Math.max(1, Math.round(ms / 1000))} s` : `${Math.round(ms / 60_000)} min`;

export const formatCheckDate = (at: number, locale: string): string =>
  new Date(at).toLocaleDateString(/^en\b/.test(locale) ? 'en-GB' : locale, {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
  });
