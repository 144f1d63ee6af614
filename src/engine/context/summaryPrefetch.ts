// @invariant unused-prefetch-costs-only: An unused prefetched summary leaves no trace but its cost.
import type { RunEventBody } from '../../protocol/run/events.ts';
import { onAbort } from '../../protocol/values/abort.ts';
import {
  type CompactionOptions,
  contextFillRatio,
  type PrefetchedSummary,
  prefetchedSummaryRange,
} from './compaction.ts';
import { prefetchSummary, type SummaryModel, type SummarySize } from './summarize.ts';

/**
 * Fill levels of the context budget (0..1) that start a prefetch: in parallel with the work, or at rest if a parallel request would slow
 * down the run.
 */
const [beside, atRest] = [0.75, 0.9];
const again = 0.05;

interface Making extends PrefetchedSummary {
  begin: number;
  size: SummarySize;
  over: AbortController;
  usage?: RunEventBody;
}

interface PrefetchSettings {
  from: number;
  may(by: SummaryModel): boolean;
  usedFrom: number;
  report(request: RunEventBody): void;
}

export class SummaryPrefetcher {
  private making?: Making;
  private options?: CompactionOptions;
  private failed?: number;
  private looked = { begin: 0, part: 0 };

  constructor(private readonly keep: (usage: RunEventBody) => Promise<unknown>) {}

  look(options: CompactionOptions): void {
    if (this.options?.signal !== options.signal) onAbort(options.signal, () => this.giveUp()); // each run has its own signal
    this.options = options;
    const report = (request: RunEventBody) => void options.emit(request);
    this.begin(options, { from: beside, may: ({ onThisMachine }) => !onThisMachine, usedFrom: 1, report });
  }

  rest(report: PrefetchSettings['report']): void {
    const { options } = this;
    this.options = undefined;
    if (!options || options.signal.aborted) return;
    const may = ({ onThisMachine, model, id }: SummaryModel) =>
      onThisMachine === true && model === options.prefix.model && id === options.called.id;
    this.looked.part = 0;
    this.begin(options, { from: atRest, may, usedFrom: atRest, report });
  }

  /**
   * Stops the prefetch of a summary begun while the run was at rest, because a run needs the model. A prefetch begun during a run
   * continues. Resolves when the stopped prefetch has ended.
   */
  async makeWay(): Promise<void> {
    const { making } = this;
    if (!making || making.usedFrom === 1) return;
    this.giveUp();
    await making.summary;
  }

  giveUp(): void {
    if (this.making && !this.making.isDone) this.drop();
  }

  of(run: CompactionOptions['run']): PrefetchedSummary | undefined {
    const { making } = this;
    if (making && (making.begin !== beginOf(run) || making.upTo > run.messages.length)) this.drop();
    return this.making;
  }

  async use(): Promise<void> {
    const usage = this.making?.usage;
    this.drop();
    if (usage) await this.keep(usage);
  }

  drop(): void {
    const { making } = this;
    this.making = undefined;
    making?.over.abort();
  }

  private begin(options: CompactionOptions, settings: PrefetchSettings): void {
    const begin = beginOf(options.run);
    if (this.of(options.run) || this.failed === begin) return;
    const part = contextFillRatio(options);
    const last = this.looked.begin === begin ? this.looked.part + again : 0;
    if (part === undefined || part <= Math.max(settings.from, last)) return;
    this.looked = { begin, part };
    const ahead = prefetchedSummaryRange(options);
    if (!ahead) return;
    const { usedFrom } = settings;
    const none = Promise.resolve(undefined);
    const making: Making = { begin, ...ahead, over: new AbortController(), isDone: false, usedFrom, summary: none };
    this.making = making;
    making.summary = this.make(making, options, settings).catch(() => undefined);
  }

  private async make(
    making: Making,
    { run, small, called, prefix, contextWindow }: CompactionOptions,
    settings: PrefetchSettings,
  ) {
    const { begin, upTo, size, over } = making;
    let isAsked = false;
    try {
      const by = (await small?.({ quiet: true })) ?? { ...called, model: prefix.model, contextWindow };
      isAsked = settings.may(by);
      if (!isAsked) return undefined;
      const summary = await prefetchSummary({ run, by, signal: over.signal }, upTo, size, {
        asks: settings.report,
        onUsage: async (usage) => {
          making.isDone = true; // only the record is pending
          if (usage.type === 'usage' && usage.usage.cost === 0) making.usage = usage;
          else await this.keep(usage);
        },
      });
      making.isDone = summary !== undefined;
      return summary;
    } finally {
      if (!making.isDone && this.making === making) {
        this.making = undefined;
        if (isAsked) this.failed = begin;
      }
    }
  }
}

const beginOf = ({ compactions }: CompactionOptions['run']): number =>
  compactions.findLast(({ summary }) => summary !== undefined)?.upTo ?? 0;
