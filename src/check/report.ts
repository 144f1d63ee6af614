import { localizedDollars } from '../protocol/run/money.ts';
import { escapeInvisibleInLine } from '../protocol/text/escapeInvisible.ts';
import { type LocalizedMessage, message } from '../protocol/text/l10n.ts';
import {
  type CheckResult,
  type CheckTaskResult,
  englishReportLanguage,
  formatCheckDate,
  formatDuration,
  formatTokensPerSecond,
  passedTaskCount,
  type ReportLanguage,
  sumCheckTaskField,
} from './taskResult.ts';
import type { CheckTaskTitle } from './tasks.ts';

export function checksAsMarkdown(results: readonly CheckResult[], tongue = englishReportLanguage): string {
  const { localize } = tongue;
  const tried = new Map(results.flatMap(({ tasks }) => tasks.map((task) => [task.id, task])));
  const outcome = ({ tasks }: CheckResult, id: string) => {
    const task = tasks.find((one) => one.id === id);
    return task ? (task.passed ? '✓' : '✗') : '–';
  };
  return [
    localize(message('# Model check results')),
    '',
    ...(results.length === 0 ? [localize(message('None yet. *Check This Model* checks the selected model.')), ''] : []),
    ...(results.length > 0
      ? [
          row(['', ...results.map(({ model }) => model)]),
          row(['---', ...results.map(() => ':-:')]),
          ...[...tried].map(([id, task]) =>
            row([localize(modelCheckTaskTitle(task)), ...results.map((result) => outcome(result, id))]),
          ),
          ...factsOf(results, tongue),
          '',
        ]
      : []),
    ...results.flatMap((result) => [checkAsMarkdown(result, tongue), '']),
  ].join('\n');
}

function checkAsMarkdown(result: CheckResult, { localize, locale }: ReportLanguage): string {
  const { model, at, towpath, tasks } = result;
  const ended = modelCheckEndReason(result);
  const done = message(
    '{0} of {1} tasks done, on {2} with Towpath {3}.',
    passedTaskCount(result),
    result.of,
    formatCheckDate(at, locale),
    escapeInvisibleInLine(towpath),
  );
  const heads = ['task', 'time', 'replies', 'tokens read', 'written'] as const;
  const number = (count: number) => Math.round(count).toLocaleString(locale);
  return [
    `## ${escapeInvisibleInLine(model)}`,
    '',
    localize(done),
    ...(ended
      ? ['', localize(message('**Not all tasks were run.** {0}', escapeInvisibleInLine(localize(ended))))]
      : []),
    ...failuresAsMarkdown(result, localize),
    '',
    row(heads.map((head) => localize(message(head)))),
    '|---|--:|--:|--:|--:|',
    ...tasks.map((task) => {
      const { passed, ms, replies, prompt, cached, written } = task;
      const counts = [replies, prompt - cached, written].map(number);
      return row([`${passed ? '✓' : '✗'} ${localize(modelCheckTaskTitle(task))}`, formatDuration(ms), ...counts]);
    }),
  ].join('\n');
}

export function failuresAsMarkdown({ tasks }: CheckResult, localize: ReportLanguage['localize']): string[] {
  const failed = tasks.filter(({ passed }) => !passed);
  if (failed.length === 0) return [];
  const head = row([message('not done'), message('what failed')].map(localize));
  const rows = failed.map((task) => row([modelCheckTaskTitle(task), whyOf(task)].map(localize)));
  return ['', head, '|---|---|', ...rows];
}

/** Localizable title of a task. Titles of other versions may lack a translation. */
export const modelCheckTaskTitle = ({ title }: Pick<CheckTaskResult, 'title'>): LocalizedMessage =>
  message(title as CheckTaskTitle);

const whyOf = ({ why = '', said }: CheckTaskResult): LocalizedMessage => said ?? { english: why };

/** Reason why tasks were not run; undefined: all ran. */
export const modelCheckEndReason = ({ ended, said }: CheckResult): LocalizedMessage | undefined =>
  ended === undefined ? undefined : (said ?? { english: ended });

function factsOf(results: readonly CheckResult[], { localize, locale }: ReportLanguage): string[] {
  const number = (count: number) => Math.round(count).toLocaleString(locale);
  const speed = (tokens: number) => formatTokensPerSecond(tokens, locale);
  const done = (result: CheckResult) => `**${localize(message('{0} of {1}', passedTaskCount(result), result.of))}**`;
  const facts: [LocalizedMessage, (result: CheckResult) => string | undefined][] = [
    [message('Done'), done],
    [message('Generation, tokens/s'), ({ writtenPerSecond }) => shown(writtenPerSecond, speed)],
    [message('Reading, tokens/s'), ({ readPerSecond }) => shown(readPerSecond, speed)],
    [message('Time'), (result) => formatDuration(sumCheckTaskField(result, 'ms'))],
    [message('Tokens sent'), (result) => number(sumCheckTaskField(result, 'prompt'))],
    [message('… from a cache'), (result) => number(sumCheckTaskField(result, 'cached'))],
    [message('Tokens generated'), (result) => number(sumCheckTaskField(result, 'written'))],
    [message('Window'), ({ window }) => shown(window, number)],
    [message('Cost'), ({ cost }) => shown(cost, (amount) => localize(localizedDollars(amount)))],
  ];
  const unknown = localize(message('unknown'));
  return facts.map(([name, of]) => row([`*${localize(name)}*`, ...results.map((result) => of(result) ?? unknown)]));
}

const shown = (number: number | undefined, as: (number: number) => string) =>
  number === undefined ? undefined : as(number);

const row = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => escapeInvisibleInLine(cell).replaceAll('|', '\\|')).join(' | ')} |`;

export function checksAsJson(results: readonly CheckResult[]): string {
  const checks = results.map(({ said: _, ...result }) => ({
    ...result,
    tasks: result.tasks.map(({ said: _, ...task }) => task),
  }));
  return `${JSON.stringify({ 'towpath-checks': 1, checks }, null, 2)}\n`;
}
