import assert from 'node:assert/strict';
import type { MessageDeliveryTiming } from '../../../src/protocol/run/events.ts';
import { pendingCalls } from '../../../src/protocol/run/pending.ts';
import type { Run } from '../../../src/protocol/run/run.ts';
import { call, type ScriptedReply } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

const write = (path: string, text: string) => call('fs.write', { path, content: text });
const wordsIn = ({ messages }: Run) => messages.flatMap(({ role, content }) => (role === 'user' ? [content] : []));
const waitingIn = ({ queued }: Run) => queued.map(({ text, when }) => `${text} (${when})`);
const told = ({ messages }: Run) =>
  messages.flatMap((message) =>
    message.role === 'tool' ? message.toolResults.map(({ error = 'done' }) => error) : [],
  );

describe('what is said while a run is at work', () => {
  let talk: Conversation;
  const begin = async (...replies: ScriptedReply[]) => {
    talk = new Conversation(await temporaryWorkspace({ a: 'A' }), replies);
  };
  afterEach(() => talk.end());
  const say = (userInput: string, when?: MessageDeliveryTiming) =>
    talk.engine.say({ runId: talk.runId, userInput, ...(when && { when }) });
  const numbers = async () => (await talk.kept()).queued.map(({ queued }) => queued);
  /** Begins, and waits until its first change is asked about. */
  const atWork = async () => {
    talk.answers = ['wait'];
    const done = talk.start();
    await talk.seen('question');
    return done.then.bind(done) as typeof done.then;
  };
  const rest = async (then: Awaited<ReturnType<typeof atWork>>) => {
    talk.allowWaiting();
    await then();
    return talk.kept();
  };

  it('at the next turn: the call that had begun ends, those after it are answered and do not run', async () => {
    const calls = [write('x', 'X'), write('y', 'Y'), call('fs.read', { path: 'a' }), write('z', 'Z')];
    await begin({ calls }, { text: 'Understood.' });
    const then = await atWork();
    await say('Only x!');
    const run = await rest(then);
    assert.deepEqual([talk.file('x'), talk.file('y'), talk.file('z')], ['X', undefined, undefined]);
    assert.deepEqual(told(run), ['done', 'TOOL_NOT_RUN', 'TOOL_NOT_RUN', 'TOOL_NOT_RUN']);
    assert.deepEqual([wordsIn(run), pendingCalls(run.messages)], [['hi', 'Only x!'], []]);
    const sent = talk.client.requests.at(-1)!.messages;
    assert.deepEqual(
      sent.slice(-5).map(({ role }) => role),
      ['tool', 'tool', 'tool', 'tool', 'user'],
    );
  });

  it('is no failure of the calls that did not run: the same ones may be asked for again', async () => {
    const again = { calls: [write('x', 'X'), write('y', 'Y')] };
    await begin(again, again, { text: 'Done.' });
    const then = await atWork();
    await say('Go on.');
    assert.equal((await rest(then)).error, undefined);
    assert.deepEqual([talk.file('y'), talk.client.requests.length], ['Y', 3]);
  });

  it('when it is done: calls go on, one is given after the other, each when the work before it is done', async () => {
    await begin({ calls: [write('x', 'X'), write('y', 'Y')] }, { text: 'One.' }, { text: 'Two.' }, { text: 'Three.' });
    const then = await atWork();
    await say('second', 'done');
    await say('third', 'done');
    const run = await rest(then);
    assert.deepEqual([told(run), talk.client.requests.length], [['done', 'done'], 4]);
    const said = run.messages.filter(({ role }) => role !== 'tool').map(({ content }) => content);
    assert.deepEqual(said, ['hi', '', 'One.', 'second', 'Two.', 'third', 'Three.']);
  });

  it('when it is done waits while the run rests at a failure, a no, or a pause', async () => {
    const ends: [says: string, script: ScriptedReply[], act: () => void][] = [
      ['a failure', [{ calls: [write('x', 'X')] }, { error: new Error('away') }], () => {}],
      ['a pause', [{ calls: [write('x', 'X')] }], () => talk.engine.pause(talk.runId)],
      ['a stop', [{ calls: [write('x', 'X')] }], () => void talk.engine.stop(talk.runId)],
    ];
    for (const [says, script, act] of ends) {
      await begin(...script);
      const then = await atWork();
      await say('later', 'done');
      act();
      const run = await rest(then);
      assert.deepEqual([waitingIn(run), wordsIn(run)], [['later (done)'], ['hi']], says);
      await talk.end();
    }
    await begin(...['x', 'y', 'z'].map((name) => ({ calls: [write(name, '')] })));
    const then = await atWork();
    await say('later', 'done');
    talk.answers = [{ decision: 'deny' }, { decision: 'deny' }];
    assert.deepEqual(waitingIn(await rest(then)), ['later (done)'], 'two times no');
  });

  it('now: what is at work is stopped, and then it is heard, before what waits', async () => {
    await begin({ calls: [write('x', 'X')] }, { text: 'Now then.' });
    const then = await atWork();
    await say('for the next turn');
    await say('for the end', 'done');
    await say('now!', 'now');
    await then();
    assert.equal((await talk.kept()).error?.code, 'ENGINE_ABORTED');
    assert.deepEqual(wordsIn(await talk.kept()), ['hi'], 'whoever goes on lets it be heard');
    await talk.continue();
    const run = await talk.kept();
    assert.deepEqual(wordsIn(run), ['hi', 'now!', 'for the next turn', 'for the end']);
    assert.deepEqual([talk.file('x'), told(run)], [undefined, ['TOOL_INTERRUPTED']]);
  });

  it('stop keeps it and sends none, over a reload; what is said then comes after it', async () => {
    await begin({ calls: [write('x', 'X')] }, { text: 'Both.' }, { text: 'All.' });
    const then = await atWork();
    await say('first');
    await say('last', 'done');
    await talk.engine.stop(talk.runId);
    await then();
    assert.equal(talk.client.requests.length, 1);
    talk.build();
    assert.deepEqual(waitingIn(await talk.kept()), ['first (turn)', 'last (done)']);
    await talk.continue('second');
    assert.deepEqual(wordsIn(await talk.kept()), ['hi', 'first', 'second', 'last']);
  });

  for (const isAtWork of [true, false])
    it(`can be changed and taken back ${isAtWork ? 'at work' : 'at rest'}, and is then given so`, async () => {
      await begin({ calls: [write('x', 'X')] }, { text: 'Well.' }, { text: 'Done.' });
      const then = await atWork();
      for (const one of ['one', 'two', 'three']) await say(one);
      const [one, two, three] = await numbers();
      if (!isAtWork) {
        await talk.engine.stop(talk.runId);
        await then();
        talk.build();
      }
      const change = (queued: number, userInput: string, when: MessageDeliveryTiming) =>
        talk.engine.changeWaiting(talk.runId, queued, { userInput, when });
      assert.equal(await change(one!, 'ONE', 'done'), true);
      await talk.engine.takeBack(talk.runId, two!);
      assert.equal(await change(two!, 'too late', 'turn'), false);
      assert.equal(await change(three!, 'THREE', 'turn'), true);
      assert.deepEqual(waitingIn(await talk.kept()), ['ONE (done)', 'THREE (turn)']);
      if (isAtWork) await rest(then);
      else await talk.continue();
      assert.deepEqual(wordsIn(await talk.kept()), ['hi', 'THREE', 'ONE']);
      assert.equal(await change(three!, 'THIRD', 'turn'), false, 'it was given');
    });

  it('taken back or changed in the moment in which it is given, is never both', async () => {
    await begin({ calls: [write('x', 'X')] }, { text: 'Done.' });
    const then = await atWork();
    await say('one');
    await say('two');
    const [one, two] = await numbers();
    let acted: Promise<unknown>[] = [];
    talk.told = ({ type }) => {
      if (type === 'tool-end')
        acted = [
          talk.engine.takeBack(talk.runId, one!),
          talk.engine.changeWaiting(talk.runId, two!, { userInput: 'TWO', when: 'turn' }),
        ];
    };
    const run = await rest(then);
    await Promise.all(acted);
    assert.deepEqual([wordsIn(run), waitingIn(run)], [['hi', 'TWO'], []]);
  });

  it('nothing is taken back or changed in a run that was deleted', async () => {
    await begin({ text: 'Done.' });
    await talk.start();
    await talk.store.delete(talk.runId);
    await talk.engine.takeBack(talk.runId, 1);
    const changed = await talk.engine.changeWaiting(talk.runId, 1, { userInput: 'TWO', when: 'turn' });
    assert.equal(changed, false);
  });

  it('two that say the same are two', async () => {
    await begin({ calls: [write('x', 'X')] }, { text: 'Done.' });
    const then = await atWork();
    await say('again');
    await say('again');
    await talk.engine.takeBack(talk.runId, (await numbers())[0]!);
    assert.deepEqual(wordsIn(await rest(then)), ['hi', 'again']);
  });
});
