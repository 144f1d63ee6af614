import type { EventBody } from '../../protocol/run/events.ts';
import { type CompactionOptions, type PrefetchedSummary, partFull, summaryAhead } from './compaction.ts';
import { prefetchSummary, type Summariser, type SummarySize } from './summarize.ts';

/** Parts of what may be full, from which on a summary is made beside the work, or where it would be in its way, at rest. */
const [beside, atRest] = [0.75, 0.9];
/** Part of it that has to be filled before it is looked at once more whether a summary will be needed. */
const again = 0.05;

interface Making extends PrefetchedSummary {
  /** Where the part of the conversation begins that it is of. */
  begin: number;
  size: SummarySize;
  over: AbortController;
  /** What it took, where that is for its use to say. */
  took?: EventBody;
}

interface How {
  /** Part of what may be full. */
  from: number;
  /** Whether this model may be asked for it now. */
  may(by: Summariser): boolean;
  /** Part of what may be full from which on it is used. */
  usedFrom: number;
  tell(request: EventBody): void;
}

/**
 * The summary that a run will need when its window is full, made before: beside its work, or, by a model that has one thing at a time in
 * this machine's memory, while it rests. In memory alone, one at a time: where it is not needed, it has never been, but for what it cost.
 * One that fails is not told of, nor asked for again until room was made; nobody is asked anything for it.
 */
export class PrefetchState {
  private making?: Making;
  private room?: CompactionOptions;
  /** Where the part of a conversation begins of which none could be had. */
  private failed?: number;
  /** The part of what may be full at which it was looked at last, for a conversation that begins so. */
  private looked = { begin: 0, part: 0 };

  /** @param keep records what it cost, at whatever moment */
  constructor(private readonly keep: (usage: EventBody) => Promise<unknown>) {}

  /** The run is at work in this room: from now on its stop is the stop of what is on its way. */
  look(room: CompactionOptions): void {
    if (this.room?.signal !== room.signal) room.signal.addEventListener('abort', () => this.giveUp(), { once: true });
    this.room = room;
    const tell = (request: EventBody) => void room.emit(request);
    this.begin(room, { from: beside, may: ({ onThisMachine }) => !onThisMachine, usedFrom: 1, tell });
  }

  /** The run rests, and nothing else is at work. */
  rest(tell: How['tell']): void {
    const { room } = this;
    this.room = undefined;
    if (!room || room.signal.aborted) return;
    const may = ({ onThisMachine, model, id }: Summariser) =>
      onThisMachine === true && model === room.prefix.model && id === room.called.id;
    this.looked.part = 0;
    this.begin(room, { from: atRest, may, usedFrom: atRest, tell });
  }

  /** Ends what is on its way at rest: the model is needed. Resolves when it does nothing of that any more. */
  async makeWay(): Promise<void> {
    const { making } = this;
    if (!making || making.usedFrom === 1) return;
    this.giveUp();
    await making.words;
  }

  /** Ends what is on its way. What is there stays. */
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
    const part = partFull(room);
    const last = this.looked.begin === begin ? this.looked.part + again : 0;
    if (part === undefined || part <= Math.max(how.from, last)) return;
    this.looked = { begin, part };
    const ahead = summaryAhead(room);
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
          making.isThere = true; // but for the record of it
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
