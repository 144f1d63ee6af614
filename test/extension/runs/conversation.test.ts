import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { UserInput } from '../../../src/engine/input/questionQueue.ts';
import { ExecutionEngine } from '../../../src/engine/run/engine.ts';
import { PanelConversation } from '../../../src/extension/runs/conversation.ts';
import { createAdapter } from '../../../src/llm/adapter/adapter.ts';
import type { LLMClient } from '../../../src/llm/core/client.ts';
import type { Attachment } from '../../../src/protocol/content/messages.ts';
import type { HostMessage } from '../../../src/protocol/panel/panelMessages.ts';
import { joinRunSnapshotParts } from '../../../src/protocol/panel/runParts.ts';
import type { RunEventBody, StoredEvent } from '../../../src/protocol/run/events.ts';
import { StoreError } from '../../../src/runs/journal.ts';
import { acquireRunLock } from '../../../src/runs/lock.ts';
import { thisProcess } from '../../../src/runs/storage/lockHolder.ts';
import { RunStore, type WritableRun } from '../../../src/runs/store.ts';
import { createToolHost } from '../../../src/tools/host/host.ts';
import { defaultChatWorkflow } from '../../../src/workflows/run/chatWorkflow.ts';
import { eventually } from '../../support/eventually.ts';
import { longConversation, writeJournal } from '../../support/longRun.ts';
import { scriptedClient } from '../../support/scriptedClient.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';

describe('the conversation in the panel', () => {
  let folder: string;
  let workspace: TemporaryWorkspace;
  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'conversation-'));
    workspace = await temporaryWorkspace();
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
    workspace.cleanup();
  });

  /** Its storage is where a file stands, or this folder. */
  function conversation(
    kept?: string,
    client?: LLMClient,
  ): { panel: HostMessage[]; shown: PanelConversation; store: RunStore; engine: ExecutionEngine } {
    const storage = path.join(folder, kept ?? 'storage');
    if (!kept) writeFileSync(storage, '');
    const store = new RunStore(path.join(storage, 'store'));
    const engine = new ExecutionEngine({
      store,
      host: createToolHost({ workspace, tools: [], approve: async () => ({ decision: 'deny' }) }),
      workflow: async () => defaultChatWorkflow,
      model: async () => {
        if (!client) throw new Error('No model is asked.');
        return { id: 'scripted/one', model: 'one', adapter: createAdapter(client) };
      },
      workspace: async () => ({ names: [] }),
      maxTurns: () => 1,
      onEvent: (event) => shown.onEvent(event),
    });
    const panel: HostMessage[] = [];
    const view = { post: (message: HostMessage) => void panel.push(message), event: () => {} };
    const shown = new PanelConversation(engine, store, view, { endRun: async () => {} }, storage, () => {});
    return { panel, shown, store, engine };
  }

  it('a run that cannot be recorded says so in a sentence', async () => {
    const { panel, shown } = conversation();
    await shown.send('hi');
    const text = "This run's record cannot be used (ENOTDIR).";
    assert.deepEqual(panel.at(-1), { type: 'notice', notice: { level: 'error', text } });
  });

  it('a message that is sent while what another one names is being read is heard after it, in the same run', async () => {
    const { shown, store } = conversation('kept');
    let read!: (files: Attachment[]) => void;
    const file = { mediaType: 'text/plain', data: '', name: 'a.ts' };
    const first = shown.send(
      'Look at @a.ts',
      undefined,
      undefined,
      undefined,
      new Promise((resolve) => (read = resolve)),
    );
    const second = shown.send('and be quick');
    read([file]);
    await Promise.all([first, second]);
    const { messages } = await store.read(shown.runId!);
    assert.deepEqual(
      messages.filter(({ role }) => role === 'user'),
      [
        { role: 'user', content: 'Look at @a.ts', attachments: [file] },
        { role: 'user', content: 'and be quick' },
      ],
    );
  });

  it('a task goes with the message to a new run and to a run at rest; a working run gets the message alone', async () => {
    const client = scriptedClient([{ text: 'One.' }, { text: 'For ever: ', endless: true }]);
    const { shown, engine } = conversation('kept', client);
    const given: [method: string, text: string | undefined, title: string | undefined][] = [];
    for (const method of ['start', 'continue', 'say'] as const) {
      const called = engine[method].bind(engine) as (input: UserInput) => Promise<never>;
      engine[method] = (input: Partial<UserInput>) => {
        given.push([method, input.userInput, input.task?.title]);
        return called(input as UserInput);
      };
    }
    const task = (title: string) => ({ title, prompt: title, agent: 'reviewer' });
    const send = (title: string) =>
      shown.send(`/task reviewer ${title}`, undefined, undefined, undefined, undefined, task(title));
    await send('One');
    const atWork = send('Two');
    await eventually(
      'the second message is answered',
      () => !!engine.live(shown.runId!)?.live?.content.includes('tick'),
    );
    await send('Three');
    assert.deepEqual(given, [
      ['start', '/task reviewer One', 'One'],
      ['say', '/task reviewer Two', undefined], // no run was at work
      ['continue', '/task reviewer Two', 'Two'],
      ['say', '/task reviewer Three', undefined],
    ]);
    await shown.stop();
    await atWork;
  });

  for (const [how, proceed] of [
    ['Continue', (shown: PanelConversation) => shown.goOn()],
    ['Retry With…', (shown: PanelConversation) => shown.goOn('scripted/other')],
    ['Answer…', (shown: PanelConversation) => shown.resume(shown.runId!)],
  ] as const)
    it(`${how} in an untrusted window says why a call that waits for an approval still waits`, async () => {
      const { panel, shown, store } = conversation('kept');
      const id = RunStore.newId();
      const open = await store.create(id);
      const question = { id: 'q', what: 'Edit a', where: 'a', why: '' };
      const bodies: RunEventBody[] = [
        { type: 'run-start', workflowId: 'chat', agentId: 'a', model: '' },
        {
          type: 'message',
          message: { role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'fs.edit', arguments: {} }] },
        },
        { type: 'approval-request', toolCallId: 'c', name: 'fs.edit', question, proposed: { location: '/a' } },
      ];
      for (const [index, body] of bodies.entries())
        await open.append({ runId: id, seq: index + 1, at: 1, ...body } as StoredEvent);
      await open.close();
      await shown.open(id);
      workspace.trusted = false;
      panel.length = 0;
      await proceed(shown);
      const action = { label: 'Manage Trust', action: 'manage-trust' };
      const text = 'Nothing can be changed in an untrusted workspace.';
      assert.deepEqual(
        panel.filter(({ type }) => type === 'notice'),
        [{ type: 'notice', notice: { level: 'warning', text, action } }],
      );
      assert.equal((await store.read(id)).seq, bodies.length, 'nothing is recorded');
    });

  it('the run that begins has the id that was known before its first word; the next one has another', async () => {
    const { shown } = conversation();
    const first = shown.id;
    await shown.send('hi');
    assert.equal(shown.runId, first);
    assert.equal(shown.id, first);
    await shown.open(undefined);
    assert.notEqual(shown.id, first);
    const second = shown.id;
    await shown.open(first);
    await shown.begin({ userInput: 'beside it' });
    assert.ok(![first, second].includes(shown.id), 'what is begun from another run is a run of its own');
  });

  it('a run that says so itself is not said to have failed a second time above the message box', async () => {
    const { panel, shown } = conversation('store-that-works');
    const told: (string | undefined)[] = [];
    const { onEvent: tell } = shown;
    shown.onEvent = (event) => {
      tell.call(shown, event);
      if (event.type === 'phase') told.push(event.error?.code);
      if (event.type === 'run-start') rmSync(path.join(folder, 'store-that-works'), { recursive: true });
    };
    await shown.send('hi');
    assert.deepEqual(told, ['STORE_DAMAGED']);
    assert.deepEqual(
      panel.filter((message) => message.type === 'notice' && message.notice),
      [],
    );
  });

  it('words for a run that another window has are in the message box again, and are said once it is taken over', async () => {
    const { panel, shown, store } = conversation('kept');
    await shown.send('hi');
    const lock = await acquireRunLock(path.join(path.dirname(store.stateFolder(shown.runId!)), 'lock'), 'Another');
    try {
      panel.length = 0;
      await shown.send('Go on here.');
      const kinds = () => panel.map(({ type }) => type);
      assert.deepEqual(kinds(), ['notice', 'unheard', 'notice']);
      assert.deepEqual(panel[1], { type: 'unheard', text: 'Go on here.' });
      panel.length = 0;
      await shown.goOn();
      assert.deepEqual(kinds(), ['notice'], 'who says nothing has lost nothing');
      await shown.send('Go on here.');
    } finally {
      await lock.release();
    }
    panel.length = 0;
    await shown.goOnWithRefused(shown.runId!);
    assert.deepEqual(panel.at(-1), { type: 'say-unheard' });
  });

  for (const [when, recorded] of [
    ['begin a run', 0],
    ['are the first of a run', 1],
    ['go on with a run', Number.POSITIVE_INFINITY],
  ] as const)
    it(`words that ${when} and could not be recorded are in the message box again, and are said with the next try`, async () => {
      const { panel, shown, store } = conversation('kept', scriptedClient([{ text: 'One.' }, { text: 'Two.' }]));
      const isFirst = recorded < 2;
      if (!isFirst) await shown.send('hi');
      panel.length = 0;
      const { create, open } = store;
      const fullAfter = (events: number, opened: WritableRun) => {
        let left = events;
        const append = async (event: StoredEvent) => {
          if (left-- <= 0) throw StoreError.from({ code: 'ENOSPC' });
          return opened.append(event);
        };
        return { run: opened.run, append, close: () => opened.close() };
      };
      store.create = async (id) => fullAfter(recorded, await create.call(store, id));
      store.open = async (id) => fullAfter(0, await open.call(store, id));
      await shown.send('Do this.');
      const kinds = () => panel.flatMap(({ type }) => (/unheard/.test(type) ? [type] : []));
      assert.deepEqual(kinds(), ['unheard']);
      assert.deepEqual(panel.filter((message) => message.type === 'notice' && message.notice), [], 'it says itself why'); // biome-ignore format: short
      await shown.goOn();
      assert.deepEqual(kinds(), ['unheard', 'say-unheard']);
      store.create = create;
      store.open = open;
      await shown.send('Do this.');
      const { messages, workflowId } = await store.read(shown.runId!);
      const said = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
      assert.deepEqual(said, isFirst ? ['Do this.'] : ['hi', 'Do this.']);
      assert.equal(workflowId, 'chat');
    });

  it('a workflow that could not record that it began is begun anew with the next try', async () => {
    const { panel, shown, store } = conversation('kept', scriptedClient([{ text: 'One.' }]));
    const { create } = store;
    store.create = async (id) => ({
      ...(await create.call(store, id)),
      append: async () => {
        throw StoreError.from({ code: 'ENOSPC' });
      },
    });
    await shown.begin({ workflowId: 'deploy', userInput: 'deploy\nto: here' });
    store.create = create;
    await shown.goOn();
    assert.ok(!panel.some(({ type }) => /unheard/.test(type)), 'nobody has written this');
    const { workflowId, messages } = await store.read(shown.runId!);
    assert.deepEqual([workflowId, messages[0]?.content], ['deploy', 'deploy\nto: here']);
  });

  it('says so when there is nothing to go on with, and asks no model for it', async () => {
    const { panel, shown } = conversation('store-that-works');
    const notices = () =>
      panel.flatMap((message) => (message.type === 'notice' && message.notice ? [message.notice.text] : []));
    await shown.goOn();
    assert.deepEqual(notices(), ['No run is shown. Open the run to continue, or write a message.']);
    await shown.send('hi');
    await shown.goOn();
    assert.equal(notices().length, 1, 'what has no answer is gone on with');
    assert.match((await shown.summary()) ?? '', /^Continue the work of another run, “hi”[\s\S]*Request:\nhi$/);
  });

  it('a run that another window is at work on says so, and is told anew when that has ended', async () => {
    const { panel, shown, store } = conversation('store-that-works');
    await shown.send('hi');
    const place = path.join(folder, 'store-that-works', 'store', 'runs', shown.id);
    const happens = async (phase: 'Running' | 'WaitingUser') => {
      const open = await store.open(shown.id);
      await open.append({ type: 'phase', phase, runId: shown.id, seq: open.run.seq + 1, at: 1 });
      await open.close();
    };
    await happens('Running');
    const isTold = () => {
      const told = panel.flatMap((message) => (message.type === 'run' ? [message.run] : []));
      return [told.length, told.at(-1)?.phase, told.at(-1)?.error?.code];
    };
    const lock = path.join(place, 'lock');
    writeFileSync(lock, JSON.stringify({ ...thisProcess(), id: 'another', namespace: 'pid:[1]' }));
    await shown.open(shown.runId);
    const [first] = isTold() as [number];
    assert.deepEqual(isTold(), [first, 'WaitingUser', 'STORE_LOCKED']);
    await shown.catchUp();
    assert.deepEqual(isTold(), [first, 'WaitingUser', 'STORE_LOCKED'], 'nothing is otherwise');
    rmSync(lock);
    await shown.catchUp();
    assert.deepEqual(isTold(), [first + 1, 'WaitingUser', 'ENGINE_ABORTED'], 'its window was killed');
    writeFileSync(lock, JSON.stringify({ ...thisProcess(), id: 'another', namespace: 'pid:[1]' }));
    await shown.catchUp();
    rmSync(lock);
    await happens('WaitingUser');
    await shown.catchUp();
    assert.deepEqual(isTold(), [first + 3, 'WaitingUser', undefined]);
  });

  it('says so when all is done, or when it is at work already', async () => {
    const client = scriptedClient([{ text: 'Done.' }, { text: 'For ever: ', endless: true }]);
    const { panel, shown, engine } = conversation('kept', client);
    const told = () =>
      panel.flatMap((message) => (message.type === 'notice' && message.notice ? [message.notice] : []));
    await shown.send('hi');
    await shown.goOn();
    const done = { level: 'info', text: 'This run is finished. Send a message to continue.' };
    assert.deepEqual(told(), [done]);
    const working = shown.send('and on');
    await eventually('it is at work', () => client.requests.length === 2);
    await shown.goOn();
    assert.deepEqual(told(), [done, { level: 'info', text: 'This run is already in progress.' }]);
    await engine.stop(shown.runId!);
    await working;
    assert.equal(client.requests.length, 2);
  });

  it('a window that is reloaded shows its own run again, whatever another one chose meanwhile', async () => {
    const [one, two] = [conversation('kept').shown, conversation('kept').shown];
    await one.begin({ userInput: 'Here.' });
    await two.begin({ userInput: 'There.' });
    const restored = async () => {
      const { shown } = conversation('kept');
      await shown.restored;
      return shown.runId;
    };
    assert.equal(await restored(), two.runId, 'a third window');
    await one.leave();
    assert.equal(await restored(), one.runId);
    await two.leave();
    assert.equal(await restored(), two.runId);
    await one.open(undefined);
    await one.leave();
    assert.equal(await restored(), undefined);
  });

  it('of a long run shows the last messages first, then all of it in parts, and others have their turn between', async () => {
    const { panel, shown, store } = conversation('kept');
    const [id, next] = [RunStore.newId(), RunStore.newId()];
    const runs = path.join(folder, 'kept/store/runs');
    for (const one of [id, next]) writeJournal(runs, one, longConversation(2000));
    await store.list();
    let turns = 0;
    const others = setInterval(() => turns++, 0);
    try {
      await shown.open(id);
    } finally {
      clearInterval(others);
    }
    const told = panel.filter(({ type }) => type === 'run' || type === 'run-part');
    assert.deepEqual(told[0], { type: 'run', run: await store.readLastMessages(id), part: 'end' });
    const parts = told.flatMap((one) => (one.type === 'run-part' ? [one] : []));
    const last = told.at(-1)!;
    assert.ok(last.type === 'run' && last.run && last.before === 2000);
    assert.deepEqual(joinRunSnapshotParts(parts, last.run, last.before), await store.read(id));
    assert.ok(turns > parts.length, `${turns} turns`);

    panel.length = 0;
    await Promise.all([shown.open(id), shown.open(next)]);
    const ends = panel.flatMap((one) => (one.type === 'run' && !one.part ? [one.run?.id] : []));
    assert.deepEqual([...new Set(ends)], [next], 'what is not shown any more is not told to its end');
  });

  it('a new run begins empty', async () => {
    const { panel, shown } = conversation();
    await shown.open(undefined);
    assert.deepEqual(panel, [
      { type: 'notice', notice: null },
      { type: 'run', run: null },
    ]);
  });
});
