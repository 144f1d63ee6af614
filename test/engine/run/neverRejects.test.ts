import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { ExecutionEngine } from '../../../src/engine/run/engine.ts';
import { StoreError } from '../../../src/runs/journal.ts';
import { eventually } from '../../support/eventually.ts';
import { unhandledDuring } from '../../support/failingListener.ts';
import { call } from '../../support/scriptedClient.ts';
import { tries } from '../../support/tries.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

type Call = (talk: Conversation) => unknown;

/** A call of each method, as the extension makes it. */
const calls = new Map<string, Call>(
  Object.entries({
    start: (talk) => talk.start(),
    async continue(talk) {
      await talk.engine.continue({ runId: talk.runId, onlyApprovals: true });
      await talk.continue('More.');
    },
    say: ({ engine, runId }) => engine.say({ runId, userInput: 'Hear this.' }),
    changeWaiting: ({ engine, runId }) => engine.changeWaiting(runId, 3, { userInput: 'Otherwise.', when: 'turn' }),
    takeBack: ({ engine, runId }) => engine.takeBack(runId, 3),
    rename: ({ engine, runId }) => engine.rename(runId, 'Named'),
    pin: ({ engine, runId }) => engine.pin(runId, true),
    chooseAgent: ({ engine, runId }) => engine.chooseAgent(runId, 'work'),
    chooseEffort: ({ engine, runId }) => engine.chooseEffort(runId, { model: 'scripted/one', effort: 'high' }),
    compact: ({ engine, runId }) => engine.compact(runId),
    raiseLimit: ({ engine, runId }) => engine.raiseLimit(runId, { of: 'run', more: 1, to: 2 }),
    chooseAfterInterruption: ({ engine, runId }) =>
      engine.chooseAfterInterruption(runId, { toolCallIds: ['c'], choice: 'again' }),
    endHold: ({ engine, runId }) => engine.endHold(runId),
    usedLater: ({ engine, runId }) => engine.usedLater(runId, 'node', 0),
    stop: ({ engine, runId }) => engine.stop(runId),
    pause: ({ engine, runId }) => engine.pause(runId),
    stopTask: ({ engine, runId }) => engine.stopTask(runId),
    sayToTask: ({ engine, runId }) => engine.sayToTask(runId, 'w', { userInput: 'Hear this.' }),
    makeWay: ({ engine }) => engine.makeWay(),
    retryNow: ({ engine, runId }) => engine.retryNow(runId),
    undo: ({ engine, runId, workspace }) => engine.undo(runId, { toolCallIds: ['w'] }, workspace, async () => 'all'),
    note: ({ engine, runId }) =>
      engine.note(runId, { type: 'command-end', toolCallId: 'w', by: 'itself', exitCode: 0 }),
    close: ({ engine }) => engine.close(),
    live: ({ engine, runId }) => engine.live(runId),
    liveIds: ({ engine }) => engine.liveIds,
    forget: ({ engine, runId }) => engine.forget(runId),
  } satisfies Record<string, Call>),
);

/** Each method is called in every such world and moment, or in this part of them. */
const every = tries(4, 1, 1);

/** Methods of its own, which those call. */
const inner = ['constructor', 'enter', 'enterAfterUndo', 'work', 'canApprove', 'reportFailure', 'grantsOf', 'aheadOf'];

const fails = (error: unknown) => async () => {
  throw error;
};
const errors = [new StoreError('STORE_FAILED', 'The disk is gone.'), new TypeError('not a function'), 'a string'];

/** What may fail under an engine. */
const worlds: [string, (talk: Conversation, error: unknown) => void][] = [
  ['nothing', () => {}],
  [
    'a run that cannot be opened',
    ({ store }, error) => Object.assign(store, { open: fails(error), create: fails(error) }),
  ],
  ['a run that cannot be read', ({ store }, error) => Object.assign(store, { read: fails(error) })],
  [
    'a record that cannot be written or closed',
    ({ store }, error) => {
      for (const how of ['open', 'create'] as const) {
        const open = store[how].bind(store);
        store[how] = async (id) => {
          const run = await open(id);
          return { ...run, append: fails(error), close: () => run.close().then(fails(error)) };
        };
      }
    },
  ],
  [
    'contents that cannot be kept or read',
    ({ store }, error) => Object.assign(store.contents, { keep: fails(error), read: fails(error) }),
  ],
  ['no workflow', (talk, error) => Object.assign(talk, { lost: error })],
  ['no tools', (talk, error) => Object.assign(talk, { unloaded: error })],
  [
    'a failing model',
    (talk, error) => {
      const chat = fails(error);
      talk.model = {
        chat,
        async *chatStream() {
          yield { content: await chat(), done: false };
        },
      };
    },
  ],
  [
    'a failing listener',
    (talk, error) => {
      talk.told = () => {
        throw error;
      };
    },
  ],
];

/** Where the run is when the method is called. */
const moments: [string, (talk: Conversation, fail: () => void) => Promise<unknown>][] = [
  ['that has not begun', async (_, fail) => fail()],
  [
    'at rest',
    async (talk, fail) => {
      await talk.start();
      fail();
    },
  ],
  [
    'at work',
    async (talk, fail) => {
      fail();
      const working = talk.start();
      await Promise.race([working, eventually('it is asked', () => talk.client.requests.length > 0)]);
      return [working];
    },
  ],
  [
    'that ends',
    async (talk, fail) => {
      await talk.start();
      const working = talk.continue('More.');
      fail();
      return [working, talk.engine.stop(talk.runId)];
    },
  ],
];

describe('no method of the engine', () => {
  it('is left out here', () => {
    const names = Object.getOwnPropertyNames(ExecutionEngine.prototype);
    assert.deepEqual(names.toSorted(), [...calls.keys(), ...inner].toSorted());
  });

  for (const [at, [moment, begin]] of moments.entries())
    for (const [which, [world, fail]] of worlds.entries())
      it(`rejects, or leaves a lock or a rejection behind: ${world}, of a run ${moment}`, async () => {
        for (const [index, [name, method]] of [...calls].entries()) {
          if ((index + at + which) % every > 0) continue;
          const talk = new Conversation(await temporaryWorkspace({}), [
            { calls: [call('fs.write', { path: 'a', content: 'A' }, 'w')] },
            { text: 'Written.' },
            { text: 'Still here.' },
          ]);
          const lock = path.join(talk.folder, 'runs', talk.runId, 'lock');
          const unhandled = await unhandledDuring(async () => {
            const working = await begin(talk, () => fail(talk, errors[index % errors.length]));
            await method(talk);
            await Promise.all(Array.isArray(working) ? working : []);
            await talk.engine.close();
          }).catch((error) => assert.fail(`${name} rejected: ${error}`));
          assert.deepEqual(unhandled, [], name);
          assert.deepEqual([talk.engine.liveIds, talk.engine.live(talk.runId)], [[], undefined], name);
          assert.ok(!existsSync(lock), `${name} leaves a lock`);
          await talk.end();
        }
      });
});
