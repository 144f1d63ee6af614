import { inNumber } from '../protocol/counted.ts';
import { dollars } from '../protocol/money.ts';
import { visibleLine } from '../protocol/visible.ts';
import { type CheckResult, inDay, inTime, passedOf, perSecond, sumOf } from './result.ts';

/** Checked models beside each other, as Markdown: a table of the tasks, and of each model what went wrong. */
export function checksAsMarkdown(results: readonly CheckResult[]): string {
  const titles = new Map(results.flatMap(({ tasks }) => tasks.map(({ id, title }) => [id, title])));
  const outcome = ({ tasks }: CheckResult, id: string) => {
    const task = tasks.find((one) => one.id === id);
    return task ? (task.passed ? '✓' : '✗') : '–';
  };
  return [
    '# Checked models',
    '',
    ...(results.length === 0 ? ['None yet. *Check This Model* checks the one that is picked.', ''] : []),
    ...(results.length > 0
      ? [
          row(['', ...results.map(({ model }) => model)]),
          row(['---', ...results.map(() => ':-:')]),
          ...[...titles].map(([id, title]) => row([title, ...results.map((result) => outcome(result, id))])),
          ...facts.map(([name, of]) => row([`*${name}*`, ...results.map((result) => of(result) ?? 'not known')])),
          '',
        ]
      : []),
    ...results.flatMap((result) => [checkAsMarkdown(result), '']),
  ].join('\n');
}

/** One of them: what went wrong, task by task. */
function checkAsMarkdown(result: CheckResult): string {
  const { model, at, towpath, ended, tasks } = result;
  const failed = tasks.filter(({ passed }) => !passed);
  return [
    `## ${visibleLine(model)}`,
    '',
    `${passedOf(result)} of ${result.of} tasks done, on ${inDay(at)} with Towpath ${visibleLine(towpath)}.`,
    ...(ended === undefined ? [] : ['', `**Not all were tried.** ${visibleLine(ended)}`]),
    ...(failed.length > 0 ? ['', '| not done | what went wrong |', '|---|---|'] : []),
    ...failed.map(({ title, why = '' }) => row([title, why])),
    '',
    '| task | time | replies | tokens read | written |',
    '|---|--:|--:|--:|--:|',
    ...tasks.map(({ title, passed, ms, replies, prompt, cached, written }) =>
      row([`${passed ? '✓' : '✗'} ${title}`, inTime(ms), ...[replies, prompt - cached, written].map(inNumber)]),
    ),
  ].join('\n');
}

const facts: [string, (result: CheckResult) => string | undefined][] = [
  ['Done', (result) => `**${passedOf(result)} of ${result.of}**`],
  ['Writes, tokens/s', ({ writtenPerSecond: speed }) => shown(speed, perSecond)],
  ['Reads, tokens/s', ({ readPerSecond: speed }) => shown(speed, perSecond)],
  ['Time', (result) => inTime(sumOf(result, 'ms'))],
  ['Tokens sent', (result) => inNumber(sumOf(result, 'prompt'))],
  ['… from a cache', (result) => inNumber(sumOf(result, 'cached'))],
  ['Tokens written', (result) => inNumber(sumOf(result, 'written'))],
  ['Window', ({ window }) => shown(window, inNumber)],
  ['Cost', ({ cost }) => shown(cost, dollars)],
];

const shown = (number: number | undefined, as: (number: number) => string) =>
  number === undefined ? undefined : as(number);

const row = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => visibleLine(cell).replaceAll('|', '\\|')).join(' | ')} |`;

/** The same for programs. */
export const checksAsJson = (results: readonly CheckResult[]): string =>
  `${JSON.stringify({ 'towpath-checks': 1, checks: results }, null, 2)}\n`;
