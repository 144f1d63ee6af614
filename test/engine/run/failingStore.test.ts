import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { EngineResult } from '../../../src/engine/core/runResult.ts';
import type { RunEvent, StoredEvent } from '../../../src/protocol/run/events.ts';
import { StoreError } from '../../../src/runs/journal.ts';
import { eventually } from '../../support/eventually.ts';
import { longText } from '../../support/longText.ts';
import { call, type ScriptedReply } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';
import { stuckDisk } from '../stuckDisk.ts';

const write = (name: string) => call('fs.write', { path: name, content: name.toUpperCase() });
const append = (name: string) => call('shell.run', { command: `echo ran >> ${name}` });
const full = () => new StoreError('STORE_FULL', 'The disk is full.');

/** A store that does not take an event that `fails` says, and whatever it has to keep for undo while `contents` is set. */
interface Faults {
  fails(event: StoredEvent): StoreError | undefined;
  contents?: StoreError;
  taken: StoredEvent[];
}

function faultsOf({ store }: Conversation): Faults {
  const faults: Faults = { fails: () => undefined, taken: [] };
  for (const how of ['create', 'open'] as const) {
    const open = store[how].bind(store);
    store[how] = async (id) => {
      const run = await open(id);
      const append = async (event: StoredEvent) => {
        const error = faults.fails(event);
        if (error) throw error;
        await run.append(event);
        faults.taken.push(event);
      };
      return { ...run, append };
    };
  }
  const keep = store.contents.keep.bind(store.contents);
  store.contents.keep = async (runId, content) => {
    if (faults.contents) throw faults.contents;
    return keep(runId, content);
  };
  return faults;
}

// Holds run-is-its-events.
describe('a store that fails', () => {
  let talk: Conversation;
  let faults: Faults;
  const begin = async (...replies: ScriptedReply[]) => {
    talk = new Conversation(await temporaryWorkspace({ a: 'A' }), replies);
    faults = faultsOf(talk);
  };
  afterEach(() => talk.end());

  const ends = () => talk.events.flatMap((event) => (event.type === 'phase' && event.error ? [event.error.code] : []));
  const effects = () => readdirSync(talk.workspace.root).filter((name) => name !== 'a').length;
  /** Starts that are on disk. */
  const started = () => faults.taken.filter(({ type }) => type === 'tool-start').length;
  const nothingUnrecorded = () => {
    assert.ok(effects() <= started(), `${effects()} effects, ${started()} starts on disk`);
    const asked = faults.taken.some((event) => event.type === 'message' && event.message.role === 'assistant');
    if (effects() > 0) assert.ok(asked, 'the reply that asks for it is on disk');
  };

  const reply = { text: 'Three.', calls: [write('one'), append('two'), write('three')] };
  for (const lasting of [true, false])
    it(`ends the work at whatever event it fails${lasting ? ', for good' : ' once'}: nothing more is asked or done`, async () => {
      for (let at = 0; ; at++) {
        await begin({ ...reply, calls: reply.calls.map((one) => ({ ...one })) }, { text: 'Done.' });
        let count = 0;
        let failedAt: { event: StoredEvent; questions: number; effects: number } | undefined;
        faults.fails = (event) => {
          const isFailing = lasting ? count >= at : count === at;
          count += 1;
          if (isFailing) failedAt ??= { event, questions: talk.questions.length, effects: effects() };
          return isFailing ? full() : undefined;
        };
        const result = await talk.start();
        await aWhile();
        if (!failedAt) {
          assert.ok(at > 12, `${at} events`);
          return;
        }
        const where = `${failedAt.event.type} (${at})`;
        assert.deepEqual([result.error?.code, ends()], ['STORE_FULL', ['STORE_FULL']], where);
        const done = failedAt.event.type === 'tool-end' || failedAt.event.type === 'command-start' ? 1 : 0;
        assert.ok(effects() <= failedAt.effects + done, `${where}: goes on`);
        assert.equal(talk.questions.length, failedAt.questions, where);
        nothingUnrecorded();
        await talk.end();
      }
    });

  it('ends it when what Undo needs cannot be kept, and that end is on record, for the record can still be written', async () => {
    await begin({ calls: [write('one'), append('two')] }, { text: 'Never asked.' });
    faults.contents = full();
    assert.equal((await talk.start()).error?.code, 'STORE_FULL');
    assert.deepEqual([effects(), ends(), talk.client.requests.length], [0, ['STORE_FULL'], 1]);
    await talk.engine.stop(talk.runId); // and is on disk
    assert.equal((await talk.kept()).error?.code, 'STORE_FULL');
  });

  it('can be gone on with: what was recorded is told, nothing is done twice', async () => {
    await begin({ calls: [append('one'), append('two')] }, { text: 'I see.' });
    const isSecond = (event: StoredEvent) => event.type === 'tool-end' && started() === 2;
    faults.fails = (event) => (isSecond(event) ? full() : undefined);
    await talk.start();
    faults.fails = () => undefined;
    assert.equal((await talk.continue()).assistantText, 'I see.');
    assert.deepEqual([talk.file('one'), talk.file('two')], ['ran\n', 'ran\n']);
  });

  it('refuses what is emitted after the end, and tells nobody of it', async () => {
    await begin({ text: 'Hello.' });
    let emit: ((text: string) => Promise<void>) | undefined;
    const { advance } = talk.workflow;
    talk.workflow = {
      ...talk.workflow,
      advance: (context) => {
        emit = (content) => context.emit({ type: 'message', message: { role: 'assistant', content } });
        return advance(context);
      },
    };
    await talk.start();
    const told = talk.events.length;
    await assert.rejects(emit!('late'), { code: 'ENGINE_ABORTED' });
    assert.equal(talk.events.length, told);
  });

  for (const [how, take] of [
    ['deleted', (folder: string) => rmSync(folder, { recursive: true })],
    ['moved away', (folder: string) => renameSync(folder, `${folder}.elsewhere`)],
  ] as const)
    for (const what of ['runs', 'the run'])
      it(`says so, once, when the folder of ${what} is ${how} while it works, and does nothing more`, async () => {
        await begin({ calls: [append('one'), append('two'), write('three')] }, { text: 'Never asked.' });
        const runs = path.join(talk.folder, 'runs');
        talk.told = (event: RunEvent) => {
          if (event.type === 'tool-end') take(what === 'runs' ? runs : path.join(runs, talk.runId));
          if (event.type === 'tool-end') talk.told = undefined;
        };
        const result = await talk.start();
        assert.deepEqual([result.error?.code, ends()], ['STORE_DAMAGED', ['STORE_DAMAGED']]);
        assert.match(result.error!.message, /deleted or moved while the run was in progress/);
        assert.deepEqual([effects(), talk.client.requests.length], [1, 1]);
      });

  it('a disk that fails, and too many open files, are said as that', async () => {
    const broken = () => StoreError.from(Object.assign(new Error('i/o error'), { code: 'EIO' }));
    assert.deepEqual([broken().code, /disk failed/.test(broken().message)], ['STORE_FAILED', true]);
    for (const code of ['EMFILE', 'ENFILE']) {
      const error = StoreError.from(Object.assign(new Error('too many'), { code }));
      assert.deepEqual([error.code, error.message.includes(code)], ['STORE_FAILED', true]);
    }
    await begin({ text: 'Hello.' });
    faults.fails = (event) => (event.type === 'usage' ? broken() : undefined);
    assert.equal((await talk.start()).error?.code, 'STORE_FAILED');
  });

  it('calls that change something wait until the reply that asks for them is on disk', async () => {
    await begin({ calls: [write('one')] }, { text: 'Done.' });
    const disk = stuckDisk(talk);
    disk.sticksAt((event) => event !== 'open' && event.type === 'message' && event.message.role === 'assistant');
    const done = talk.start();
    await eventually('the reply waits for the disk', () => disk.waits);
    await aWhile();
    assert.deepEqual([talk.questions, effects()], [[], 0]);
    disk.release();
    await done;
    assert.deepEqual([talk.questions, effects()], [['Create one'], 1]);
  });

  it('text goes on streaming while something waits for the disk, and none of it is lost', async () => {
    await begin({ text: 'a'.repeat(500) }, { text: 'Done.' });
    const disk = stuckDisk(talk);
    disk.sticksAt((event) => event !== 'open' && event.type === 'queued');
    const chunks = () => talk.events.filter(({ type }) => type === 'chunk').length;
    let said: Promise<boolean> | undefined;
    talk.told = (event) => {
      if (event.type === 'chunk' && !said) said = talk.engine.say({ runId: talk.runId, userInput: 'and this' });
    };
    const done = talk.start();
    await eventually('all of it is shown', () => chunks() === 100);
    assert.equal(talk.events.some(({ type }) => type === 'queued'), false, 'it is not on disk'); // biome-ignore format: short
    disk.release();
    await done;
    assert.deepEqual((await talk.kept()).messages.map(({ content }) => content.slice(0, 8)), ['hi', 'aaaaaaaa', 'and this', 'Done.']); // biome-ignore format: short
  });
});

/** Until what goes on by itself has gone on. */
async function aWhile(): Promise<void> {
  for (let turns = 0; turns < 50; turns++) await new Promise((resolve) => setImmediate(resolve));
}

/** A real small disk, where this machine lets us have one. */
function smallDisk(folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false; // the cases above say the same of a store that is told to fail
  }
}

it('a disk that is really full: commands that were asked for are not run without a record', async () => {
  const talk = new Conversation(await temporaryWorkspace({}), [
    { text: longText('some words ', 3000), calls: [append('one'), append('two'), append('three')] },
  ]);
  const runs = path.join(talk.folder, 'runs');
  mkdirSync(runs);
  const isMounted = smallDisk(runs);
  try {
    if (!isMounted) return;
    for (let free = 24; free > 0; free -= 4) {
      const { bavail, bsize } = statfsSync(runs);
      writeFileSync(path.join(runs, 'ballast'), Buffer.alloc(Math.max(0, bavail * bsize - free * 1024)));
      const result: EngineResult = await talk.engine.start({ runId: `run-${free}`, userInput: 'hi' });
      await aWhile();
      const made = readdirSync(talk.workspace.root);
      if (result.error?.code !== 'STORE_FULL') continue;
      const starts = talk.events.filter(({ type, runId }) => type === 'tool-start' && runId === `run-${free}`).length;
      assert.ok(made.length <= starts, `${made.length} commands ran, ${starts} on record`);
    }
    assert.ok(talk.events.some((event) => event.type === 'phase' && event.error?.code === 'STORE_FULL'));
  } finally {
    if (isMounted) execFileSync('umount', [runs]);
    await talk.end();
  }
});
