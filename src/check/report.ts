import { money } from '../protocol/run/money.ts';
import { visibleLine } from '../protocol/text/escapeInvisible.ts';
import { type Sentence, sentence } from '../protocol/text/l10n.ts';
import {
  type CheckResult,
  english,
  inDay,
  inTime,
  passedOf,
  perSecond,
  sumOf,
  type TaskResult,
  type Tongue,
} from './taskResult.ts';
import type { Title } from './tasks.ts';

/** Checked models beside each other, as Markdown: a table of the tasks, and of each model what went wrong. */
export function checksAsMarkdown(results: readonly CheckResult[], tongue = english): string {
  const { tell } = tongue;
  const tried = new Map(results.flatMap(({ tasks }) => tasks.map((task) => [task.id, task])));
  const outcome = ({ tasks }: CheckResult, id: string) => {
    const task = tasks.find((one) => one.id === id);
    return task ? (task.passed ? '✓' : '✗') : '–';
  };
  return [
    tell(sentence('# Model check results')),
    '',
    ...(results.length === 0 ? [tell(sentence('None yet. *Check This Model* checks the selected model.')), ''] : []),
    ...(results.length > 0
      ? [
          row(['', ...results.map(({ model }) => model)]),
          row(['---', ...results.map(() => ':-:')]),
          ...[...tried].map(([id, task]) =>
            row([tell(titleOf(task)), ...results.map((result) => outcome(result, id))]),
          ),
          ...factsOf(results, tongue),
          '',
        ]
      : []),
    ...results.flatMap((result) => [checkAsMarkdown(result, tongue), '']),
  ].join('\n');
}

/** One of them: what went wrong, task by task. */
function checkAsMarkdown(result: CheckResult, { tell, locale }: Tongue): string {
  const { model, at, towpath, tasks } = result;
  const ended = endOf(result);
  const done = sentence(
    '{0} of {1} tasks done, on {2} with Towpath {3}.',
    passedOf(result),
    result.of,
    inDay(at, locale),
    visibleLine(towpath),
  );
  const heads = ['task', 'time', 'replies', 'tokens read', 'written'] as const;
  const number = (count: number) => Math.round(count).toLocaleString(locale);
  return [
    `## ${visibleLine(model)}`,
    '',
    tell(done),
    ...(ended ? ['', tell(sentence('**Not all tasks were run.** {0}', visibleLine(tell(ended))))] : []),
    ...failuresAsMarkdown(result, tell),
    '',
    row(heads.map((head) => tell(sentence(head)))),
    '|---|--:|--:|--:|--:|',
    ...tasks.map((task) => {
      const { passed, ms, replies, prompt, cached, written } = task;
      const counts = [replies, prompt - cached, written].map(number);
      return row([`${passed ? '✓' : '✗'} ${tell(titleOf(task))}`, inTime(ms), ...counts]);
    }),
  ].join('\n');
}

/** The tasks that were not done, each with what went wrong, below an empty line; nothing where all were. */
export function failuresAsMarkdown({ tasks }: CheckResult, tell: Tongue['tell']): string[] {
  const failed = tasks.filter(({ passed }) => !passed);
  if (failed.length === 0) return [];
  const head = row([sentence('not done'), sentence('what failed')].map(tell));
  const rows = failed.map((task) => row([titleOf(task), whyOf(task)].map(tell)));
  return ['', head, '|---|---|', ...rows];
}

/** What a task is about. (Of another version, nothing may translate it.) */
export const titleOf = ({ title }: Pick<TaskResult, 'title'>): Sentence => sentence(title as Title);

/** Why a task is not done. */
const whyOf = ({ why = '', said }: TaskResult): Sentence => said ?? { english: why };

/** Why not all tasks were tried; undefined: all were. */
export const endOf = ({ ended, said }: CheckResult): Sentence | undefined =>
  ended === undefined ? undefined : (said ?? { english: ended });

function factsOf(results: readonly CheckResult[], { tell, locale }: Tongue): string[] {
  const number = (count: number) => Math.round(count).toLocaleString(locale);
  const speed = (tokens: number) => perSecond(tokens, locale);
  const done = (result: CheckResult) => `**${tell(sentence('{0} of {1}', passedOf(result), result.of))}**`;
  const facts: [Sentence, (result: CheckResult) => string | undefined][] = [
    [sentence('Done'), done],
    [sentence('Generation, tokens/s'), ({ writtenPerSecond }) => shown(writtenPerSecond, speed)],
    [sentence('Reading, tokens/s'), ({ readPerSecond }) => shown(readPerSecond, speed)],
    [sentence('Time'), (result) => inTime(sumOf(result, 'ms'))],
    [sentence('Tokens sent'), (result) => number(sumOf(result, 'prompt'))],
    [sentence('… from a cache'), (result) => number(sumOf(result, 'cached'))],
    [sentence('Tokens generated'), (result) => number(sumOf(result, 'written'))],
    [sentence('Window'), ({ window }) => shown(window, number)],
    [sentence('Cost'), ({ cost }) => shown(cost, (amount) => tell(money(amount)))],
  ];
  const unknown = tell(sentence('unknown'));
  return facts.map(([name, of]) => row([`*${tell(name)}*`, ...results.map((result) => of(result) ?? unknown)]));
}

const shown = (number: number | undefined, as: (number: number) => string) =>
  number === undefined ? undefined : as(number);

const row = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => visibleLine(cell).replaceAll('|', '\\|')).join(' | ')} |`;

/** The same for programs. */
export function checksAsJson(results: readonly CheckResult[]): string {
  const checks = results.map(({ said: _, ...result }) => ({
    ...result,
    tasks: result.tasks.map(({ said: _, ...task }) => task),
  }));
  return `${JSON.stringify({ 'towpath-checks': 1, checks }, null, 2)}\n`;
}
