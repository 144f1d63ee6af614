import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { editorClosedError } from '../../../src/engine/core/abortReason.ts';
import { statusBarContent, waitingRunsBadge } from '../../../src/extension/panel/status.ts';
import { RunStates, restingRunState, stateLabel } from '../../../src/extension/runs/runStates.ts';
import type { RunEvent, RunEventBody, StoredEvent } from '../../../src/protocol/run/events.ts';
import { applyEvent } from '../../../src/protocol/run/fold.ts';
import { pendingApprovalIds } from '../../../src/protocol/run/pending.ts';
import { RunStore, type WritableRun } from '../../../src/runs/store.ts';

const windows = new Set<Window>();

/** A window on the folder: what its engine and its panel would say of its runs is said by hand. */
class Window {
  readonly store: RunStore;
  readonly open = new Map<string, WritableRun>();
  readonly asking = new Set<string>();
  inView?: string;
  /** Ended, and nobody saw how. */
  readonly unseen: string[] = [];
  readonly states: RunStates;

  constructor(private readonly folder: string) {
    windows.add(this);
    this.store = new RunStore(folder);
    this.states = new RunStates({
      store: this.store,
      liveIds: () => [...this.open.keys()],
      waits: (runId) => {
        if (this.asking.has(runId)) return 'question';
        return this.awaitsApproval(runId) ? 'approval' : undefined;
      },
      awaitsApproval: (runId) => this.awaitsApproval(runId),
      titleOf: (runId) => this.open.get(runId)?.run.title,
      inView: () => this.inView,
      ended: ({ runId }) => this.unseen.push(runId),
      changed: () => {},
    });
  }

  async works(title: string): Promise<string> {
    const open = await this.store.create(RunStore.newId());
    this.open.set(open.run.id, open);
    await this.happens(open.run.id, { type: 'run-start', workflowId: 'chat', agentId: 'a', model: '' });
    await this.happens(open.run.id, { type: 'title', title });
    await this.happens(open.run.id, { type: 'phase', phase: 'Running' });
    this.states.update();
    return open.run.id;
  }

  asks(runId: string): void {
    this.asking.add(runId);
    this.states.update();
  }

  /** A call of it is put to the user. */
  async requestsApproval(runId: string): Promise<void> {
    const toolCalls = [{ id: 'c', name: 'fs.edit', arguments: {} }];
    await this.happens(runId, { type: 'message', message: { role: 'assistant', content: '', toolCalls } });
    const question = { id: 'q', what: 'Edit a', where: 'a', why: '' };
    const request = { toolCallId: 'c', name: 'fs.edit', question, proposed: { location: '/a' } };
    await this.happens(runId, { type: 'approval-request', ...request });
    this.states.update();
  }

  async allows(runId: string): Promise<void> {
    await this.happens(runId, { type: 'approval', toolCallId: 'c', decision: 'allow', waitedMs: 1 });
    await this.happens(runId, { type: 'tool-start', toolCallId: 'c', name: 'fs.edit' });
    this.states.update();
  }

  /** Goes on with a run of an earlier window. */
  async continues(runId: string): Promise<void> {
    this.open.set(runId, await this.store.open(runId));
    await this.happens(runId, { type: 'phase', phase: 'Running' });
    this.states.update();
  }

  /** What a kill leaves of its runs, with marks as they were then. */
  async isKilled(): Promise<void> {
    for (const [runId, open] of this.open) {
      await open.close();
      writeFileSync(path.join(this.folder, 'runs', runId, 'lock'), JSON.stringify({ id: 'x', pid: 2 ** 30, since: 1 }));
    }
    this.open.clear();
  }

  private awaitsApproval(runId: string): boolean {
    const open = this.open.get(runId);
    return open !== undefined && pendingApprovalIds(open.run).length > 0;
  }

  async ends(runId: string, body: Omit<Extract<RunEventBody, { type: 'phase' }>, 'type'>): Promise<void> {
    await this.happens(runId, { type: 'phase', ...body });
    await this.open.get(runId)!.close();
    this.open.delete(runId);
    this.asking.delete(runId);
    this.states.update();
  }

  shows(runId: string): void {
    this.inView = runId;
    this.states.update();
  }

  /** What every place is drawn from. */
  async says(): Promise<string[]> {
    for (const { store } of windows) await store.marks.read(); // what they said is there by then
    await this.states.look();
    return this.states.all.map((run) => `${run.title} ${stateLabel(run)}`).toSorted();
  }

  private async happens(runId: string, body: RunEventBody): Promise<void> {
    const open = this.open.get(runId)!;
    const event = { runId, seq: open.run.seq + 1, at: 1, ...body } as RunEvent;
    await open.append(event as StoredEvent);
    applyEvent(open.run, event);
    this.states.onEvent(event);
  }
}

describe('which runs concern the person', () => {
  let folder: string;
  let one: Window;
  let two: Window;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'states-'));
    one = new Window(folder);
    two = new Window(folder);
  });
  afterEach(async () => {
    for (const open of [...one.open.values(), ...two.open.values()]) await open.close();
    windows.clear();
    rmSync(folder, { recursive: true });
  });

  it('is the same in two windows, one of which has two runs at work and the other one that waits', async () => {
    await one.works('First');
    await one.works('Second');
    two.asks(await two.works('Third'));
    assert.deepEqual(await one.says(), ['First running', 'Second running', 'Third asks in another window']);
    assert.deepEqual(await two.says(), [
      'First running in another window',
      'Second running in another window',
      'Third asks',
    ]);
    const counts = ({ states: { all: runs }, open, asking }: Window) => {
      const { text } = statusBarContent({ working: open.size, approvals: 0, questions: asking.size, runs });
      return [text, waitingRunsBadge(runs)?.value];
    };
    assert.deepEqual(counts(one), ['$(question) Towpath has a question', 1]);
    assert.deepEqual(counts(two), counts(one));
  });

  it('says that a run rests at its limit of turns, in each window, and in the next one', async () => {
    const limited = await one.works('Long');
    const error = { code: 'ENGINE_MAX_TURNS_EXCEEDED', message: 'Stopped at the limit of 50 turns.' };
    await one.ends(limited, { phase: 'Failed', error });
    assert.deepEqual(await one.says(), ['Long Limit reached']);
    assert.deepEqual(await two.says(), ['Long Limit reached']);
    assert.deepEqual(waitingRunsBadge(one.states.all), { value: 1, tooltip: '“Long”: Limit reached' });
  });

  it('has what ended until somebody has seen it, in whichever window', async () => {
    const [done, broken, stopped, closed] = [
      await one.works('Done'),
      await one.works('Broken'),
      await one.works('Stopped'),
      await one.works('Closed'),
    ];
    await one.ends(done, { phase: 'WaitingUser' });
    await one.ends(broken, { phase: 'Failed', error: { code: 'LLM_X', message: 'No.' } });
    await one.ends(stopped, { phase: 'Failed', error: { code: 'ENGINE_ABORTED', message: 'Stopped.' } });
    await one.ends(closed, { phase: 'WaitingUser', error: editorClosedError() });
    const all = ['Broken failed', 'Closed ended, not viewed yet', 'Done ended, not viewed yet'];
    assert.deepEqual(await one.says(), all);
    assert.deepEqual(await two.says(), all);
    assert.deepEqual([one.unseen, two.unseen], [[done, broken, closed], []], 'said once, where it ended');
    two.shows(done);
    assert.deepEqual(await two.says(), all.slice(0, 2));
    assert.deepEqual(await one.says(), all.slice(0, 2));
    assert.deepEqual(await new Window(folder).says(), all.slice(0, 2), 'and with the next start');
    one.shows(broken);
    assert.deepEqual(waitingRunsBadge(one.states.all), { value: 1, tooltip: '“Closed”: ended, not viewed yet' });
  });

  it('has nothing of one that ends in view', async () => {
    const id = await one.works('Seen');
    one.shows(id);
    await one.ends(id, { phase: 'Completed' });
    assert.deepEqual(await two.says(), []);
    assert.deepEqual(one.unseen, []);
  });

  it('has one whose window was killed as ended, and none that was deleted', async () => {
    const id = await one.works('Killed');
    await two.store.marks.set('run-gone', { state: 'ended', title: 'Gone' });
    writeFileSync(path.join(folder, 'now', 'run-odd'), '{');
    const lock = path.join(folder, 'runs', id, 'lock');
    await one.open.get(id)!.close();
    one.open.clear();
    writeFileSync(lock, JSON.stringify({ id: 'x', pid: 2 ** 30, since: 1 }));
    const next = new Window(folder);
    const says = await next.says();
    assert.deepEqual(says, ['Killed ended, not viewed yet']);
    rmSync(lock);
    assert.deepEqual(await next.says(), says);
    await next.store.delete(id);
    assert.deepEqual(await next.says(), []);
    assert.deepEqual([...(await next.store.marks.read()).keys()], []);
  });

  for (const [how, end] of [
    ['closed', (id: string) => one.ends(id, { phase: 'WaitingUser', error: editorClosedError() })],
    ['killed', () => one.isKilled()],
  ] as const)
    it(`has a run that waits for an approval since its window was ${how}, until that is answered, also when it was seen`, async () => {
      const id = await one.works('Edit');
      await one.requestsApproval(id);
      assert.deepEqual(await one.says(), ['Edit waiting for approval']);
      assert.deepEqual(await two.says(), ['Edit waiting for approval in another window']);
      await end(id);
      await one.store.marks.read(); // what it said is there by then
      windows.delete(one);
      assert.deepEqual(one.unseen, [], 'it has not ended');
      const next = new Window(folder);
      for (const window of [next, two]) assert.deepEqual(await window.says(), ['Edit waiting for approval']);
      next.shows(id);
      assert.deepEqual(await next.says(), ['Edit waiting for approval']);
      assert.deepEqual(waitingRunsBadge(next.states.all), { value: 1, tooltip: '“Edit”: waiting for approval' });
      assert.equal(statusBarContent({ working: 0, approvals: 0, questions: 0, runs: next.states.all }).warns, true);
      assert.deepEqual(restingRunState(await next.store.listed(id)), { state: 'asking', awaitsApproval: true });

      await next.continues(id);
      assert.deepEqual(await two.says(), ['Edit waiting for approval in another window']);
      await next.allows(id);
      assert.deepEqual(await two.says(), ['Edit running in another window']);
      await next.ends(id, { phase: 'WaitingUser' });
      for (const window of [next, two]) assert.deepEqual(await window.says(), []);
      assert.equal(restingRunState(await next.store.listed(id)), undefined);
    });

  it('has a run that waits for an approval, though the window that was killed had said otherwise of it', async () => {
    const id = await one.works('Edit');
    await one.requestsApproval(id);
    await one.isKilled();
    for (const state of ['working', 'ended', 'failed'] as const) {
      await two.store.marks.set(id, { state, title: 'Edit' });
      assert.deepEqual(await two.says(), ['Edit waiting for approval'], state);
    }
  });

  it('calls a run what the person calls it', async () => {
    const id = await one.works('Before');
    await one.ends(id, { phase: 'Completed' });
    one.states.renamed(id, 'After');
    assert.deepEqual(await two.says(), ['After ended, not viewed yet']);
  });

  it('tells another window by itself', async () => {
    const heard = new Promise<void>(
      (resolve) => void two.store.marks.watch(resolve).then((watch) => watching.push(watch)),
    );
    const watching: { dispose(): void }[] = [];
    while (watching.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await one.works('Loud');
    await heard;
    watching[0]!.dispose();
    assert.deepEqual(await two.says(), ['Loud running in another window']);
  });
});

describe('the status bar', () => {
  const run = (title: string, state: 'asking' | 'working' | 'failed' | 'ended', elsewhere?: boolean) => ({
    runId: title,
    title,
    state,
    ...(elsewhere && { elsewhere }),
  });
  const cases: [string, Parameters<typeof statusBarContent>[0], ReturnType<typeof statusBarContent>][] = [
    [
      'rests',
      { working: 0, approvals: 0, questions: 0, runs: [] },
      {
        text: '$(comment-discussion) Towpath',
        tooltip: 'Towpath: open the chat',
        command: 'towpath.showChat',
        warns: false,
      },
    ],
    [
      'works, and stops at a click',
      { working: 2, approvals: 0, questions: 0, runs: [run('A', 'working'), run('B', 'working')] },
      {
        text: '$(sync~spin) Towpath: working… (2)',
        tooltip: 'Towpath is working…\n“A”: running\n“B”: running\nClick to stop.',
        command: 'towpath.stop',
        warns: false,
      },
    ],
    [
      'lists what only another window can stop',
      { working: 0, approvals: 0, questions: 0, runs: [run('A', 'working', true)] },
      {
        text: '$(sync~spin) Towpath: working…',
        tooltip: 'Towpath is working…\n“A”: running in another window\nClick to list them.',
        command: 'towpath.runsNow',
        warns: false,
      },
    ],
    [
      'asks before it works',
      { working: 2, approvals: 0, questions: 3, runs: [run('A', 'asking'), run('B', 'working')] },
      {
        text: '$(question) Towpath has a question (3)',
        tooltip: 'Towpath is waiting for your approval.\n“A”: asks\n“B”: running\nClick to answer.',
        command: 'towpath.answer',
        warns: true,
      },
    ],
    [
      'says that a command waits for input',
      { working: 1, approvals: 0, questions: 0, inputs: 1, runs: [run('A', 'asking')] },
      {
        text: '$(question) Towpath: a command waits for input',
        tooltip: 'Towpath: a command waits for input\n“A”: asks\nClick to list them.',
        command: 'towpath.runsNow',
        warns: true,
      },
    ],
    [
      'counts the approvals that wait here',
      { working: 1, approvals: 2, questions: 1, runs: [run('A', 'asking')] },
      {
        text: '$(question) Towpath: 2 approvals waiting',
        tooltip: 'Towpath is waiting for your approval.\n“A”: asks\nClick to answer.',
        command: 'towpath.answer',
        warns: true,
      },
    ],
    [
      'says what nobody saw end',
      { working: 0, approvals: 0, questions: 0, runs: [run('x'.repeat(100), 'failed'), run('', 'ended')] },
      {
        text: '$(bell-dot) Towpath (2)',
        tooltip: `“${'x'.repeat(59)}…”: failed\n“New run”: ended, not viewed yet\nClick to list them.`,
        command: 'towpath.runsNow',
        warns: false,
      },
    ],
  ];
  for (const [what, now, shown] of cases) it(what, () => assert.deepEqual(statusBarContent(now), shown));
});
