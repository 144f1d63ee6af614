import {
  cacheShareOf,
  type DailyModelUsage,
  generationSpeedOf,
  groupUsageDays,
  knownModelCost,
  median,
  toolSuccessRate,
  type UsageCounts,
} from '../../protocol/run/insights.ts';
import { localizedDollars } from '../../protocol/run/money.ts';
import { formatDecimal } from '../../protocol/text/decimal.ts';
import { escapeInvisibleInLine, withNoBreakUnits } from '../../protocol/text/escapeInvisible.ts';
import { currentLocale, withDigitGrouping as inNumber, localizedCount, t } from '../../protocol/text/l10n.ts';

export interface InsightsPageState {
  counts: UsageCounts;
  unread: number;
  scope: 'workspace' | 'all';
}

/** Table cell with its sort key; undefined: unknown, sorted last. */
interface Cell {
  text: string;
  sort?: number | string;
}

/** Renders the page with all record text escaped. `nonce` belongs to its only script. */
export function insightsHtml(shown: InsightsPageState, { script, nonce }: { script: string; nonce: string }): string {
  const { counts, unread, scope } = shown;
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'`;
  const choice = (value: InsightsPageState['scope'], label: string) =>
    `<button data-scope="${value}" aria-pressed="${value === scope}">${label}</button>`;
  return `<!DOCTYPE html>
<html lang="${currentLocale()}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${t('Towpath Insights')}</title>
<style nonce="${nonce}">${style}</style>
</head>
<body>
<main>
<h1>${t('Insights')}</h1>
<p><span role="group" aria-label="${t('Runs')}">${choice('workspace', t('This Workspace'))}${choice('all', t('All'))}</span>
<button data-csv>${t('Save as CSV…')}</button></p>
<p>${summaryOf(shown)}</p>
${counts.models.length === 0 ? '' : chartOf(counts)}
${counts.models.length === 0 ? '' : section(t('Models'), modelHead, modelRows(groupUsageDays(counts.models, 'model')), 'models')}
${counts.tools.length === 0 ? '' : section(t('Tools'), toolHead, toolRows(counts), 'tools')}
${counts.models.length === 0 ? '' : section(t('Days'), dayHead, dayRows(counts), 'days')}
${unread > 0 ? `<p>${t('{0} could not be read.', localizedCount(unread, 'run'))}</p>` : ''}
<p class="small">${t('Counted from the runs on this machine; nothing of it is sent anywhere. Deleted and imported runs are not counted.')}</p>
</main>
<script nonce="${nonce}" src="${escaped(script)}"></script>
</body>
</html>`;
}

function summaryOf({ counts, scope }: InsightsPageState): string {
  const { runs, models } = counts;
  const isAll = scope === 'all';
  if (runs === 0)
    return t(isAll ? 'There are no runs in any workspace yet.' : 'There are no runs in this workspace yet.');
  const sum = (name: 'calls' | 'promptTokens' | 'completionTokens' | 'unpriced') =>
    models.reduce((total, one) => total + one[name], 0);
  const calls = sum('calls');
  const without = sum('unpriced');
  const known = t(localizedDollars(models.reduce((total, one) => total + one.cost, 0)));
  const some = without > 0 ? t('{0} and {1} without a price', known, localizedCount(without, 'call')) : known;
  return t(
    isAll
      ? '{0} in all workspaces: {1}, {2} read, {3} written, {4}.'
      : '{0} in this workspace: {1}, {2} read, {3} written, {4}.',
    localizedCount(runs, 'run'),
    localizedCount(calls, 'model call'),
    localizedCount(sum('promptTokens'), 'token'),
    inNumber(sum('completionTokens')),
    without === calls ? t('no price known') : some,
  );
}

const modelHead = [
  'Model',
  'Calls',
  'Read',
  'Cached',
  'Written',
  'Tokens/s',
  'Cost',
  'Retries',
  'Failures',
  'Stops',
] as const;
const modelRows = (models: readonly DailyModelUsage[]): Cell[][] =>
  models.map((one) => [text(one.model), ...usageCells(one), whole(one.retries), whole(one.failures), whole(one.stops)]);

const dayHead = ['Day', 'Model', 'Calls', 'Read', 'Cached', 'Written', 'Tokens/s', 'Cost'] as const;
const dayRows = ({ models }: UsageCounts): Cell[][] =>
  groupUsageDays(models).map((one) => [text(one.day), text(one.model), ...usageCells(one)]);

const usageCells = (one: DailyModelUsage): Cell[] => [
  whole(one.calls),
  whole(one.promptTokens),
  maybe(cacheShareOf(one), percent),
  whole(one.completionTokens),
  maybe(generationSpeedOf(one), (value) => formatDecimal(value, value < 10 ? 1 : 0)),
  {
    ...maybe(knownModelCost(one), dollars, one.calls > 0 ? t('no price') : '–'),
    ...(isPart(one) && { text: `${dollars(one.cost)} +` }),
  },
];

/** True if some calls have no price: the cost is a lower bound. */
const isPart = ({ unpriced, calls }: DailyModelUsage): boolean => unpriced > 0 && unpriced < calls;

const toolHead = [
  'Tool',
  'Calls',
  'Success',
  'Denied',
  'Interrupted',
  'Median time',
  'Questions',
  'Median wait',
] as const;
const toolRows = ({ tools }: UsageCounts): Cell[][] =>
  [...tools]
    .sort((one, other) => callsOf(other) - callsOf(one))
    .map((one) => [
      text(one.tool),
      whole(callsOf(one)),
      maybe(toolSuccessRate(one), percent),
      whole(one.denied),
      whole(one.interrupted),
      maybe(median(one.ms), duration),
      whole(one.waits.length),
      maybe(median(one.waits), duration),
    ]);

const callsOf = ({ done, failed, denied, interrupted }: UsageCounts['tools'][number]): number =>
  done + failed + denied + interrupted;

type Head = (typeof modelHead | typeof dayHead | typeof toolHead)[number];

function section(title: string, head: readonly Head[], rows: readonly Cell[][], name: string): string {
  const isNumber = (column: number) => rows.every((cells) => typeof cells[column]?.sort !== 'string');
  const heads = head
    .map((label, column) => {
      const kind = isNumber(column) ? ' class="number"' : '';
      return `<th scope="col"${kind} aria-sort="none"><button data-by>${t(label)}</button></th>`;
    })
    .join('');
  const body = rows.map(
    (cells) =>
      `<tr>${cells
        .map(({ text: shown, sort }) => {
          const by = sort === undefined ? '' : ` data-sort="${escaped(String(sort))}"`;
          return `<td${typeof sort === 'string' ? '' : ' class="number"'}${by}>${escaped(shown)}</td>`;
        })
        .join('')}</tr>`,
  );
  return `<h2>${title}</h2>
<div class="wide"><table data-table="${name}"><thead><tr>${heads}</tr></thead>
<tbody>${body.join('\n')}</tbody></table></div>`;
}

const maxDays = 30;
const [barWidth, barSpace, height] = [16, 4, 120];
const colours = 6;

/** Chart of the daily cost by model, or of tokens if no price is known. */
function chartOf({ models }: UsageCounts): string {
  const hasPrices = models.some((one) => (knownModelCost(one) ?? 0) > 0);
  const amountOf = (one: DailyModelUsage) => (hasPrices ? one.cost : one.promptTokens + one.completionTokens);
  const shown = hasPrices ? dollars : (value: number) => t(localizedCount(value, 'token'));
  const ranked = groupUsageDays(models, 'model').sort((one, other) => amountOf(other) - amountOf(one));
  const colourOf = new Map(ranked.map(({ model }, nth) => [model, Math.min(nth, colours - 1)]));
  const byDay = new Map<string, DailyModelUsage[]>();
  for (const one of groupUsageDays(models)) byDay.set(one.day, [...(byDay.get(one.day) ?? []), one]);
  const days = [...byDay.keys()].sort().slice(-maxDays);
  const most = Math.max(...days.map((day) => byDay.get(day)!.reduce((total, one) => total + amountOf(one), 0)), 0);
  if (most <= 0) return '';
  const bars = days.map((day, nth) => {
    let top = height;
    const parts = byDay.get(day)!.map((one) => {
      const size = (amountOf(one) / most) * height;
      top -= size;
      const title = `${escapeInvisibleInLine(`${day}, ${one.model}`)}: ${shown(amountOf(one))}`;
      return `<rect class="c${colourOf.get(one.model)}" x="${nth * (barWidth + barSpace)}" y="${top.toFixed(2)}" width="${barWidth}" height="${size.toFixed(2)}"><title>${escaped(title)}</title></rect>`;
    });
    return parts.join('');
  });
  const width = days.length * (barWidth + barSpace);
  const [first, last] = [escapeInvisibleInLine(days[0]!), escapeInvisibleInLine(days.at(-1)!)];
  const when = first === last ? first : t('{0} to {1}', first, last);
  const label = t(
    hasPrices
      ? 'Cost of {0} with work: {1}; the highest day is {2}. The table of days has the same figures.'
      : 'Tokens of {0} with work: {1}; the highest day is {2}. The table of days has the same figures.',
    localizedCount(days.length, 'day'),
    when,
    shown(most),
  );
  const legend = ranked.slice(0, colours).map(({ model }, nth) => {
    const name = escapeInvisibleInLine(model);
    const names = nth === colours - 1 && ranked.length > colours ? t('{0} and others', name) : name;
    return `<li><svg class="key" viewBox="0 0 10 10" aria-hidden="true"><rect class="c${nth}" width="10" height="10"/></svg> ${escaped(names)}</li>`;
  });
  return `<h2>${t(hasPrices ? 'Cost by day' : 'Tokens by day')}</h2>
<svg class="chart" role="img" aria-label="${escaped(label)}" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">${bars.join('')}</svg>
<p class="small">${escaped(t('{0}, at most {1} per day', when, shown(most)))}</p>
<ul class="legend">${legend.join('')}</ul>`;
}

const dollars = (value: number): string => t(localizedDollars(value));
const text = (value: string): Cell => ({ text: escapeInvisibleInLine(value), sort: escapeInvisibleInLine(value) });
const whole = (value: number): Cell => ({ text: Math.round(value).toLocaleString(currentLocale()), sort: value });
const maybe = (value: number | undefined, shown: (value: number) => string, none = '–'): Cell =>
  value === undefined ? { text: none } : { text: shown(value), sort: value };

const percent = (share: number): string => `${Math.round(share * 100)} %`;

function duration(ms: number): string {
  if (ms < 1000) return withNoBreakUnits(t('{0} ms', Math.round(ms)));
  if (ms < 60_000) return withNoBreakUnits(t('{0} s', formatDecimal(ms / 1000, 1)));
  const seconds = Math.round(ms / 1000);
  return withNoBreakUnits(t('{0} min {1} s', Math.floor(seconds / 60), seconds % 60));
}

const signs: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escaped = (value: string): string => value.replace(/[&<>"']/g, (sign) => signs[sign]!);

const style = `
body { font-family: var(--vscode-font-family); font-size: var(--vscode-font-size); color: var(--vscode-foreground); padding: 0 1.5em 2em; }
.small { color: var(--vscode-descriptionForeground); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { text-align: left; padding: 0.2em 0.9em 0.2em 0; border-bottom: 1px solid var(--vscode-widget-border, var(--vscode-contrastBorder, transparent)); white-space: nowrap; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
button { font: inherit; cursor: pointer; border: 1px solid var(--vscode-contrastBorder, transparent); padding: 0.2em 0.6em; color: var(--vscode-button-secondaryForeground); background: var(--vscode-button-secondaryBackground); }
button[aria-pressed='true'] { color: var(--vscode-button-foreground); background: var(--vscode-button-background); outline: 1px solid var(--vscode-contrastActiveBorder, transparent); outline-offset: -3px; }
@media (forced-colors: active) { button[aria-pressed='true'] { forced-color-adjust: none; color: HighlightText; background: Highlight; } }
th button { border-color: transparent; background: none; color: inherit; font-weight: 600; padding: 0; }
th[aria-sort='ascending'] button::after { content: ' ▲'; }
th[aria-sort='descending'] button::after { content: ' ▼'; }
button:focus-visible { outline: 1px solid var(--vscode-focusBorder); }
.chart { max-width: 100%; border-bottom: 1px solid var(--vscode-foreground); }
.legend { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: 0 1.2em; }
.key { width: 0.8em; height: 0.8em; }
.c0 { fill: var(--vscode-charts-blue); }
.c1 { fill: var(--vscode-charts-orange); }
.c2 { fill: var(--vscode-charts-green); }
.c3 { fill: var(--vscode-charts-purple); }
.c4 { fill: var(--vscode-charts-yellow); }
.c5 { fill: var(--vscode-charts-red); }
@media (forced-colors: active) {
  body { background: Canvas; }
  .c0 { fill: Highlight; }
  .c1 { fill: CanvasText; }
  .c2 { fill: LinkText; }
  .c3 { fill: GrayText; }
  .c4, .c5 { fill: ButtonText; }
}
`;
