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
  took?: RunEventBody;
}

interface How {
  from: number;
  may(by: SummaryModel): boolean;
  usedFrom: number;
  tell(request: RunEventBody): void;
}

export class SummaryPrefetcher {
  private making?: Making;
  private room?: CompactionOptions;
  private failed?: number;
  private looked = { begin: 0, part: 0 };

  constructor(private readonly keep: (usage: RunEventBody) => Promise<unknown>) {}

  look(room: CompactionOptions): void {
    if (this.room?.signal !== room.signal) onAbort(room.signal, () => this.giveUp()); // each run has its own signal
    this.room = room;
    const tell = (request: RunEventBody) => void room.emit(request);
    this.begin(room, { from: beside, may: ({ onThisMachine }) => !onThisMachine, usedFrom: 1, tell });
  }

  rest(tell: How['tell']): void {
    const { room } = this;
    this.room = undefined;
    if (!room || room.signal.aborted) return;
    const may = ({ onThisMachine, model, id }: SummaryModel) =>
      onThisMachine === true && model === room.prefix.model && id === room.called.id;
    this.looked.part = 0;
    this.begin(room, { from: atRest, may, usedFrom: atRest, tell });
  }

  /**
   * Stops the prefetch of a summary begun while the run was at rest, because a run needs the model. A prefetch begun during a run
   * continues. Resolves when the stopped prefetch has ended.
   */
  async makeWay(): Promise<void> {
    const { making } = this;
    if (!making || making.usedFrom === 1) return;
    this.giveUp();
    await making.words;
  }

  giveUp(): void {
    if (this.making && !this.making.isThere) this.drop();
  }

  of(run: CompactionOptions['run']): PrefetchedSummary | undefined {
    const { making } = this;
    if (making && (making.begin !== beginOf(run) || making.upTo > run.messages.length)) this.drop();
    return this.making;
  }

  async use(): Promise<void> {
    const took = this.making?.took;
    this.drop();
    if (took) await this.keep(took);
  }

  drop(): void {
    const { making } = this;
    this.making = undefined;
    making?.over.abort();
  }

  private begin(room: CompactionOptions, how: How): void {
    const begin = beginOf(room.run);
    if (this.of(room.run) || this.failed === begin) return;
    const part = contextFillRatio(room);
    const last = this.looked.begin === begin ? this.looked.part + again : 0;
    if (part === undefined || part <= Math.max(how.from, last)) return;
    this.looked = { begin, part };
    const ahead = prefetchedSummaryRange(room);
    if (!ahead) return;
    const { usedFrom } = how;
    const none = Promise.resolve(undefined);
    const making: Making = { begin, ...ahead, over: new AbortController(), isThere: false, usedFrom, words: none };
    this.making = making;
    making.words = this.make(making, room, how).catch(() => undefined);
  }

  private async make(making: Making, { run, small, called, prefix, contextWindow }: CompactionOptions, how: How) {
    const { begin, upTo, size, over } = making;
    let isAsked = false;
    try {
      const by = (await small?.({ quiet: true })) ?? { ...called, model: prefix.model, contextWindow };
      isAsked = how.may(by);
      if (!isAsked) return undefined;
      const words = await prefetchSummary({ run, by, signal: over.signal }, upTo, size, {
        asks: how.tell,
        took: async (usage) => {
          making.isThere = true; // only the record is pending
          if (usage.type === 'usage' && usage.usage.cost === 0) making.took = usage;
          else await this.keep(usage);
        },
      });
      making.isThere = words !== undefined;
      return words;
    } finally {
      if (!making.isThere && this.making === making) {
        this.making = undefined;
        if (isAsked) this.failed = begin;
      }
    }
  }
}

const beginOf = ({ compactions }: CompactionOptions['run']): number =>
  compactions.findLast(({ summary }) => summary !== undefined)?.upTo ?? 0;
