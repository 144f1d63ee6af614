import assert from 'node:assert/strict';
import { existsSync, promises as fs, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { descendantRuns, forkPoints, sortRunsUnderParents } from '../../src/protocol/run/branches.ts';
import type { RunEventBody, StoredEvent } from '../../src/protocol/run/events.ts';
import { applyEvent } from '../../src/protocol/run/fold.ts';
import { callsWithOrphanedCommand } from '../../src/protocol/run/run.ts';
import { RunStore, type WritableRun } from '../../src/runs/store.ts';

// Holds branches-are-separate-runs.
describe('a branch', () => {
  let folder: string;
  let store: RunStore;
  let now: number;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'branches-'));
    now = 5000;
    store = new RunStore(folder, () => now++);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const journalOf = (id: string) => path.join(folder, 'runs', id, 'journal.jsonl');
  const begins: RunEventBody = { type: 'run-start', workflowId: 'chat', agentId: 'towpath', model: 'm' };
  const rests: RunEventBody = { type: 'phase', phase: 'WaitingUser' };
  const says = (content: string): RunEventBody => ({ type: 'message', message: { role: 'user', content } });
  const answers = (content: string): RunEventBody => ({ type: 'message', message: { role: 'assistant', content } });
  async function add(open: WritableRun, ...bodies: RunEventBody[]): Promise<void> {
    for (const body of bodies) {
      const event = { runId: open.run.id, seq: open.run.seq + 1, at: 1000 + open.run.seq, ...body } as StoredEvent;
      await open.append(event);
      applyEvent(open.run, event);
    }
  }
  async function began(...bodies: RunEventBody[]): Promise<string> {
    const id = RunStore.newId();
    const open = await store.create(id);
    await add(open, begins, ...bodies);
    await open.close();
    return id;
  }
  async function goOn(id: string, ...bodies: RunEventBody[]): Promise<string> {
    const open = await store.open(id);
    await add(open, ...bodies);
    await open.close();
    return id;
  }
  const talk = (): Promise<string> =>
    began(...[1, 2, 3].flatMap((n) => [says(`ask ${n}`), answers(`answer ${n}`), rests]));
  /** Forked before the words, and other ones said. */
  const edited = async (id: string, words: string, others: string): Promise<string> => {
    const said = (await store.forkableMessages(id)).find(({ message }) => message.content === words)!;
    return goOn(await store.fork(id, said.seq - 1), says(others), answers(`to ${others}`), rests);
  };
  const words = async (id: string) => (await store.read(id)).messages.map(({ content }) => content).join(' · ');
  const ways = async (id: string, names: Record<string, string>) =>
    forkPoints(id, await store.list()).map(({ ways, nth }) => [
      `${nth + 1} of ${ways.length}`,
      ...ways.map((way) => names[way]),
    ]);

  it('has what was said before as its own, and the run it comes from stays as it was, byte for byte', async () => {
    const id = await talk();
    const before = await fs.readFile(journalOf(id));
    const branch = await edited(id, 'ask 2', 'other 2');
    assert.equal(await words(branch), 'ask 1 · answer 1 · other 2 · to other 2');
    assert.deepEqual(await fs.readFile(journalOf(id)), before);
    const { parent, damage, phase, error } = await store.read(branch);
    assert.deepEqual(parent, { run: id, seq: 4 });
    assert.deepEqual({ damage, phase, error }, { damage: undefined, phase: 'WaitingUser', error: undefined });
  });

  it('is a way beside the others at the same words, from whichever of them it was forked', async () => {
    const id = await talk();
    const one = await edited(id, 'ask 2', 'other 2');
    const two = await edited(one, 'other 2', 'third 2');
    const deep = await edited(two, 'ask 1', 'other 1');
    const later = await edited(id, 'ask 3', 'other 3');
    const names = { [id]: 'first', [one]: 'one', [two]: 'two', [deep]: 'deep', [later]: 'later' };
    assert.deepEqual(await ways(id, names), [
      ['1 of 2', 'first', 'deep'],
      ['1 of 3', 'first', 'one', 'two'],
      ['1 of 2', 'first', 'later'],
    ]);
    assert.deepEqual(await ways(two, names), [
      ['1 of 2', 'two', 'deep'],
      ['3 of 3', 'first', 'one', 'two'],
    ]);
    assert.deepEqual(await ways(deep, names), [['2 of 2', 'first', 'deep']]);
    assert.deepEqual(await ways(later, names), [
      ['1 of 2', 'later', 'deep'],
      ['1 of 3', 'later', 'one', 'two'],
      ['2 of 2', 'first', 'later'],
    ]);
    assert.deepEqual(
      descendantRuns(id, await store.list())
        .map((run) => names[run.id])
        .sort(),
      ['deep', 'later', 'one', 'two'],
    );
  });

  it('is listed under its run, by its own words; where its run is deleted under the one before that', async () => {
    const id = await goOn(await talk(), { type: 'title', title: 'A talk' });
    const other = await began(says('something else'), answers('yes'), rests);
    const one = await edited(id, 'ask 2', 'other 2');
    const deep = await edited(await goOn(one, says('more'), answers('much more'), rests), 'more', 'less');
    const silent = await store.fork(id, (await store.read(id)).seq);
    const listed = async () =>
      sortRunsUnderParents(await store.list()).map(({ run, depth }) => `${'  '.repeat(depth)}${run.title}`);
    assert.deepEqual(await listed(), ['A talk', '  other 2', '    less', '  ask 1', 'something else']);
    await goOn(silent, says('well'), { type: 'title', title: 'A well' });
    await store.delete(one);
    assert.deepEqual(await listed(), ['A talk', '  less', '  A well', 'something else']);
    await store.delete(id);
    await goOn(other, rests);
    const altered = [
      { id: 'a', parent: { run: 'b', seq: 1 }, createdAt: 1, updatedAt: 1 },
      { id: 'b', parent: { run: 'a', seq: 1 }, createdAt: 1, updatedAt: 1 },
    ];
    assert.deepEqual(
      sortRunsUnderParents(altered).map(({ run }) => run.id),
      ['a', 'b'],
    );
    assert.deepEqual((await listed()).toSorted(), ['A well', 'less', 'something else']);
    assert.equal((await store.read(deep)).title, '');
  });

  it('of a branch that is deleted stays where it was, and the deleted way is reached by who went it', async () => {
    const id = await talk();
    const one = await edited(id, 'ask 2', 'other 2');
    const deep = await edited(await goOn(one, says('more'), answers('much more'), rests), 'more', 'less');
    await store.delete(id);
    await store.delete(one);
    const again = await edited(deep, 'other 2', 'third 2');
    const names = { [deep]: 'deep', [again]: 'again' };
    assert.equal(await words(deep), 'ask 1 · answer 1 · other 2 · to other 2 · less · to less');
    assert.deepEqual(await ways(deep, names), [['1 of 2', 'deep', 'again']]);
    assert.deepEqual(await ways(again, names), [['2 of 2', 'deep', 'again']]);
    assert.deepEqual((await store.read(again)).parent, { run: id, seq: 4 });
  });

  it('can be made of a run that another window has open, whose last line is torn', async () => {
    const id = await talk();
    const open = await store.open(id);
    try {
      await fs.appendFile(journalOf(id), '00000000 {"previous":');
      const branch = await edited(id, 'ask 3', 'other 3');
      assert.equal(await words(branch), 'ask 1 · answer 1 · ask 2 · answer 2 · other 3 · to other 3');
    } finally {
      await open.close();
    }
  });

  it('has the contents that undo needs, also when the run it comes from is deleted for good', async () => {
    const id = RunStore.newId();
    const open = await store.create(id);
    const kept = async (text: string) => store.contents.keep(id, text);
    const [before, after, later] = [await kept('before'), await kept('after'), await kept('later')];
    const changes = [{ path: 'a', before, after }];
    const call = { toolCallId: 'c', name: 'fs.write' };
    await add(
      open,
      begins,
      says('one'),
      { type: 'tool-start', ...call },
      { type: 'tool-end', ...call, ok: true, ms: 1, changes },
    );
    await add(open, rests, says('two'), {
      type: 'tool-end',
      toolCallId: 'd',
      name: 'fs.write',
      ok: true,
      ms: 1,
      changes: [{ path: 'a', before: after, after: later }],
    });
    await open.close();
    assert.deepEqual(await store.callsAfter(id, 5), ['d']);
    const branch = await store.fork(id, 5);
    await store.deleted.remove(await store.delete(id));
    assert.equal(await store.contents.read(branch, before), 'before');
    assert.equal(await store.contents.read(branch, after), 'after');
    await assert.rejects(store.contents.read(branch, later), { code: 'STORE_DAMAGED' });
    assert.deepEqual((await store.read(branch)).calls.c?.changes, changes);
  });

  it('has no command of the other run, and no words that waited to be said there', async () => {
    const command = { line: 'npm run dev', folder: '/', marker: 'm' };
    const id = await began(
      says('one'),
      { type: 'tool-start', toolCallId: 'c', name: 'shell.run', command },
      { type: 'command-start', toolCallId: 'c', process: { pid: 1, began: 'x' } },
      { type: 'tool-end', toolCallId: 'c', name: 'shell.run', ok: true, ms: 1, background: { id: 'dev' } },
      { type: 'phase', phase: 'Running' },
      { type: 'queued', text: 'two' },
      says('two'),
      answers('Done.'),
    );
    const [, two] = await store.forkableMessages(id);
    const run = await store.read(await store.fork(id, two!.seq - 1));
    assert.equal(callsWithOrphanedCommand(await store.read(id)).length, 1);
    assert.deepEqual(callsWithOrphanedCommand(run), []);
    assert.deepEqual([run.queued, run.phase, run.calls.c?.ok], [[], 'WaitingUser', true]);
  });

  it('of a run whose record was damaged and mended has the same apart, and is whole itself', async () => {
    const id = await talk();
    const lines = (await fs.readFile(journalOf(id), 'utf8')).split('\n');
    lines[5] = lines[5]!.replace('ask', 'ASK');
    await fs.writeFile(journalOf(id), lines.join('\n'));
    const { damage } = await store.read(id);
    const { from, text, open } = damage![0]!;
    await goOn(id, { type: 'mended', from, damage: text, ...open! }, says('ask 4'), answers('answer 4'), rests);
    const branch = await edited(id, 'ask 4', 'other 4');
    assert.equal(await words(branch), (await words(id)).replace('ask 4 · answer 4', 'other 4 · to other 4'));
    const apart = (await store.read(branch)).damage!;
    assert.deepEqual(apart, (await store.read(id)).damage);
    assert.deepEqual((await store.list()).find((run) => run.id === branch)?.damaged, undefined);
    assert.equal(await words(await edited(branch, 'ask 1', 'other 1')), 'other 1 · to other 1');
  });

  it('is there whole or not at all, and what a kill left of one is swept away', async () => {
    const id = await talk();
    const left = path.join(folder, 'runs', 'forking.0');
    await fs.mkdir(path.join(left, 'contents'), { recursive: true });
    await fs.writeFile(path.join(left, 'journal.jsonl'), '{"towpath-run":1}\n');
    assert.deepEqual(
      (await store.list()).map((run) => run.id),
      [id],
    );
    const old = new Date(Date.now() - 3 * 60 * 60 * 1000);
    utimesSync(left, old, old);
    store = new RunStore(folder);
    await store.sweep();
    assert.equal(existsSync(left), false);
    await store.fork(id, 4);
    assert.equal(readdirSync(path.join(folder, 'runs')).length, 2);
  });

  it('is not made where more is needed than events tell', async () => {
    const node: RunEventBody = { type: 'node', node: 'a', status: 'start' };
    const id = await began(says('go'), node, rests, says('more'), rests);
    await assert.rejects(store.fork(id, 1), /from its first message/);
    const branch = await store.fork(id, 4);
    assert.equal((await store.read(branch)).graph?.nodes.a?.status, 'running');
    await fs.mkdir(store.stateFolder(id));
    await assert.rejects(store.fork(id, 4), /package/);
    await assert.rejects(store.fork('run-nobody', 4), { code: 'ENGINE_RUN_NOT_FOUND' });
    assert.equal(readdirSync(path.join(folder, 'runs')).length, 2);
  });
});
