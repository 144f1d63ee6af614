import assert from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { Message } from '../../../src/protocol/content/messages.ts';
import { pendingCalls } from '../../../src/protocol/run/pending.ts';
import { RunStore } from '../../../src/runs/store.ts';
import { eventually } from '../../support/eventually.ts';
import { call, type ScriptedReply } from '../../support/scriptedClient.ts';
import { transcript } from '../../support/transcript.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';
import { stuckDisk } from '../stuckDisk.ts';

const database = { question: 'Which database?', answers: [{ label: 'SQLite' }, { label: 'Postgres' }] };
const checks = {
  question: 'Which checks?',
  answers: [{ label: 'Lint' }, { label: 'Types' }, { label: 'Tests' }],
  many: true,
};
const asks = (id: string, ...questions: object[]) => call('ask.person', { questions }, id);

describe('a model that asks', () => {
  let talk: Conversation;
  let after: Conversation | undefined;
  afterEach(async () => {
    if (after) {
      await after.engine.close();
      rmSync(after.folder, { recursive: true });
    }
    after = undefined;
    await talk.end();
  });
  const begin = async (...replies: ScriptedReply[]) => {
    talk = new Conversation(await temporaryWorkspace({ a: 'A' }), replies);
  };
  const asking = (id: string, one = talk) =>
    eventually(`${id} waits`, () => one.engine.live(one.runId)?.asking?.includes(id) ?? false);
  const chooses = (toolCallId: string, ...choices: { chosen: number[]; words?: string }[]) => ({
    userInput: '',
    chosen: { toolCallId, choices },
  });
  const answer = (toolCallId: string, ...choices: { chosen: number[]; words?: string }[]) =>
    talk.engine.say({ runId: talk.runId, ...chooses(toolCallId, ...choices) });
  const told = ({ messages }: { messages: readonly Message[] }) =>
    messages.flatMap((message) =>
      message.role === 'tool'
        ? message.toolResults.map(({ toolCallId, content }) => [toolCallId, JSON.parse(content)])
        : [],
    );
  /** The next editor: what was on disk in this moment is all it has. */
  const nextEditor = (...replies: ScriptedReply[]) => {
    const next = new Conversation(talk.workspace, replies);
    cpSync(talk.folder, next.folder, { recursive: true });
    rmSync(path.join(next.folder, 'runs', talk.runId, 'lock'), { force: true });
    after = Object.assign(next, { runId: talk.runId });
    return next;
  };

  it('waits for what is chosen, and goes on with it', async () => {
    await begin({ text: 'First this.', calls: [asks('q', database)] }, { text: 'Postgres it is.' });
    const done = talk.start();
    await asking('q');
    assert.deepEqual([talk.questions, talk.client.requests.length, (await talk.kept()).phase], [[], 1, 'Running']);
    assert.equal(await answer('q', { chosen: [1] }), true);
    await done;
    await talk.reads(`
user       hi
assistant  First this.
assistant  → ask.person {"questions":[{"question":"Which database?","answers":[{"label":"SQLite"},{"label":"Postgres"}]}]}
tool       {"ok":true,"data":{"answers":[{"question":"Which database?","chosen":["Postgres"]}]}}
assistant  Postgres it is.
WaitingUser`);
  });

  it('what is said while it waits is the answer, and no message', async () => {
    await begin({ calls: [asks('q', database)] }, { text: 'None, then.' });
    const done = talk.start();
    await asking('q');
    await talk.say('No database at all.');
    await done;
    const run = await talk.kept();
    assert.deepEqual(told(run), [
      [
        'q',
        {
          ok: true,
          data: {
            answers: [{ question: 'Which database?', chosen: [], words: 'No database at all.' }],
            said: 'No database at all.',
          },
        },
      ],
    ]);
    assert.deepEqual([run.messages.filter(({ role }) => role === 'user').length, run.queued], [1, []]);
  });

  it('takes several, and words beside them', async () => {
    await begin({ calls: [asks('q', database, checks)] }, { text: 'Well.' });
    const done = talk.start();
    await asking('q');
    const { chosen } = chooses('q', { chosen: [] }, { chosen: [0, 2], words: 'and a build' });
    await talk.engine.say({ runId: talk.runId, userInput: 'As for the first: you know best.', chosen });
    await done;
    assert.deepEqual(told(await talk.kept())[0]![1].data, {
      answers: [
        { question: 'Which database?', chosen: [] },
        { question: 'Which checks?', chosen: ['Lint', 'Tests'], words: 'and a build' },
      ],
      said: 'As for the first: you know best.',
    });
  });

  const misfits: [says: string, choices: { chosen: number[]; words?: string }[]][] = [
    ['two of one', [{ chosen: [0, 1] }]],
    ['the same twice', [{ chosen: [1, 1] }]],
    ['one that is not there', [{ chosen: [4] }]],
    ['nothing', [{ chosen: [] }]],
    ['an answer too many', [{ chosen: [0] }, { chosen: [0] }]],
    ['blanks', [{ chosen: [], words: '  ' }]],
  ];
  for (const [says, choices] of misfits)
    it(`${says} is no answer: it goes on waiting`, async () => {
      await begin({ calls: [asks('q', database)] }, { text: 'Fine.' });
      const done = talk.start();
      await asking('q');
      await answer('q', ...choices);
      assert.deepEqual([talk.engine.live(talk.runId)!.asking, talk.client.requests.length], [['q'], 1]);
      await answer('q', { chosen: [0] });
      await done;
      assert.deepEqual(told(await talk.kept())[0]![1].data.answers[0].chosen, ['SQLite']);
    });

  it('a second answer, a late one and one to another call change nothing and are not queued', async () => {
    await begin({ calls: [asks('q', database)] }, { text: 'Fine.' });
    const done = talk.start();
    await asking('q');
    assert.equal(await answer('other', { chosen: [1] }), true);
    await Promise.all([answer('q', { chosen: [0] }), answer('q', { chosen: [1] })]);
    await done;
    const before = await talk.kept();
    const late = await talk.engine.continue({ runId: talk.runId, ...chooses('q', { chosen: [1] }) });
    assert.equal(late.error?.code, 'ENGINE_NOT_ASKED');
    assert.deepEqual(await talk.kept(), before);
    assert.equal(talk.events.filter(({ type }) => type === 'answer').length, 1);
    assert.deepEqual([told(before)[0]![1].data.answers[0].chosen, talk.client.requests.length], [['SQLite'], 2]);
  });

  it('an answer for another run is none for this one, though its call has the same id', async () => {
    await begin({ calls: [asks('q', database)] }, { calls: [asks('q', database)] });
    const second = RunStore.newId();
    const [done, alsoDone] = [talk.start(), talk.engine.start({ runId: second, userInput: 'hi' })];
    await asking('q');
    await eventually('the other waits, too', () => Boolean(talk.engine.live(second)?.asking?.length));
    await talk.engine.say({ runId: second, ...chooses('q', { chosen: [1] }) });
    await alsoDone;
    assert.deepEqual(talk.engine.live(talk.runId)!.asking, ['q']);
    await talk.engine.stop(talk.runId);
    await done;
  });

  it('two of one reply are asked one after the other, and what comes after them waits', async () => {
    await begin(
      { calls: [call('fs.read', { path: 'a' }, 'r'), asks('q1', database), asks('q2', checks), call('fs.write', { path: 'b', content: 'B' }, 'w')] },
      { text: 'Done.' },
    ); // biome-ignore format: a reply
    const done = talk.start();
    await asking('q1');
    assert.deepEqual(
      [told(talk.engine.live(talk.runId)!).map(([id]) => id), talk.engine.live(talk.runId)!.asking],
      [['r'], ['q1']],
    );
    await answer('q1', { chosen: [0] });
    await asking('q2');
    assert.deepEqual([talk.questions, talk.file('b')], [[], undefined]);
    await answer('q2', { chosen: [1] });
    await done;
    assert.deepEqual(
      told(await talk.kept()).map(([id, { ok }]) => [id, ok]),
      [
        ['r', true],
        ['q1', true],
        ['q2', true],
        ['w', true],
      ],
    );
    assert.equal(talk.file('b'), 'B');
  });

  it('counts no turn', async () => {
    const round = (id: string) => ({ calls: [asks(id, database)] });
    await begin(...['1', '2', '3', '4'].map(round), { calls: [call('fs.list', { path: '.' })] }, { text: 'Done.' });
    talk.maxTurns = 2;
    const done = talk.start();
    for (const id of ['1', '2', '3', '4']) {
      await asking(id);
      await answer(id, { chosen: [0] });
    }
    assert.equal((await done).assistantText, 'Done.');
  });

  it('what the person answers may change anything: failures are counted anew after it', async () => {
    const miss = { calls: [call('fs.read', { path: 'none' })] };
    await begin(miss, miss, { calls: [asks('q', database)] }, miss, miss, { text: 'Done.' });
    const done = talk.start();
    await asking('q');
    await answer('q', { chosen: [0] });
    assert.equal((await done).assistantText, 'Done.');
  });

  it('a question that cannot be asked is told, and counts as a failure', async () => {
    await begin(
      ...[1, 2, 3].map(() => ({ calls: [call('ask.person', { questions: [{ ...database, answers: [] }] })] })),
    );
    assert.equal((await talk.start()).error?.code, 'ENGINE_LOOP_DETECTED');
  });

  it('Stop ends it, and its call has a result', async () => {
    await begin({ calls: [asks('q', database), call('fs.read', { path: 'a' }, 'r')] }, { text: 'I see.' });
    const done = talk.start();
    await asking('q');
    await talk.engine.stop(talk.runId);
    assert.equal((await done).error?.code, 'ENGINE_ABORTED');
    const run = await talk.kept();
    assert.deepEqual(
      [run.asking, told(run).map(([, { error }]) => error.message)],
      [[], ['Stopped before the person answered.', 'Stopped before it ran.']],
    );
    assert.equal(
      (await talk.engine.continue({ runId: talk.runId, ...chooses('q', { chosen: [0] }) })).error?.code,
      'ENGINE_NOT_ASKED',
    );
    await talk.continue('go on');
    assert.equal(talk.client.requests.length, 2);
  });

  for (const how of ['closed', 'killed'] as const)
    describe(`in an editor that is ${how}`, () => {
      const left = async (calls: ScriptedReply['calls'], ...replies: ScriptedReply[]) => {
        await begin({ text: 'First this.', calls });
        const done = talk.start();
        await asking('q');
        if (how === 'closed') await talk.engine.close();
        const next = nextEditor(...replies);
        await talk.engine.close();
        await done;
        return next;
      };

      it('the question stays open, and is answered by the next one, once', async () => {
        const next = await left([asks('q', database), call('fs.write', { path: 'b', content: 'B' }, 'w')], {
          text: 'Postgres it is.',
        });
        const open = await next.kept();
        assert.deepEqual([open.asking, pendingCalls(open.messages).map(({ id }) => id)], [['q'], ['q', 'w']]);
        const choice = { runId: next.runId, ...chooses('q', { chosen: [1] }) };
        const [first] = await Promise.all([next.engine.continue(choice), next.engine.say(choice)]);
        assert.equal(first.assistantText, 'Postgres it is.');
        const run = await next.kept();
        assert.deepEqual(told(run), [
          ['q', { ok: true, data: { answers: [{ question: 'Which database?', chosen: ['Postgres'] }] } }],
          [
            'w',
            {
              ok: false,
              error: {
                code: 'TOOL_DENIED',
                message: 'The run ended before this was answered. It did not run.',
                details: { reason: 'RUN_ENDED' },
              },
            },
          ],
        ]);
        assert.deepEqual([run.asking, run.queued, next.file('b'), next.client.requests.length], [[], [], undefined, 1]);
      });

      it('words are the answer, too', async () => {
        const next = await left([asks('q', database)], { text: 'Neither.' });
        await next.say('Neither of them.');
        assert.deepEqual(told(next.client.requests[0]!), [
          [
            'q',
            {
              ok: true,
              data: {
                answers: [{ question: 'Which database?', chosen: [], words: 'Neither of them.' }],
                said: 'Neither of them.',
              },
            },
          ],
        ]);
        assert.equal(transcript(await next.kept()).match(/^user /gm)!.length, 1);
      });

      it('who goes on without an answer has it told that there was none', async () => {
        const next = await left([asks('q', database)], { text: 'Then I choose.' });
        await next.continue();
        assert.deepEqual(told(next.client.requests[0]!)[0]![1].error, {
          code: 'TOOL_INTERRUPTED',
          message: 'The run ended before the person answered. Ask again if it still matters.',
          details: { reason: 'RUN_ENDED' },
        });
      });

      it('undoing what the run did before leaves the question open', async () => {
        const next = await left([call('fs.write', { path: 'b', content: 'B' }, 'w'), asks('q', database)], {
          text: 'Fine.',
        });
        await next.engine.undo(next.runId, { toolCallIds: ['w'] }, next.workspace, async () => 'all');
        assert.deepEqual([next.file('b'), (await next.kept()).asking], [undefined, ['q']]);
        await next.say('the first');
        assert.deepEqual(
          told(await next.kept()).map(([id]) => id),
          ['w', 'q'],
        );
      });
    });

  it('an answer that was kept when the editor was killed is told by the next one, and not asked for again', async () => {
    await begin({ calls: [asks('q', database)] }, { text: 'never' });
    const disk = stuckDisk(talk);
    disk.sticksAt((event) => event !== 'open' && event.type === 'tool-end');
    const done = talk.start();
    await asking('q');
    await answer('q', { chosen: [0] });
    await eventually('it is about to end', () => disk.waits);
    const next = nextEditor({ text: 'SQLite it is.' });
    assert.deepEqual((await next.kept()).asking, []);
    await next.continue();
    assert.deepEqual(told(next.client.requests[0]!)[0]![1].data.answers[0].chosen, ['SQLite']);
    disk.release();
    await done;
  });
});
