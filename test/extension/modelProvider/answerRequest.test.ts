import assert from 'node:assert/strict';
import { dayBudget } from '../../../src/engine/core/budget.ts';
import type { RunModel } from '../../../src/engine/run/runContext.ts';
import {
  answerIncomingModelRequest,
  type IncomingModelRequest,
  IncomingModelRequestRejected,
} from '../../../src/extension/modelProvider/answerRequest.ts';
import {
  type RequestingExtension,
  RequestingExtensionConsents,
} from '../../../src/extension/modelProvider/requesters.ts';
import { IncomingModelRequestQueue } from '../../../src/extension/modelProvider/requestQueue.ts';
import { createAdapter } from '../../../src/llm/adapter/adapter.ts';
import { DailySpendFiles } from '../../../src/runs/dailySpend.ts';
import { temporaryFolder } from '../../support/editor/sample.ts';
import { eventually } from '../../support/eventually.ts';
import { call, type ScriptedReply, scriptedClient } from '../../support/scriptedClient.ts';

const user = (content: string) => [{ role: 1, content }];

/** Somebody asks a scripted model, and what they are told. */
function begin(
  replies: ScriptedReply[],
  model: Partial<RunModel> = {},
  line = new IncomingModelRequestQueue(() => {}),
) {
  const client = scriptedClient(replies);
  const adapter = createAdapter(client, { retries: 0 }, { priceOf: () => ({ input: 1_000_000, output: 0 }) });
  const ask = (more: Partial<IncomingModelRequest> & { local?: boolean } = {}) => {
    const stop = new AbortController();
    const told: unknown[] = [];
    const answer = answerIncomingModelRequest(
      {
        who: 'Notes (test.notes)',
        messages: user('Hello?'),
        options: {},
        signal: stop.signal,
        stop: () => stop.abort(new IncomingModelRequestRejected('failed', 'Stopped by you.')),
        report: (part) => told.push('text' in part ? part.text : { [part.call.name]: part.call.arguments }),
        ...more,
      },
      {
        line,
        label: 'scripted',
        local: more.local ?? false,
        ready: async () => ({ id: 'test/scripted', model: 'scripted', adapter, ...model }),
        recorded: (_, ask) => ask(),
      },
    );
    return { answer, told, stop };
  };
  return { client, line, ask };
}

const refused =
  (kind: IncomingModelRequestRejected['kind'], message: RegExp) => (error: IncomingModelRequestRejected) =>
    error instanceof IncomingModelRequestRejected && error.kind === kind && message.test(error.message);

describe('an ask from outside of Towpath', () => {
  it('is told text as it comes and calls when they are whole, and the model is told who asks', async () => {
    const { client, line, ask } = begin([{ thinking: 'hm', text: 'Looking.', calls: [call('read', { path: 'a' })] }]);
    const { answer, told } = ask();
    assert.equal((await answer).finishReason, 'tool_calls');
    assert.equal(told.filter((one) => typeof one === 'string').join(''), 'Looking.');
    assert.deepEqual(told.at(-1), { read: { path: 'a' } });
    assert.equal(client.requests[0]!.asker, 'Notes (test.notes)');
    assert.deepEqual(line.all, []);
  });

  it('a call has an id of its own in the conversation, also of a model that numbers the calls of every reply anew', async () => {
    const numbered = { ...call('read', { path: 'b' }), id: 'functions.read:0' };
    const { ask } = begin([{ calls: [numbered] }, { calls: [numbered] }]);
    const ids: string[] = [];
    const report: IncomingModelRequest['report'] = (part) => 'call' in part && ids.push(part.call.id);
    await ask({ report }).answer;
    const before = [
      { role: 2, content: [{ callId: ids[0], name: 'read', input: { path: 'b' } }] },
      { role: 1, content: [{ callId: ids[0], content: [{ value: 'text' }] }] },
    ];
    await ask({ report, messages: [...user('Hello?'), ...before] }).answer;
    assert.equal(ids[0], 'functions.read:0');
    assert.equal(new Set(ids).size, 2, ids.join());
  });

  it('a stop of the editor ends it with the editor’s reason, one of Towpath with ours; nothing is told after either', async () => {
    const { line, ask } = begin([{ endless: true }, { endless: true }]);
    const [first, second] = [ask(), ask()];
    await eventually('both are told something', async () => first.told.length > 0 && second.told.length > 0);
    first.stop.abort(new Error('Canceled'));
    line.all[1]!.stop();
    await assert.rejects(first.answer, /^Error: Canceled/);
    await assert.rejects(second.answer, refused('failed', /Stopped by you/));
    const before = [first.told.length, second.told.length];
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual([first.told.length, second.told.length], before);
    assert.deepEqual(line.all, []);
  });

  it('who cancels at once has asked nothing', async () => {
    const { client, line, ask } = begin([{ text: 'never' }]);
    for (let tries = 0; tries < 1000; tries++)
      await assert.rejects(ask({ signal: AbortSignal.abort(new Error('Canceled')) }).answer, /Canceled/);
    assert.deepEqual([client.requests.length, line.all.length], [0, 0]);
  });

  const tooLong: [what: string, ask: Partial<IncomingModelRequest>, message: RegExp][] = [
    [
      '10 MB of words',
      { messages: user('word '.repeat(2_000_000)) },
      /longer than scripted can read: 10000000 char.* 8192/,
    ],
    [
      'more tokens than its window',
      { messages: user('a1b2 '.repeat(25_000)) },
      /about \d+ tokens.* 8192 tokens\. Nothing/,
    ],
    [
      '20 MB of a picture',
      { messages: [{ role: 1, content: [{ mimeType: 'image/png', data: new Uint8Array(20_000_000) }] }] },
      /26666667 characters/,
    ],
    [
      'tools of 10 MB',
      { options: { tools: [{ name: 'a', description: 'x'.repeat(10_000_000) }] } },
      /longer than scripted can read/,
    ],
  ];
  for (const [what, more, message] of tooLong)
    it(`is refused before anything is sent: ${what}`, async () => {
      const { client, ask } = begin([], { contextWindow: 8192 });
      await assert.rejects(ask(more).answer, refused('failed', message));
      assert.equal(client.requests.length, 0);
    });

  it('costs the person’s money within their day’s limit, and not a call more', async () => {
    const spent = new DailySpendFiles(temporaryFolder());
    const budget = dayBudget(spent, () => 100);
    const usage = { promptTokens: 60, completionTokens: 1, totalTokens: 61 };
    const replies = [1, 2, 3].map(() => ({ text: 'Yes.', usage }));
    const { client, ask } = begin(replies, { budget });
    await ask().answer;
    await ask().answer;
    await assert.rejects(ask().answer, refused('blocked', /\$120 of today's \$100 are spent/));
    assert.equal(client.requests.length, 2);
    assert.equal((await spent.today()).spent, 120);
  });

  it('a failure is told in our words, and a call that is no call is none', async () => {
    const broken = { id: 'x', name: 'read', arguments: {}, malformed: '{"path' };
    const { ask } = begin([{ error: new Error('The server is gone.') }, { text: 'Hm.', calls: [broken] }]);
    await assert.rejects(ask().answer, refused('failed', /The server is gone/));
    const second = ask();
    await assert.rejects(second.answer, refused('failed', /called read with arguments that are not a JSON object/));
    assert.ok(second.told.every((one) => typeof one === 'string'));
  });

  it('who asks in a loop is refused, and keeps nobody else away', async () => {
    const { line, ask } = begin(Array.from({ length: 20 }, () => ({ endless: true })));
    const all = Array.from({ length: 4 }, () => ask());
    await assert.rejects(ask().answer, refused('blocked', /already has 4 requests in progress/));
    const other = ask({ who: 'Other' });
    await eventually('the other one is answered', async () => other.told.length > 0);
    assert.equal(line.all.length, 5);
    for (const { stop } of [...all, other]) stop.abort(new Error('over'));
    await Promise.allSettled([...all, other].map(({ answer }) => answer));
    assert.equal(line.all.length, 0);
  });

  it('of a model on this machine one answer is written at a time, in the order of asking; who leaves the line leaves it', async () => {
    const shown: string[] = [];
    const line: IncomingModelRequestQueue = new IncomingModelRequestQueue(() =>
      shown.push(line.all.map(({ who, waits }) => `${who}${waits ? ' waits' : ''}`).join(', ')),
    );
    const { client, ask } = begin([{ endless: true }, { text: 'Third.' }], {}, line);
    const first = ask({ who: 'one', local: true });
    await eventually('the first is answered', async () => first.told.length > 0);
    const second = ask({ who: 'two', local: true });
    const third = ask({ who: 'three', local: true });
    await eventually('two wait', async () => line.all.length === 3);
    assert.equal(client.requests.length, 1);
    second.stop.abort(new Error('Canceled'));
    await assert.rejects(second.answer, /Canceled/);
    first.stop.abort(new Error('Canceled'));
    await assert.rejects(first.answer, /Canceled/);
    await third.answer;
    assert.equal(third.told.join(''), 'Third.');
    assert.ok(shown.includes('one, two waits, three waits'));
    assert.equal(shown.at(-1), '');
  });
});

describe('who may ask', () => {
  const memory = () => {
    const kept: Record<string, unknown> = {};
    return { all: () => kept, update: (id: string, value: unknown) => void Object.assign(kept, { [id]: value }) };
  };
  const notes = { id: 'test.notes', name: 'Notes' };

  it('an extension is asked about once, and a yes is kept until it is taken back', async () => {
    const questions: RequestingExtension[] = [];
    const kept = memory();
    const ask = async (asker: RequestingExtension) => questions.push(asker) > 0;
    await new RequestingExtensionConsents(kept, ask).check(notes);
    const later = new RequestingExtensionConsents(kept, ask);
    await later.check(notes);
    assert.deepEqual([questions.length, later.allowed], [1, ['test.notes']]);
    later.forget('test.notes');
    await later.check(notes);
    assert.equal(questions.length, 2);
  });

  it('a no holds in this window until it is reconsidered; the editor itself is not asked about', async () => {
    let questions = 0;
    const askers = new RequestingExtensionConsents(memory(), async () => {
      questions += 1;
      return false;
    });
    for (let tries = 0; tries < 3; tries++)
      await assert.rejects(askers.check(notes), refused('no-permission', /Notes/));
    await askers.check({ name: 'the editor' });
    assert.equal(questions, 1);
    askers.reconsider();
    await assert.rejects(askers.check(notes), IncomingModelRequestRejected);
    assert.equal(questions, 2);
  });

  it('who asks in a loop while the question is open is refused, and there is one question', async () => {
    let answer = (_: boolean) => {};
    let questions = 0;
    const askers = new RequestingExtensionConsents(memory(), () => {
      questions += 1;
      return new Promise((resolve) => {
        answer = resolve;
      });
    });
    const waiting = [1, 2, 3, 4].map(() => askers.check(notes));
    await assert.rejects(askers.check(notes), refused('blocked', /not yet decided/));
    answer(true);
    await Promise.all(waiting);
    assert.equal(questions, 1);
  });
});
