import { underTheirRuns } from '../../protocol/branches.ts';
import type { RunStore } from '../../runs/store.ts';
import type { RunStates } from '../runs/runStates.ts';
import type { ChatView } from '../view/chatView.ts';

/** What one message carries; the others are found by their words. */
const mostRows = 200;

interface Parts {
  store: Pick<RunStore, 'search'>;
  states: Pick<RunStates, 'all' | 'look'>;
  liveIds(): readonly string[];
  view: Pick<ChatView, 'post'>;
}

/** The list of runs in the panel, as long as that shows it: a thousand of them are no part of what is told all the time. */
export class RunList {
  private query?: string;
  private working = false;
  private again = false;

  constructor(private readonly parts: Parts) {}

  /** Tells the runs with these words from now on; undefined: it is closed. */
  async show(query: string | undefined): Promise<void> {
    const opens = query !== undefined && this.query === undefined;
    this.query = query;
    if (opens) void this.parts.states.look(); // what is different then comes by itself
    await this.refresh();
  }

  /** Something in it is different, or may be. What comes while it is being made makes it once more. */
  async refresh(): Promise<void> {
    if (this.working) this.again = true;
    if (this.working || this.query === undefined) return;
    this.working = true;
    try {
      do {
        this.again = false;
        await this.tell(this.query);
      } while (this.again && this.query !== undefined);
    } finally {
      this.working = false;
    }
  }

  private async tell(query: string): Promise<void> {
    const { store, states, view } = this.parts;
    const found = await store.search(query);
    if (this.query !== query) {
      this.again = true;
      return;
    }
    const live = new Set(this.parts.liveIds());
    const now = new Map(states.all.map((one) => [one.runId, one]));
    const excerpts = new Map(found.map(({ run, excerpt }) => [run.id, excerpt]));
    const placed = underTheirRuns(found.map(({ run }) => run));
    const rows = placed.slice(0, mostRows).map(({ run, depth, newest }) => {
      const { state, elsewhere } = now.get(run.id) ?? {};
      const excerpt = excerpts.get(run.id);
      return { ...run, live: live.has(run.id), depth, newest, state, elsewhere, excerpt };
    });
    view.post({ type: 'runs', query, rows, more: placed.length - rows.length });
  }
}
