// @invariant messages-are-append-only: Messages are appended and never rewritten; only a compaction changes the messages of a request.
import { type Compaction, createCompactionRecord, defaultTruncationLength } from '../../protocol/content/compaction.ts';
import type { ErrorInfo } from '../../protocol/content/messages.ts';
import type { RunConversation } from '../core/loopConversation.ts';
import { nextPromptTokens, promptPrefixTokens, tokensOfMessages } from '../core/tokenCount.ts';
import { compactionContextWindowRatio, compactionThreshold, contextUsageFromParts } from './contextUsage.ts';
import { textRetainedInSummary } from './pinnedText.ts';
import { buildPrompt, countPromptTokenParts, estimatedPromptTokens } from './promptMessages.ts';
import { type ConversationWithModel, emitSummaryProgress, type SummarySize, summarizeMessages } from './summarize.ts';
import { recentTurnsStart } from './turnBoundaries.ts';

/**
 * Summary that is prefetched or in progress. `upTo`: index after the summarized messages. `usedFrom`: fill level of the context budget
 * (0..1) from which the summary is used. `summary`: undefined if the request failed, never rejects.
 */
export interface PrefetchedSummary {
  upTo: number;
  isDone: boolean;
  usedFrom: number;
  summary: Promise<string | undefined>;
}

/**
 * Access to prefetched summaries: `of` returns the summary that matches the current prompt; `use` resolves after the usage is recorded;
 * `drop` discards the summary.
 */
interface PrefetchedSummaries {
  of(run: RunConversation): PrefetchedSummary | undefined;
  use(): Promise<unknown>;
  drop(): void;
}

export interface CompactionOptions extends ConversationWithModel {
  ahead?: PrefetchedSummaries;
  /** `contextWindow`: tokens, absent if unknown. `brief`: task of the workflow node, retained verbatim. */
  contextWindow?: number;
  brief?: string;
}

const summaryShare = 0.1;
const pinnedShare = 0.1;
const worthIt = 0.1;
const helpful = 0.05;
const wanted = 0.6;
const enough = 0.8;
const forLastTurns = 0.3;

/** Characters per long text in the last turns, tried in order if these turns alone exceed the budget. */
const limits = [9600, 4800, 2400, 1200, defaultTruncationLength, 300, 150, 75];

type Step = Omit<Compaction, 'at'>;

interface Way {
  steps: Step[];
  tokens: number;
}

/**
 * Reduces the prompt of a conversation. First old tool output and arguments are truncated, then the oldest turns are summarized. The task,
 * the newest request, the text of `textRetainedInSummary` and the last turns stay; their long texts are truncated only if they alone exceed the
 * budget. `overflowed`: the provider rejected the prompt and may have reported the window. `asked`: the user requested the compaction.
 * Resolves to true if the next prompt is smaller, or to the error of a spending limit.
 */
export async function compactConversation(
  options: CompactionOptions,
  why: 'nearly full' | 'overflowed' | 'asked',
  size?: number,
): Promise<boolean | ErrorInfo> {
  const { run, prefix, emit } = options;
  const fixed = promptPrefixTokens(prefix);
  const estimate = fixed + estimatedPromptTokens(run);
  const counted = nextPromptTokens(run, estimate);
  const overflowed = why === 'overflowed';
  const now = overflowed ? Math.max(counted, estimate, size ?? 0) : counted;
  const window =
    why === 'asked'
      ? asIfFull(now, options.contextWindow)
      : overflowed
        ? Math.min(options.contextWindow ?? now, size ?? now / 2)
        : options.contextWindow;
  if (!window) return false;
  const most = compactionThreshold(window, prefix);
  const ahead = options.ahead?.of(run);
  const isNeeded = why !== 'nearly full' || now > most;
  if (!isNeeded && !(ahead?.isDone && now > most * ahead.usedFrom)) return false;

  const scale = Math.max(1, now / estimate); // correction of the estimate by the provider's count
  const measures = { fixed, now, window, most, scale, overflowed };
  const way = choose(options, measures);
  if (!way) return false;
  const after = (step: Step) => {
    const { messages } = run;
    const parts = countPromptTokenParts(
      buildPrompt({ messages, compactions: [...run.compactions, createCompactionRecord(step, messages.length)] }),
      messages,
    );
    return contextUsageFromParts(
      parts,
      prefix,
      options.contextWindow,
      scale * (promptPrefixTokens(prefix) + parts.sent),
    );
  };
  const fits = ahead && isSummary(way.steps[0]) && (why !== 'asked' || ahead.upTo === way.steps[0]!.upTo);
  const made = fits ? await madeAhead(options, measures, ahead) : undefined;
  if (options.signal.aborted || !(isNeeded || made)) return false;
  if (made) {
    await options.ahead!.use();
    await emit({ type: 'compaction', ...made, filling: after(made) });
    return true;
  }
  for (const step of way.steps) {
    if (step.summary === undefined) await emit({ type: 'compaction', ...step, filling: after(step) });
    else {
      const summary = await summarizeMessages(options, step.upTo, sizeOf(way, measures));
      if (typeof summary !== 'string') return summary ?? false;
      const made = { ...step, summary };
      await emit({ type: 'compaction', ...made, filling: after(made) });
    }
  }
  return true;
}

async function madeAhead(
  options: CompactionOptions,
  measures: Measures,
  ahead: PrefetchedSummary,
): Promise<Step | undefined> {
  const { window, most } = measures;
  const step = summaryStep(options, measures, ahead.upTo, pinnedShare);
  const tokens = tokensAfter(options, measures, [step]);
  if (tokens + window * summaryShare <= most * enough) {
    if (!ahead.isDone) emitSummaryProgress(options.emit);
    const summary = await ahead.summary;
    const made = { ...step, summary };
    if (summary !== undefined && tokensAfter(options, measures, [made]) <= most * enough) return made;
  }
  options.ahead!.drop();
  return undefined;
}

const asIfFull = (now: number, window = Number.POSITIVE_INFINITY): number =>
  Math.min(window, now / compactionContextWindowRatio);

/** Share of the context budget in use; undefined: unknown window. */
export function contextFillRatio({ run, prefix, contextWindow: window }: CompactionOptions): number | undefined {
  return (
    window &&
    nextPromptTokens(run, promptPrefixTokens(prefix) + estimatedPromptTokens(run)) / compactionThreshold(window, prefix)
  );
}

/**
 * Range and size of the summary that a future compaction will need, assuming that the free budget fills with turns that stay. Undefined:
 * the compaction will need no summary.
 */
export function prefetchedSummaryRange(options: CompactionOptions): { upTo: number; size: SummarySize } | undefined {
  const { run, prefix, contextWindow: window } = options;
  if (!window) return undefined;
  const before = promptPrefixTokens(prefix);
  const estimate = before + estimatedPromptTokens(run);
  const now = nextPromptTokens(run, estimate);
  const most = compactionThreshold(window, prefix);
  const scale = Math.max(1, now / estimate);
  const coming = Math.max(0, most - now);
  const lastTurns = Math.max(0, most * forLastTurns - coming);
  const fixed = before + coming / scale;
  const way = choose(options, { fixed, now: now + coming, window, most, scale, overflowed: false, lastTurns });
  const [step] = way?.steps ?? [];
  return step && isSummary(step) ? { upTo: step.upTo, size: sizeOf(way!, { window, most, scale }) } : undefined;
}

function sizeOf({ tokens }: Way, { window, most, scale }: Pick<Measures, 'window' | 'most' | 'scale'>): SummarySize {
  return {
    reads: Math.floor((window * compactionContextWindowRatio * wanted) / scale),
    writes: Math.floor(Math.min(window * summaryShare, most - tokens) / scale),
  };
}

/** Estimates the tokens that a requested compaction would free; `fixed`: tokens before the conversation. */
export function tokensFreedByCompaction(run: RunConversation, fixed: number, contextWindow?: number): number {
  const estimate = fixed + estimatedPromptTokens(run);
  const now = nextPromptTokens(run, estimate);
  const window = asIfFull(now, contextWindow);
  const scale = Math.max(1, now / estimate);
  const way = choose({ run }, { fixed, now, window, most: now, scale, overflowed: false });
  if (!way) return 0;
  const summary = isSummary(way.steps[0]) ? window * summaryShare : 0;
  return Math.max(0, Math.round(now - way.tokens - summary));
}

interface Measures {
  /**
   * Token counts of a compaction. `fixed`: before the conversation; `most`: the context budget; `lastTurns`: budget of the last turns, a
   * share of `most` by default.
   */
  fixed: number;
  now: number;
  window: number;
  most: number;
  scale: number;
  overflowed: boolean;
  lastTurns?: number;
}

function tokensAfter(
  { run }: Pick<CompactionOptions, 'run'>,
  { fixed, scale }: Measures,
  steps: readonly Step[],
): number {
  const { messages } = run;
  const compactions = [...run.compactions, ...steps.map((step) => createCompactionRecord(step, messages.length))];
  return scale * (fixed + tokensOfMessages(buildPrompt({ messages, compactions })));
}

function summaryStep(
  { run, brief }: Pick<CompactionOptions, 'run' | 'brief'>,
  { window, scale }: Measures,
  upTo: number,
  part: number,
): Step & { summary: string } {
  const tokens = (window * pinnedShare) / scale;
  return {
    upTo,
    summary: '',
    kept: textRetainedInSummary(run, { upTo, tokens, besides: (window * part) / scale, brief }),
  };
}

/** Chooses the mildest sufficient candidate, else a fitting candidate, else the most effective candidate if worthwhile. */
function choose(options: Pick<CompactionOptions, 'run' | 'brief'>, measures: Measures): Way | undefined {
  const { run } = options;
  const { now, window, most, scale, overflowed, lastTurns = most * forLastTurns } = measures;
  const { messages } = run;
  const wayOf = (steps: Step[]): Way => ({ steps, tokens: tokensAfter(options, measures, steps) });
  const begin = run.compactions.findLast(({ summary }) => summary !== undefined)?.upTo ?? 0;
  const borders = [lastTurns / scale, 0].map((tokens) => Math.max(begin, recentTurnsStart(messages, tokens)));

  const old = wayOf([{ upTo: borders[0]! }]);
  if (old.tokens <= most * wanted) return old;
  const frees = (way: Way) => now - way.tokens > window * worthIt;
  const isRoomy = ({ steps, tokens }: Way) =>
    tokens + (isSummary(steps[0]) ? window * summaryShare : 0) <= most * enough;
  const fits = (way: Way) => way.tokens <= most && (overflowed || frees(way));
  const tried: Way[] = [];
  for (const part of [pinnedShare, pinnedShare / 4]) {
    const summaries = [...new Set(borders)].flatMap((upTo) => {
      const step = summaryStep(options, measures, upTo, part);
      return wayOf([{ upTo }]).tokens - wayOf([step]).tokens > window * helpful ? [[step]] : [];
    });
    const beginnings = [old.tokens < now ? old.steps : [], ...summaries];
    const shortened = limits.flatMap((characters) =>
      beginnings.map((steps) => [...steps, { upTo: messages.length, most: characters }]),
    );
    for (const steps of [...summaries, ...shortened]) {
      const way = wayOf(steps);
      if (isRoomy(way)) return way;
      tried.push(way);
    }
    const way = tried.find(fits);
    if (way) return way;
  }
  const [least] = tried.toSorted((one, other) => one.tokens - other.tokens);
  return least && frees(least) ? least : undefined;
}

const isSummary = (step: Step | undefined): boolean => step?.summary !== undefined;
