import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { dayBudget } from '../../../src/engine/core/budget.ts';
import type { LLMClient } from '../../../src/llm/core/client.ts';
import { LLMError } from '../../../src/llm/core/errors.ts';
import { DailySpendFiles } from '../../../src/runs/dailySpend.ts';
import { eventually } from '../../support/eventually.ts';
import { longText } from '../../support/longText.ts';
import { call, type ScriptedReply, scriptedClient } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

const uncounted = { usage: null };
/** A sixth of what may be full. */
const essay = (name: string): ScriptedReply => ({
  text: `${name}: ${longText('some words of it ', 800)}`,
  ...uncounted,
});
const said = (text: string): ScriptedReply => ({ text, ...uncounted });
const four = ['one', 'two', 'three', 'four'];
const five = [...four, 'five'];
const output = 'some words of a file\n'.repeat(800);

/** The same with the signals that it was asked with, and how many of its replies are over. */
function heard(replies: ScriptedReply[]) {
  const client = scriptedClient(replies);
  const signals: AbortSignal[] = [];
  const over = { replies: 0 };
  const chatStream: LLMClient['chatStream'] = async function* (request, signal) {
    signals.push(signal!);
    try {
      yield* client.chatStream(request, signal);
    } finally {
      over.replies++;
    }
  };
  return { ...client, chatStream, signals, over };
}

// Holds unused-prefetch-costs-only.
describe('room that is made before it is needed', () => {
  let talk: Conversation;
  afterEach(() => talk.end());
  const begin = async (contextWindow: number, ...replies: ScriptedReply[]) => {
    const files = { a: output, b: output, c: output, d: output, e: output };
    talk = new Conversation(await temporaryWorkspace(files), replies);
    talk.contextWindow = contextWindow;
    talk.padPrompt();
  };
  const say = async (...texts: string[]) => {
    for (const text of texts) await (text === 'one' ? talk.start(text) : talk.continue(text));
  };
  const smallOf = (...replies: ScriptedReply[]) => {
    const client = heard(replies);
    talk.small = { client };
    return client;
  };
  const sentLast = () => talk.client.requests.at(-1)!.messages;
  const beside = () => talk.events.filter((event) => event.type === 'usage' && event.beside);
  const counted = () => eventually('what it took is on record', () => beside().length > 0);
  const summaries = async () => (await talk.kept()).compactions.map(({ summary }) => summary);

  describe('by a model behind an endpoint', () => {
    it('is a summary that is there when the window is full, and nobody waits for it then', async () => {
      await begin(20_000, ...five.map(essay), said('Six.'));
      const small = smallOf({ text: 'Essays were written.' });
      await say(...five);
      await counted();
      assert.deepEqual([small.requests.length, await summaries()], [1, []]);
      talk.events.splice(0);
      await say('six');
      assert.deepEqual([small.requests.length, await summaries()], [1, ['Essays were written.']]);
      assert.ok(sentLast().some(({ content }) => content.includes('Essays were written.')));
      assert.deepEqual(
        talk.events.filter(({ type }) => type === 'progress'),
        [],
      );
      const sent = JSON.stringify(sentLast());
      for (const words of ['one', 'two', 'three', 'four', 'five: some words', 'six']) assert.ok(sent.includes(words));
    });

    it('where it is not needed, nothing was: what is sent begins as before, and only what it cost is on record', async () => {
      const usage = { promptTokens: 9000, completionTokens: 3200, totalTokens: 12_200 };
      await begin(20_000, ...four.map(essay), { ...essay('five'), usage }, said('Six.'));
      const price = { input: 1, output: 1_000_000 };
      const client = heard([{ text: 'Essays.', usage: { promptTokens: 0, completionTokens: 2, totalTokens: 2 } }]);
      talk.small = { client, price };
      await say(...five);
      await counted();
      const run = await talk.kept();
      assert.deepEqual([run.model, run.contextTokens, run.filling?.total], ['one', 12_200, 12_200]);
      assert.deepEqual([run.usage.totalTokens, run.usage.cost, run.compactions], [12_202, 2, []]);
      await say('six');
      const [before, after] = talk.client.requests.slice(-2).map(({ messages }) => messages);
      assert.deepEqual(after!.slice(0, before!.length), before);
      const kinds = talk.events.flatMap((event) =>
        event.type === 'progress' || event.type === 'compaction' ? event : [],
      );
      assert.deepEqual(kinds, []);
    });

    it('is by the model itself where there is none for small work, beside its next call', async () => {
      await begin(20_000);
      const own = heard([]);
      const answers = scriptedClient([...five.map(essay), said('Six.')]);
      const summary = scriptedClient([{ text: 'Its own summary.' }]);
      talk.model = {
        ...own,
        chatStream: (request, signal) => (request.tools ? answers : summary).chatStream(request, signal),
      };
      await say(...five);
      await counted();
      await say('six');
      assert.deepEqual([summary.requests.length, await summaries()], [1, ['Its own summary.']]);
    });

    it('that is still on its way is waited for, and said', async () => {
      await begin(20_000, ...five.map(essay), said('Six.'));
      let open = () => {};
      const gate = new Promise<void>((resolve) => {
        open = resolve;
      });
      const small = smallOf({ text: 'Essays.' });
      const { chatStream } = small;
      small.chatStream = async function* (request, signal) {
        await gate;
        yield* chatStream(request, signal);
      };
      await say(...five);
      talk.told = (event) => {
        if (event.type === 'progress' && /summarizing/.test(event.text)) open();
      };
      await say('six');
      assert.deepEqual([small.requests.length, await summaries()], [1, ['Essays.']]);
    });

    it('is not begun where it will be enough to shorten what tools have said', async () => {
      const reads = [...'abcde'].map(
        (name): ScriptedReply => ({ calls: [call('fs.read', { path: name })], ...uncounted }),
      );
      await begin(20_000, ...reads, said('Done.'));
      const small = smallOf();
      await say('one');
      assert.deepEqual([small.requests.length, await summaries()], [0, [undefined]]);
    });

    it('is what the person gets who asks for room, where it stands for as much', async () => {
      await begin(20_000, ...five.map(essay));
      const small = smallOf({ text: 'Ahead.' });
      await say(...five);
      await counted();
      assert.equal(await talk.engine.compact(talk.runId), true);
      assert.deepEqual([small.requests.length, await summaries()], [1, ['Ahead.']]);
    });

    it('is dropped where they get more, and never stands for what something else stands for', async () => {
      await begin(21_000, ...five.map(essay), said('Six.'), essay('seven'), ...five.map(essay));
      const small = smallOf({ text: 'Ahead.' }, { text: 'As asked.' }, { text: 'Ahead again.' });
      await say(...five);
      await counted();
      await say('six', 'seven');
      assert.equal(await talk.engine.compact(talk.runId), true);
      assert.deepEqual(await summaries(), ['As asked.']);
      await say('eight', 'nine', 'ten', 'eleven', 'twelve', 'thirteen');
      assert.deepEqual(await summaries(), ['As asked.', 'Ahead again.']);
      assert.equal(small.requests.length, 3);
    });

    it('ends with Stop, and is asked for anew when the run goes on', async () => {
      await begin(20_000, ...four.map(essay), { text: 'five', endless: true }, said('Six.'));
      const small = smallOf({ text: 'Essays', endless: true }, { text: 'Essays.' });
      await say(...four);
      const done = talk.continue('five');
      await eventually('it is asked for', () => small.requests.length === 1);
      await talk.engine.stop(talk.runId);
      assert.equal((await done).error?.code, 'ENGINE_ABORTED');
      assert.equal(small.signals[0]!.aborted, true);
      assert.deepEqual([await summaries(), beside()], [[], []]);
    });

    it('goes on when the run rests, and ends with the window', async () => {
      await begin(20_000, ...five.map(essay));
      const small = smallOf({ text: 'Essays', endless: true });
      await say(...five);
      await eventually('it is asked for', () => small.requests.length === 1);
      assert.equal(small.signals[0]!.aborted, false);
      await talk.engine.close();
      assert.equal(small.signals[0]!.aborted, true);
    });

    for (const [what, reply] of [
      ['fails', { error: new LLMError('LLM_HTTP_ERROR', 'Out of order.') }],
      ['is empty', { text: ' ' }],
    ] as const)
      it(`of which nothing comes, for it ${what}, is not told of, and room is made in the usual way`, async () => {
        await begin(20_000, ...five.map(essay), said('Six.'));
        const small = smallOf(reply, { text: 'In the usual way.' });
        await say(...five);
        await eventually('it is asked for', () => small.requests.length === 1);
        assert.deepEqual(
          talk.events.filter(({ type }) => type === 'attempt' || type === 'progress'),
          [],
        );
        await say('six');
        assert.deepEqual([small.requests.length, await summaries()], [2, ['In the usual way.']]);
      });

    it('is not asked for where the model for small work cannot be had', async () => {
      await begin(20_000, ...five.map(essay), said('By itself.'), said('Six.'));
      talk.small = new Error('No key.');
      await say(...five);
      assert.deepEqual(
        talk.events.filter(({ type }) => type === 'progress'),
        [],
      );
      await say('six');
      assert.deepEqual(await summaries(), ['By itself.']);
    });
  });

  describe('for money', () => {
    const price = { input: 0, output: 1_000_000 };

    it('is not, where that would pass a limit: the run goes on, and nobody is asked', async () => {
      await begin(20_000, ...five.map(essay));
      const client = heard([]);
      talk.small = { client, price };
      talk.price = { input: 0, output: 0 };
      talk.runLimit = 0.5;
      await say(...five);
      const run = await talk.kept();
      assert.deepEqual(
        [run.messages.length, run.phase, run.error, client.requests.length],
        [10, 'WaitingUser', undefined, 0],
      );
    });

    it('counts in the day as well, needed or not', async () => {
      const folder = mkdtempSync(path.join(tmpdir(), 'ahead-'));
      try {
        await begin(20_000, ...five.map(essay));
        const spent = new DailySpendFiles(folder);
        talk.budget = dayBudget(spent, () => 100);
        talk.price = { input: 0, output: 0 };
        const client = heard([{ text: 'Essays.', usage: { promptTokens: 0, completionTokens: 3, totalTokens: 3 } }]);
        talk.small = { client, price };
        await say(...five);
        await counted();
        await eventually('the day has it', async () => (await spent.today()).spent === 3);
        assert.equal((await talk.kept()).usage.cost, 3);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });
  });

  describe('by a model on this machine', () => {
    /** 17,100 of 17,850 tokens are filled once five essays are written. */
    const nearly = 21_000;
    const ownOf = (...replies: ScriptedReply[]) => {
      const client = heard(replies);
      talk.model = client;
      talk.onThisMachine = true;
      talk.price = { input: 0, output: 0 };
      return client;
    };
    const isAsked = (client: { requests: unknown[] }, times: number) =>
      eventually('it is asked', () => client.requests.length === times);

    it('is not asked beside the work, but once that rests, and is used with the next words, before the window is full', async () => {
      await begin(nearly);
      const own = ownOf(...five.map(essay), { text: 'Essays were written.' }, said('Six.'));
      await say(...four);
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal(own.requests.length, 4);
      await say('five');
      const { seq } = await talk.kept();
      await isAsked(own, 6);
      assert.equal(own.requests[5]!.tools, undefined, 'it is the summary');
      const before = await talk.kept();
      assert.deepEqual([before.seq, before.phase, before.compactions], [seq, 'WaitingUser', []]);
      await eventually('it is there', () => own.over.replies === 6);
      await say('six');
      assert.deepEqual([own.requests.length, await summaries()], [7, ['Essays were written.']]);
      assert.equal(beside().length, 1, 'what it took is counted with its use');
    });

    it('is given up at once when the person writes, and nothing of it is left', async () => {
      await begin(nearly);
      const own = ownOf(...five.map(essay), { text: 'Essays', endless: true }, said('Six.'));
      await say(...five);
      await isAsked(own, 6);
      const six = talk.continue('six');
      assert.equal(own.signals[5]!.aborted, true);
      assert.equal((await six).assistantText, 'Six.');
      assert.deepEqual([await summaries(), beside()], [[], []]);
    });

    it('makes way when the model is needed for something else', async () => {
      await begin(nearly);
      const own = ownOf(...five.map(essay), { text: 'Essays', endless: true });
      await say(...five);
      await isAsked(own, 6);
      await talk.engine.makeWay();
      assert.equal(own.signals[5]!.aborted, true);
    });

    it('is not asked after a stop', async () => {
      await begin(nearly);
      const own = ownOf(...four.map(essay), { ...essay('five'), endless: true });
      await say(...four);
      const done = talk.continue('five');
      await isAsked(own, 5);
      await talk.engine.stop(talk.runId);
      await done;
      assert.equal(own.requests.length, 5);
    });
  });
});
