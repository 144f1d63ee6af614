import assert from 'node:assert/strict';
import { suspensionBeforeCompaction } from '../../../src/engine/core/compactionRefused.ts';
import { LLMError } from '../../../src/llm/core/errors.ts';
import { longText } from '../../support/longText.ts';
import { call, type ScriptedReply, scriptedClient } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

const uncounted = { usage: null };
const essay = (name: string): ScriptedReply => ({
  text: `${name}: ${longText('some words of it ', 500)}`,
  ...uncounted,
});
const said = (text: string): ScriptedReply => ({ text, ...uncounted });

describe('room that the person asks for', () => {
  let talk: Conversation;
  afterEach(() => talk.end());
  const begin = async (...replies: ScriptedReply[]) => {
    talk = new Conversation(await temporaryWorkspace({ a: 'A', b: 'B '.repeat(8000) }), replies);
    talk.contextWindow = 100_000;
  };
  const essays = async () => {
    await talk.start('write one');
    await talk.continue('write two');
    await talk.continue('write three');
  };
  const sent = (at: number) => JSON.stringify(talk.client.requests[at]!.messages).length;

  for (const window of [100_000, undefined])
    it(`is made though the window is not full, of ${window ?? 'a size that nobody knows'}; what is kept stays word for word`, async () => {
      await begin(essay('one'), essay('two'), essay('three'), said('A summary of essays.'), said('Four.'));
      talk.contextWindow = window;
      await essays();
      assert.equal(await talk.engine.compact(talk.runId), true);
      const run = await talk.kept();
      assert.deepEqual([run.phase, run.error, run.messages.length], ['WaitingUser', undefined, 6]);
      assert.match(run.compactions[0]!.summary!, /^A summary of essays/);
      assert.ok(run.filling!.leftOut > 1000);
      talk.build();
      await talk.continue('and four');
      assert.ok(sent(4) < sent(2), `${sent(4)} of ${sent(2)}`);
      const asked = JSON.stringify(talk.client.requests[4]!.messages);
      for (const words of ['write one', 'write two', 'write three', 'A summary of essays.', 'and four'])
        assert.ok(asked.includes(words), words);
    });

  it('is not made where hardly anything would be left out', async () => {
    await begin(said('Hello.'));
    await talk.start('hi');
    assert.equal(await talk.engine.compact(talk.runId), false);
    assert.deepEqual([(await talk.kept()).compactions, talk.client.requests.length], [[], 1]);
  });

  it('leaves a run that rests with an error where it rests', async () => {
    const error = new LLMError('LLM_AUTH_FAILED', 'No key.');
    await begin(essay('one'), essay('two'), essay('three'), { error }, said('A summary.'));
    await essays();
    const before = await talk.continue('four');
    assert.equal(await talk.engine.compact(talk.runId), true);
    assert.deepEqual((await talk.kept()).error, before.error);
  });

  it('is made before the next call of a run at work', async () => {
    const reads = { ...essay('I read'), calls: [call('fs.read', { path: 'a' })] };
    await begin(essay('one'), essay('two'), reads, said('A summary.'), said('Done.'));
    await talk.start('write one');
    await talk.continue('write two');
    let asked: unknown;
    talk.told = (event) => {
      if (event.type === 'tool-end') asked = talk.engine.compact(talk.runId);
    };
    assert.equal((await talk.continue('and read')).assistantText, 'Done.');
    assert.equal(await asked, 'later');
    assert.equal((await talk.kept()).compactions.length, 1);
  });

  it('is made when the work is over, where no call came any more', async () => {
    await begin(essay('one'), essay('two'), essay('three'), said('A summary.'));
    await talk.start('write one');
    await talk.continue('write two');
    talk.told = (event) => {
      if (event.type === 'message' && event.message.role === 'assistant') void talk.engine.compact(talk.runId);
    };
    const { phase, assistantText } = await talk.continue('write three');
    assert.deepEqual([phase, assistantText?.slice(0, 6)], ['WaitingUser', 'three:']);
    assert.equal((await talk.kept()).compactions.length, 1);
  });

  it('stops at once, and nothing is left out', async () => {
    await begin(essay('one'), essay('two'), essay('three'), { text: 'A summary', endless: true });
    await essays();
    const made = talk.engine.compact(talk.runId);
    while (talk.client.requests.length < 4) await new Promise((resolve) => setImmediate(resolve));
    await talk.engine.stop(talk.runId);
    assert.equal(await made, 'stopped');
    assert.deepEqual((await talk.kept()).compactions, []);
  });

  it('is not paid beyond a limit of money: the run says so', async () => {
    await begin(essay('one'), essay('two'), essay('three'));
    await essays();
    talk.price = { input: 0, output: 1_000_000 };
    talk.runLimit = 0.5;
    assert.equal(((await talk.engine.compact(talk.runId)) as { code: string }).code, 'LIMIT_RUN_REACHED');
    assert.deepEqual([(await talk.kept()).compactions, (await talk.kept()).error?.code], [[], 'LIMIT_RUN_REACHED']);
    assert.equal(((await talk.engine.compact(talk.runId)) as { code: string }).code, 'LIMIT_RUN_REACHED');
  });

  for (const [how, error] of [
    ['in peace', undefined],
    ['with an error', new LLMError('LLM_AUTH_FAILED', 'No key.')],
  ] as const)
    it(`once it may be paid, is made, and the run rests again as it did before: ${how}`, async () => {
      await begin(essay('one'), essay('two'), essay('three'), ...(error ? [{ error }] : []), said('A summary.'));
      await essays();
      if (error) await talk.continue('four');
      const before = await talk.kept();
      talk.price = { input: 0, output: 1_000_000 };
      talk.runLimit = 0.5;
      await talk.engine.compact(talk.runId);
      talk.build();
      assert.deepEqual(suspensionBeforeCompaction((await talk.kept()).error)?.error, before.error);
      talk.runLimit = 1000;
      assert.equal(await talk.engine.compact(talk.runId), true);
      const after = await talk.kept();
      assert.deepEqual([after.phase, after.error], [before.phase, before.error]);
      assert.deepEqual(after.messages, before.messages);
    });

  it('is by the model that the person has picked for it', async () => {
    await begin(essay('one'), essay('two'), essay('three'));
    const other = scriptedClient([said('By the other.')]);
    talk.others.set('scripted/two', { client: other });
    await essays();
    assert.equal(await talk.engine.compact(talk.runId, 'scripted/two'), true);
    assert.match((await talk.kept()).compactions[0]!.summary!, /^By the other\./);
  });

  it('what is said meanwhile is heard afterwards, and what waited before still waits', async () => {
    await begin(essay('one'), essay('two'), essay('three'), said('A summary.'), said('Heard.'));
    await essays();
    let isSaid = false;
    talk.told = (event) => {
      if (event.type !== 'progress' || isSaid) return;
      isSaid = true;
      void talk.engine.say({ runId: talk.runId, userInput: 'Are you there?' });
    };
    await talk.engine.compact(talk.runId);
    const run = await talk.kept();
    assert.deepEqual([run.messages.at(-1)?.content, run.queued], ['Heard.', []]);
  });
});
