import type { RunRow } from '../../protocol/panel/panelMessages.ts';
import { underTheirRuns } from '../../protocol/run/branches.ts';
import type { RunSummary } from '../../protocol/run/summary.ts';
import { matches } from '../../runs/searchRuns.ts';
import type { RunStore } from '../../runs/store.ts';
import { type RunStates, stateAtRest } from '../runs/runStates.ts';
import type { RunElsewhere } from '../runs/worktrees.ts';
import type { ChatView } from '../view/chatView.ts';

/** What one message carries; the others are found by their words. */
const mostRows = 200;

interface Dependencies {
  store: Pick<RunStore, 'search'>;
  states: Pick<RunStates, 'all' | 'look'>;
  liveIds(): readonly string[];
  /** In worktrees that belong to what is open here. */
  elsewhere(): Promise<readonly RunElsewhere[]>;
  view: Pick<ChatView, 'post'>;
}

/** The list of runs in the panel, as long as that shows it: a thousand of them are no part of what is told all the time. */
export class RunList {
  private query?: string;
  private working = false;
  private again = false;
  /** As they were when the list was opened: their windows tell this one nothing. */
  private elsewhere: Promise<readonly RunElsewhere[]> = Promise.resolve([]);

  constructor(private readonly parts: Dependencies) {}

  /** Tells the runs with these words from now on; undefined: it is closed. */
  async show(query: string | undefined): Promise<void> {
    const opens = query !== undefined && this.query === undefined;
    this.query = query;
    if (opens) {
      void this.parts.states.look(); // what is different then comes by itself
      this.elsewhere = this.parts.elsewhere().catch(() => []);
    }
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
    const [found, elsewhere] = await Promise.all([store.search(query), this.elsewhere]);
    if (this.query !== query) {
      this.again = true;
      return;
    }
    const live = new Set(this.parts.liveIds());
    const now = new Map(states.all.map((one) => [one.runId, one]));
    const excerpts = new Map(found.map(({ run, excerpt }) => [run.id, excerpt]));
    const inWorktrees = elsewhere.filter(({ title, branch }) => matches(`${title} ${branch}`, query));
    const worktrees = new Map(inWorktrees.map((one) => [worktreeRun(one), one]));
    const placed = underTheirRuns([...found.map(({ run }) => run), ...worktrees.keys()]);
    const rows = placed.slice(0, mostRows).map(({ run, depth, newest }): RunRow => {
      const other = worktrees.get(run);
      if (other) return { ...run, depth, newest, ...ofWorktree(other) };
      const { state, elsewhere, awaitsApproval } = now.get(run.id) ?? { ...stateAtRest(run), elsewhere: undefined };
      const excerpt = excerpts.get(run.id);
      return { ...run, live: live.has(run.id), depth, newest, state, elsewhere, awaitsApproval, excerpt };
    });
    view.post({ type: 'runs', query, rows, more: placed.length - rows.length });
  }
}

/** A run of another window as one of the list: alone, for what surrounds it is in that window. */
function worktreeRun({ folder, title, run }: RunElsewhere): RunSummary {
  const at = Date.now(); // it is about to begin
  const unbegun: RunSummary = { id: folder, title, phase: 'WaitingUser', createdAt: at, updatedAt: at, live: false };
  return { ...(run ?? unbegun), parent: undefined, pinned: undefined };
}

const ofWorktree = ({ folder, branch, run, state, awaitsApproval }: RunElsewhere) => ({
  worktree: { folder, branch, begun: run !== undefined },
  state,
  awaitsApproval,
  elsewhere: state === 'asking' || state === 'working' || undefined,
});
