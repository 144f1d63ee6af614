import assert from 'node:assert/strict';
import { RunList } from '../../../src/extension/panel/runList.ts';
import type { WorktreeRunStatus } from '../../../src/extension/runs/worktrees.ts';
import type { HostMessage } from '../../../src/protocol/panel/panelMessages.ts';
import type { RunSummary } from '../../../src/protocol/run/summary.ts';

type Told = Extract<HostMessage, { type: 'runs' }>;

describe('the list of runs', () => {
  const run = (id: string, updatedAt: number, more: Partial<RunSummary> = {}): RunSummary => ({
    ...{ id, title: id, phase: 'WaitingUser', createdAt: 1, updatedAt, live: false },
    ...more,
  });
  function list(runs: RunSummary[], worktrees: WorktreeRunStatus[] | Error, live: string[] = []) {
    const told: Told[] = [];
    let looks = 0;
    const made = new RunList({
      store: {
        search: async (query) => runs.filter(({ title }) => title.includes(query)).map((one) => ({ run: one })),
      },
      states: { all: [], look: async () => {} },
      liveIds: () => live,
      elsewhere: async () => {
        looks++;
        if (worktrees instanceof Error) throw worktrees;
        return worktrees;
      },
      view: { post: (message) => void told.push(message as Told) },
    });
    return { made, told, looks: () => looks };
  }
  const titles = ({ rows }: Told) => rows.map(({ title }) => title);

  it('has those of worktrees at their time, with the folder and branch that they are in, and no place of their own there', async () => {
    const there = run('there', 20, { pinned: true, parent: { run: 'old', seq: 3 } });
    const { made, told } = list(
      [run('new', 30), run('old', 10)],
      [
        { folder: '/gate', branch: 'towpath/gate', title: 'there', run: there, state: 'working' },
        { folder: '/lock', branch: 'towpath/lock', title: 'Mend the lock' },
      ],
    );
    await made.show('');
    assert.deepEqual(titles(told[0]!), ['Mend the lock', 'new', 'there', 'old']);
    const { depth, pinned, state, elsewhere, worktree } = told[0]!.rows[2]!;
    assert.deepEqual(
      { depth, pinned, state, elsewhere, worktree },
      {
        ...{ depth: 0, pinned: undefined, state: 'working', elsewhere: true },
        worktree: { folder: '/gate', branch: 'towpath/gate', begun: true },
      },
    );
    assert.deepEqual(told[0]!.rows[0]!.worktree, { folder: '/lock', branch: 'towpath/lock', begun: false });
  });

  it('marks what waits for an approval since an earlier window, here and in a worktree', async () => {
    const there = run('there', 20, { awaitsApproval: true });
    const { made, told } = list(
      [run('here', 30, { awaitsApproval: true }), run('other', 10)],
      [{ folder: '/gate', branch: 'gate', title: 'there', run: there, state: 'asking', awaitsApproval: true }],
    );
    await made.show('');
    assert.deepEqual(
      told[0]!.rows.map(({ title, state, awaitsApproval, elsewhere }) => [title, state, awaitsApproval, elsewhere]),
      [
        ['here', 'asking', true, undefined],
        ['there', 'asking', true, true],
        ['other', undefined, undefined, undefined],
      ],
    );
  });

  it('finds those by title and branch, and asks for them once for as long as it is open', async () => {
    const gate = { folder: '/gate', branch: 'towpath/gate', title: 'Öffne das Tor', run: run('there', 20) };
    const { made, told, looks } = list([run('new', 30)], [gate]);
    for (const query of ['', 'gate', 'offne TOR', 'nobody']) await made.show(query);
    assert.deepEqual(told.map(titles), [['there', 'new'].reverse(), ['there'], ['there'], []]);
    assert.equal(looks(), 1);
    await made.show(undefined);
    await made.show('');
    assert.equal(looks(), 2);
  });

  it('is told without them where they cannot be looked for', async () => {
    const { made, told } = list([run('new', 30, { imported: true })], new Error('gone'));
    await made.show('');
    assert.deepEqual(
      told[0]!.rows.map(({ title, imported }) => ({ title, imported })),
      [{ title: 'new', imported: true }],
    );
  });
});
