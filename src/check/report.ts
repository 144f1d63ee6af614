import { localizedDollars } from '../protocol/run/money.ts';
import { escapeInvisibleInLine } from '../protocol/text/escapeInvisible.ts';
import { type LocalizedMessage, message } from '../protocol/text/l10n.ts';
import { suitableUses } from './suitability.ts';
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
  const nameOf = checkedModelNames(results);
  const tried = new Map(results.flatMap(({ tasks }) => tasks.map((task) => [task.id, task])));
  const outcome = ({ tasks }: CheckResult, id: string) => {
    const task = tasks.find((one) => one.id === id);
    return task ? (task.passed ? '✓' : '✗') : '–';
  };
  return [
    localize(message('# Model check results')),
    '',
    ...(results.length === 0 ? [localize(message('None yet. *Check This Model* checks the selected model.')), ''] : []),
    ...results.map((result) => conclusion(result, nameOf(result), tongue)),
    ...(results.length > 0
      ? [
          '',
          row(['', ...results.map(nameOf)]),
          row(['---', ...results.map(() => ':-:')]),
          ...[...tried].map(([id, task]) =>
            row([localize(modelCheckTaskTitle(task)), ...results.map((result) => outcome(result, id))]),
          ),
          ...factsOf(results, tongue),
          '',
        ]
      : []),
    ...results.flatMap((result) => [checkAsMarkdown(result, nameOf(result), tongue), '']),
  ].join('\n');
}

/** Returns names for a page: `provider/name`; the name of a model file, with its folder only if another file has the same name. */
function checkedModelNames(results: readonly CheckResult[]): (result: CheckResult) => string {
  const short = (result: CheckResult) =>
    modelFileOf(result)
      ?.replace(/^.*[/\\]/, '')
      .replace(/\.gguf$/, '') ?? result.model;
  const isShared = (result: CheckResult) =>
    results.some((other) => other.model !== result.model && short(other) === short(result));
  return (result) => (isShared(result) ? (modelFileOf(result) ?? result.model) : short(result));
}

const modelFileOf = ({ model }: CheckResult): string | undefined =>
  model.startsWith('local/') ? model.slice('local/'.length) : undefined;

/** One line of a list: the number of tasks, and the uses that it supports or the reason of an early end. */
function conclusion(result: CheckResult, name: string, { localize }: ReportLanguage): string {
  const { of, tasks } = result;
  const passed = passedTaskCount(result);
  const sentences = [
    of === tasks.length
      ? message('{0} of {1} tasks done.', passed, of)
      : message('{0} of {1} tasks done, {2} not run.', passed, of, of - tasks.length),
    ...[modelCheckEndReason(result), suitableUses(result)].filter((sentence) => sentence !== undefined),
  ];
  return `- **${escapeInvisibleInLine(name)}:** ${escapeInvisibleInLine(sentences.map(localize).join(' '))}`;
}

function checkAsMarkdown(result: CheckResult, name: string, { localize, locale }: ReportLanguage): string {
  const { at, towpath, tasks } = result;
  const file = modelFileOf(result);
  const facts = [
    message('Checked on {0} with Towpath {1}.', formatCheckDate(at, locale), towpath),
    ...(file === undefined ? [] : [message('Model file: {0}', file)]),
  ];
  const heads = ['task', 'time', 'replies', 'tokens read', 'generated'] as const;
  const number = (count: number) => Math.round(count).toLocaleString(locale);
  return [
    `## ${escapeInvisibleInLine(name)}`,
    '',
    facts.map((fact) => escapeInvisibleInLine(localize(fact))).join(' '),
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
