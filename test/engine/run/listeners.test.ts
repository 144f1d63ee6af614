import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createIsolatedListener, IsolatedListeners } from '../../../src/protocol/values/listeners.ts';
import { toStorableEvent } from '../../../src/runs/storable.ts';
import { eventually } from '../../support/eventually.ts';
import { unhandledDuring } from '../../support/failingListener.ts';
import { call, type ScriptedReply } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

const replies = (): ScriptedReply[] => [
  { calls: [call('fs.write', { path: 'a', content: 'A' })] },
  { text: 'Written.' },
  { text: 'Still here.' },
];

// Holds listeners-are-isolated.
// Holds events-never-cause.
describe('a listener of events that throws', () => {
  let talk: Conversation;
  beforeEach(async () => {
    talk = new Conversation(await temporaryWorkspace({}), replies());
  });
  afterEach(() => talk.end());

  it('is reported, and the other listeners receive the event', () => {
    const received: string[] = [];
    const errors: unknown[] = [];
    const listeners = [
      () => {
        throw new Error('first');
      },
      async () => {
        throw new Error('later');
      },
      (event: string) => received.push(event),
    ];
    const listen = createIsolatedListener<string>(listeners, (error) => errors.push((error as Error).message));
    listen('one');
    listen('two');
    assert.deepEqual(received, ['one', 'two']);
    return eventually('the rejections are reported', () => errors.length === 4);
  });

  it('is isolated from listeners that are added later', () => {
    const received: string[] = [];
    const errors: unknown[] = [];
    const listeners = new IsolatedListeners<string>((error) => errors.push(error));
    listeners.notify('early');
    listeners.add(
      (event) => received.push(`first ${event}`),
      () => {
        throw new Error('second');
      },
    );
    listeners.add((event) => received.push(`third ${event}`));
    listeners.notify('late');
    assert.deepEqual(received, ['first late', 'third late']);
    assert.equal(errors.length, 1);
  });

  it('ends no run, whatever event it throws at, and locks none', async () => {
    talk.told = () => {
      throw new Error('a listener');
    };
    const unhandled = await unhandledDuring(async () => {
      const { success, phase } = await talk.start();
      assert.deepEqual([success, phase, talk.file('a')], [true, 'WaitingUser', 'A']);
      assert.equal((await talk.continue('And now?')).assistantText, 'Still here.');
    });
    assert.deepEqual(unhandled, []);
    assert.equal((await talk.kept()).phase, 'WaitingUser');
    await (await talk.store.open(talk.runId)).close(); // the lock is free
  });

  it('does not keep the engine from telling a failure of the store', async () => {
    const append = talk.store.create.bind(talk.store);
    talk.store.create = async (id: string) => {
      const open = await append(id);
      let written = 0;
      return {
        ...open,
        append: async (event: Parameters<typeof open.append>[0]) => {
          if (++written > 3) throw new Error('the disk is gone');
          return open.append(event);
        },
      };
    };
    talk.told = () => {
      throw new Error('a listener');
    };
    const unhandled = await unhandledDuring(async () => {
      const { success, error } = await talk.start();
      assert.deepEqual([success, error !== undefined], [false, true]);
    });
    assert.deepEqual(unhandled, []);
    await talk.engine.close(); // waits for the record to close
    await (await talk.store.open(talk.runId)).close();
  });
});

// Holds written-events-can-be-read.
describe('what is appended to a journal can be read', () => {
  it('a token count that overflowed is absent, and the run goes on', async () => {
    const infinite = { promptTokens: Number.POSITIVE_INFINITY, completionTokens: 1, totalTokens: 1e308 * 10 };
    const talk = new Conversation(await temporaryWorkspace({}), [
      { text: 'One.', usage: infinite },
      { text: 'Two.', usage: { promptTokens: 10, completionTokens: 5, totalTokens: 15, cachedTokens: 1e308 } },
    ]);
    try {
      await talk.start();
      await talk.continue('again');
      const run = await talk.kept();
      assert.deepEqual([run.damage, run.readOnly, run.messages.length], [undefined, undefined, 4]);
      assert.deepEqual(
        talk.events.flatMap((event) => (event.type === 'usage' ? [event.usage] : [])),
        [{ promptTokens: 10, completionTokens: 5, totalTokens: 15 }],
      );
    } finally {
      await talk.end();
    }
  });

  const at = { runId: 'run-1', seq: 1, at: 1 };

  it('an optional number that is not finite is left out', () => {
    const event = { ...at, type: 'attempt', attempt: 1, code: 'X', message: 'm', model: 'm' } as const;
    assert.deepEqual(toStorableEvent({ ...event, waitMs: Number.POSITIVE_INFINITY }), event);
  });

  it('an event that the schema refuses is not written', () => {
    const message = { role: 'assistant', content: '', toolCalls: [{ id: 'a', name: 'b', arguments: null }] };
    assert.throws(() => toStorableEvent({ ...at, type: 'message', message } as never), { code: 'STORE_FAILED' });
  });
});

describe('a conversation that is continued in the same moment, again and again', () => {
  it('holds none of its earlier runs in memory', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const texts = Array.from({ length: 8 }, (_, nth): ScriptedReply => ({ text: `Reply ${nth}.`, endless: nth === 7 }));
    const talk = new Conversation(await temporaryWorkspace({}), texts);
    try {
      const earlier: WeakRef<object>[] = [];
      talk.told = (event) => {
        const live = event.type === 'request' ? talk.engine.live(talk.runId) : undefined;
        if (live) earlier.push(new WeakRef(live));
      };
      let last = talk.start('0');
      for (let turn = 1; turn < 8; turn++) {
        await last;
        last = talk.continue(`${turn}`);
      }
      await eventually('the last one is at work', () => earlier.length === 8);
      await eventually(
        'the earlier runs are collected',
        () => {
          collect();
          return earlier.slice(0, -2).every((run) => run.deref() === undefined);
        },
        20_000,
      );
      await talk.engine.stop(talk.runId);
      await last;
    } finally {
      await talk.end();
    }
  });
});
