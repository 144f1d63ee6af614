import type { TokenUsage } from '../content/messages.ts';
import type { StoredEvent } from './events.ts';

/**
 * Model usage of one day in local time (`2026-11-23`), as sums. `model`: `provider/model`, if recorded. `cost`: US dollars of calls with a
 * known price; `unpriced`: calls with an unknown price. `timedTokens`, `ms`: output tokens and milliseconds without waits of calls with a
 * recorded time. `retries`, `failures`: attempts with and without a following attempt. `stops`: stops by the user.
 */
export interface DailyModelUsage {
  day: string;
  model: string;
  calls: number;
  promptTokens: number;
  cachedTokens: number;
  completionTokens: number;
  cost: number;
  unpriced: number;
  timedTokens: number;
  ms: number;
  retries: number;
  failures: number;
  stops: number;
}

/**
 * Results of the calls of a tool. `denied`: by the user, a rule or a preset. `interrupted`: by a stop or the end of the editor. `ms`:
 * duration of each completed call. `waits`: milliseconds until each approval.
 */
export interface ToolCallCounts {
  tool: string;
  done: number;
  failed: number;
  denied: number;
  interrupted: number;
  ms: number[];
  waits: number[];
}

export interface UsageCounts {
  runs: number;
  models: DailyModelUsage[];
  tools: ToolCallCounts[];
}

export const createUsageCounts = (): UsageCounts => ({ runs: 0, models: [], tools: [] });

/** Counts the events of a run. Inherited events of a branch count in the parent run; imported runs count nothing. */
export function countRunUsage(events: readonly StoredEvent[]): UsageCounts {
  const start = events.find((event) => event.type === 'run-start');
  if (start?.imported) return createUsageCounts();
  const from = start?.parent?.seq ?? 0;
  const counts = new Counting();
  for (const event of events) counts.add(event, event.seq > from);
  return { runs: 1, models: [...counts.models.values()], tools: [...counts.tools.values()] };
}

class Counting {
  readonly models = new Map<string, DailyModelUsage>();
  readonly tools = new Map<string, ToolCallCounts>();
  private readonly names = new Map<string, string>();
  private model = '';
  private last = '';

  add(event: StoredEvent, isOwn: boolean): void {
    switch (event.type) {
      case 'run-start':
      case 'model':
        this.model = this.last = event.model;
        break;
      case 'message':
        if (event.message.role === 'assistant')
          for (const { id, name } of event.message.toolCalls ?? []) this.names.set(id, name);
        break;
      case 'tool-start':
        this.names.set(event.toolCallId, event.name);
        break;
      case 'approval':
        if (isOwn && event.automatic === undefined)
          this.toolOf(event.toolCallId, event.name)?.waits.push(Math.round(event.waitedMs));
        break;
      case 'tool-end':
        if (isOwn) this.end(event);
        break;
      case 'usage': {
        this.last = this.nameOf(event.asked, event.model);
        if (!isOwn) break;
        const day = this.dayOf(event.at, this.last);
        countUsage(day, event.usage);
        day.timedTokens += event.usage.completionTokens;
        day.ms += Math.max(0, event.ms - (event.delayMs ?? 0));
        break;
      }
      case 'title':
        if (isOwn && event.usage) countUsage(this.dayOf(event.at, event.asked ?? this.last), event.usage);
        break;
      case 'attempt': {
        this.last = this.nameOf(event.asked, event.model);
        if (!isOwn) break;
        const day = this.dayOf(event.at, this.last);
        if (event.waitMs === undefined) day.failures++;
        else day.retries++;
        break;
      }
      case 'phase':
        if (isOwn && event.phase === 'Failed' && event.error?.code === 'ENGINE_ABORTED' && this.last)
          this.dayOf(event.at, this.last).stops++;
        break;
    }
  }

  private end({ toolCallId, name, ok, code, ms }: Extract<StoredEvent, { type: 'tool-end' }>): void {
    const tool = this.toolOf(toolCallId, name);
    if (!tool) return;
    if (code === 'TOOL_DENIED') tool.denied++;
    else if (code === 'TOOL_INTERRUPTED') tool.interrupted++;
    else {
      if (ok) tool.done++;
      else tool.failed++;
      tool.ms.push(Math.round(ms));
    }
  }

  private nameOf(asked: string | undefined, model: string): string {
    return asked ?? (this.model === model || this.model.endsWith(`/${model}`) ? this.model : model);
  }

  private toolOf(toolCallId: string, name: string | undefined): ToolCallCounts | undefined {
    const tool = name || this.names.get(toolCallId);
    if (!tool) return undefined;
    return entryOf(this.tools, tool, () => noCalls(tool));
  }

  private dayOf(at: number, model: string): DailyModelUsage {
    const day = localDay(at);
    return entryOf(this.models, `${day} ${model}`, () => newModelDay(day, model));
  }
}

function countUsage(
  day: DailyModelUsage,
  { promptTokens, cachedTokens = 0, completionTokens, cost }: TokenUsage,
): void {
  day.calls++;
  day.promptTokens += promptTokens;
  day.cachedTokens += cachedTokens;
  day.completionTokens += completionTokens;
  if (cost === undefined) day.unpriced++;
  else day.cost += cost;
}

const sums = [
  'calls',
  'promptTokens',
  'cachedTokens',
  'completionTokens',
  'cost',
  'unpriced',
  'timedTokens',
  'ms',
  'retries',
  'failures',
  'stops',
] as const satisfies readonly (keyof DailyModelUsage)[];

const newModelDay = (day: string, model: string): DailyModelUsage => ({
  day,
  model,
  ...(Object.fromEntries(sums.map((name) => [name, 0])) as Record<(typeof sums)[number], number>),
});

const noCalls = (tool: string): ToolCallCounts => ({
  tool,
  done: 0,
  failed: 0,
  denied: 0,
  interrupted: 0,
  ms: [],
  waits: [],
});

export function sumUsageCounts(all: readonly UsageCounts[]): UsageCounts {
  const tools = new Map<string, ToolCallCounts>();
  for (const { tool, ms, waits, ...counts } of all.flatMap((one) => one.tools)) {
    const sum = entryOf(tools, tool, () => noCalls(tool));
    for (const name of ['done', 'failed', 'denied', 'interrupted'] as const) sum[name] += counts[name];
    for (const one of ms) sum.ms.push(one);
    for (const one of waits) sum.waits.push(one);
  }
  return {
    runs: all.reduce((runs, one) => runs + one.runs, 0),
    models: groupUsageDays(all.flatMap(({ models }) => models)),
    tools: [...tools.values()],
  };
}

/** Groups by day and model, or by model over all days (`day` is ''). */
export function groupUsageDays(days: readonly DailyModelUsage[], by: 'day' | 'model' = 'day'): DailyModelUsage[] {
  const found = new Map<string, DailyModelUsage>();
  for (const one of days) {
    const day = by === 'day' ? one.day : '';
    const sum = entryOf(found, `${day} ${one.model}`, () => newModelDay(day, one.model));
    for (const name of sums) sum[name] += one[name];
  }
  return [...found.values()].sort((one, other) => compare(other.day, one.day) || compare(one.model, other.model));
}

export function median(values: readonly number[]): number | undefined {
  if (values.length === 0) return undefined;
  const sorted = [...values].sort((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export const generationSpeedOf = ({ timedTokens, ms }: DailyModelUsage): number | undefined =>
  ms > 0 && timedTokens > 0 ? (timedTokens * 1000) / ms : undefined;

export const cacheShareOf = ({ promptTokens, cachedTokens }: DailyModelUsage): number | undefined =>
  promptTokens > 0 ? cachedTokens / promptTokens : undefined;

export const knownModelCost = ({ calls, unpriced, cost }: DailyModelUsage): number | undefined =>
  calls > unpriced ? cost : undefined;

export const toolSuccessRate = ({ done, failed }: ToolCallCounts): number | undefined =>
  done + failed > 0 ? done / (done + failed) : undefined;

/** Renders both tables as CSV, separated by an empty line. An unknown value is an empty field, never 0. */
export function usageCountsToCsv({ models, tools }: UsageCounts): string {
  const modelLines = groupUsageDays(models).map((one) => [
    one.day,
    one.model,
    one.calls,
    one.promptTokens,
    one.cachedTokens,
    one.completionTokens,
    knownModelCost(one),
    one.unpriced,
    generationSpeedOf(one),
    one.retries,
    one.failures,
    one.stops,
  ]);
  const toolLines = tools.map((one) => [
    one.tool,
    one.done,
    one.failed,
    one.denied,
    one.interrupted,
    median(one.ms),
    one.waits.length,
    median(one.waits),
  ]);
  const lines = [modelHead, ...modelLines, [], toolHead, ...toolLines];
  return lines.map((line) => `${line.map(field).join(',')}\r\n`).join('');
}

const modelHead = [
  'day',
  'model',
  'calls',
  'tokens read',
  'of these cached',
  'tokens written',
  'cost in dollars',
  'calls without a price',
  'tokens a second',
  'retries',
  'failures',
  'stops',
];
const toolHead = [
  'tool',
  'done',
  'failed',
  'denied',
  'interrupted',
  'median ms',
  'questions',
  'median ms until an answer',
];

// Quotes a field according to RFC 4180. Text that a spreadsheet would treat as a formula receives a leading apostrophe.
function field(value: string | number | undefined): string {
  if (typeof value === 'number') return String(Math.round(value * 1e6) / 1e6);
  const text = /^[=+\-@\t\r]/.test(value ?? '') ? `'${value}` : (value ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function localDay(at: number): string {
  const date = new Date(at);
  const two = (value: number) => String(value).padStart(2, '0');
  if (Number.isNaN(date.getTime())) return '';
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

function entryOf<Value>(map: Map<string, Value>, name: string, make: () => Value): Value {
  const known = map.get(name);
  if (known !== undefined) return known;
  const made = make();
  map.set(name, made);
  return made;
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
