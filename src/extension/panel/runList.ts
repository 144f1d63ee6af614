import type { RunListRow } from '../../protocol/panel/panelMessages.ts';
import { sortRunsUnderParents } from '../../protocol/run/branches.ts';
import type { RunSummary } from '../../protocol/run/summary.ts';
import { matchesSearchQuery } from '../../runs/searchRuns.ts';
import type { RunStore } from '../../runs/store.ts';
import { type RunStates, restingRunState } from '../runs/runStates.ts';
import type { WorktreeRunStatus } from '../runs/worktrees.ts';
import type { ChatView } from '../view/chatView.ts';

/** Maximum of rows per message; search finds the others. */
const maxRows = 200;

interface Dependencies {
  store: Pick<RunStore, 'search'>;
  states: Pick<RunStates, 'all' | 'look'>;
  liveIds(): readonly string[];
  elsewhere(): Promise<readonly WorktreeRunStatus[]>;
  view: Pick<ChatView, 'post'>;
}

/** Run list of the panel, updated only while open. */
export class RunList {
  private query?: string;
  private working = false;
  private again = false;
  /** Runs in worktrees, read when the list opens, because their windows send no events. */
  private elsewhere: Promise<readonly WorktreeRunStatus[]> = Promise.resolve([]);

  constructor(private readonly parts: Dependencies) {}

  async show(query: string | undefined): Promise<void> {
    const opens = query !== undefined && this.query === undefined;
    this.query = query;
    if (opens) {
      void this.parts.states.look(); // changes arrive as events
      this.elsewhere = this.parts.elsewhere().catch(() => []);
    }
    await this.refresh();
  }

  /** Updates the list; a request during an update repeats the update. */
  async refresh(): Promise<void> {
    if (this.working) this.again = true;
    if (this.working || this.query === undefined) return;
    this.working = true;
    try {
      do {
        this.again = false;
        await this.postRows(this.query);
      } while (this.again && this.query !== undefined);
    } finally {
      this.working = false;
    }
  }

  private async postRows(query: string): Promise<void> {
    const { store, states, view } = this.parts;
    const [found, elsewhere] = await Promise.all([store.search(query), this.elsewhere]);
    if (this.query !== query) {
      this.again = true;
      return;
    }
    const live = new Set(this.parts.liveIds());
    const now = new Map(states.all.map((one) => [one.runId, one]));
    const excerpts = new Map(found.map(({ run, excerpt }) => [run.id, excerpt]));
    const inWorktrees = elsewhere.filter(({ title, branch }) => matchesSearchQuery(`${title} ${branch}`, query));
    const worktrees = new Map(inWorktrees.map((one) => [worktreeRun(one), one]));
    const sorted = sortRunsUnderParents([...found.map(({ run }) => run), ...worktrees.keys()]);
    const rows = sorted.slice(0, maxRows).map(({ run, depth, newest }): RunListRow => {
      const other = worktrees.get(run);
      if (other) return { ...run, depth, newest, ...ofWorktree(other) };
      const { state, elsewhere, awaitsApproval } = now.get(run.id) ?? { ...restingRunState(run), elsewhere: undefined };
      const excerpt = excerpts.get(run.id);
      return { ...run, live: live.has(run.id), depth, newest, state, elsewhere, awaitsApproval, excerpt };
    });
    view.post({ type: 'runs', query, rows, more: sorted.length - rows.length });
  }
}

function worktreeRun({ folder, title, run }: WorktreeRunStatus): RunSummary {
  const at = Date.now(); // about to start
  const unbegun: RunSummary = { id: folder, title, phase: 'WaitingUser', createdAt: at, updatedAt: at, live: false };
  return { ...(run ?? unbegun), parent: undefined, pinned: undefined };
}

const ofWorktree = ({ folder, branch, run, state, awaitsApproval }: WorktreeRunStatus) => ({
  worktree: { folder, branch, begun: run !== undefined },
  state,
  awaitsApproval,
  elsewhere: state === 'asking' || state === 'working' || undefined,
});
