import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { dayBudget, unknownPriceWarning } from '../../../src/engine/core/budget.ts';
import type { Price } from '../../../src/llm/models/prices.ts';
import { DailySpendFiles } from '../../../src/runs/dailySpend.ts';
import { longText } from '../../support/longText.ts';
import { call, type ScriptedReply, scriptedClient } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

/** A dollar a token of an answer, and nothing for what is read. */
const price: Price = { input: 0, output: 1_000_000 };
const answer = (text: string, dollars = 1): ScriptedReply => ({
  text,
  usage: { promptTokens: 0, completionTokens: dollars, totalTokens: dollars },
});
const reading = (path: string): ScriptedReply => ({ ...answer('Reading.'), calls: [call('fs.read', { path })] });

describe('limits of money', () => {
  const talks: Conversation[] = [];
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'limits-'));
  });
  afterEach(async () => {
    for (const talk of talks.splice(0)) await talk.end();
    rmSync(folder, { recursive: true, force: true });
  });
  const begin = async (...replies: ScriptedReply[]) => {
    const talk = new Conversation(await temporaryWorkspace({ a: 'A', b: 'B' }), replies);
    talk.price = price;
    talks.push(talk);
    return talk;
  };
  const day = (limit: number, place = folder) => dayBudget(new DailySpendFiles(place), () => limit);

  describe('of a run', () => {
    it('a call that would pass it does not go out; the run rests, and goes on from there when more is allowed', async () => {
      const talk = await begin(reading('a'), reading('b'), answer('Done.'));
      talk.runLimit = 2;
      const { phase, error } = await talk.start('read both');
      assert.deepEqual([phase, error?.code, talk.client.requests.length], ['WaitingUser', 'LIMIT_RUN_REACHED', 2]);
      assert.match(error!.message, /^\$2 of this run's \$2 are spent, and the next answer costs at least \$1\.$/);
      assert.equal((await talk.continue()).error?.code, 'LIMIT_RUN_REACHED');
      assert.equal(talk.client.requests.length, 2);
      assert.equal(await talk.engine.raiseLimit(talk.runId, { of: 'run', more: 2, to: 4 }), undefined);
      assert.equal((await talk.continue()).assistantText, 'Done.');
      assert.equal((await talk.kept()).allowed, 4);
    });

    it('a reload knows what was allowed, and a setting that is higher than that counts', async () => {
      const talk = await begin(answer('1'), answer('2'), answer('3'), answer('4'));
      talk.runLimit = 1;
      await talk.start('one');
      await talk.engine.raiseLimit(talk.runId, { of: 'run', more: 1, to: 2 });
      talk.build();
      assert.equal((await talk.continue('two')).assistantText, '2');
      assert.equal((await talk.continue('three')).error?.code, 'LIMIT_RUN_REACHED');
      talk.runLimit = 10;
      assert.equal((await talk.continue()).assistantText, '3');
    });

    it('no request of a call that did not go out is on record', async () => {
      const talk = await begin(answer('1', 5));
      talk.runLimit = 2;
      await talk.start('one');
      talk.events.splice(0);
      await talk.continue('two');
      const kinds = talk.events.map(({ type }) => type);
      assert.ok(!kinds.includes('request') && !kinds.includes('attempt') && !kinds.includes('usage'), kinds.join());
    });

    it('what its branch has cost counts in the branch alone, and nothing that was allowed goes with it', async () => {
      const talk = await begin(answer('1'), answer('2'), answer('3'));
      talk.runLimit = 1;
      await talk.start('one');
      await talk.engine.raiseLimit(talk.runId, { of: 'run', more: 5, to: 6 });
      const { seq } = await talk.kept();
      const id = await talk.store.fork(talk.runId, seq);
      const branch = await talk.store.read(id);
      assert.deepEqual([branch.allowed, branch.usage.cost], [undefined, undefined]);
    });

    it('a model that costs nothing goes on, whatever was spent', async () => {
      const talk = await begin(answer('1', 5), answer('2'));
      talk.runLimit = 2;
      await talk.start('one');
      talk.price = { input: 0, output: 0 };
      assert.equal((await talk.continue('two')).assistantText, '2');
    });

    it('without a price no limit holds: that is said once', async () => {
      const talk = await begin(reading('a'), answer('1'), answer('2'), answer('3'));
      talk.price = undefined;
      talk.runLimit = 0.01;
      await talk.start('one');
      await talk.continue('two');
      talk.build();
      assert.equal((await talk.continue('three')).assistantText, '3');
      const warnings = (await talk.kept()).messages.flatMap((one) =>
        one.role === 'assistant' ? (one.warnings ?? []) : [],
      );
      assert.deepEqual(warnings, [unknownPriceWarning]);
    });

    it('what is read from a cache costs that: a prompt that may be there does not stop the run', async () => {
      const talk = await begin(answer('1', 0), answer('2', 0));
      talk.price = { input: 1000, cached: 1, output: 0 };
      talk.runLimit = 0.5;
      assert.equal((await talk.start('one')).assistantText, '1');
    });

    it('a limit that cannot be understood lets nothing be spent, and says which', async () => {
      const talk = await begin(answer('1'));
      talk.runLimit = Number.NaN;
      const { error } = await talk.start('one');
      assert.deepEqual([error?.code, talk.client.requests.length], ['LIMIT_UNREADABLE', 0]);
      assert.match(error!.message, /towpath\.limits\.run is not an amount in dollars/);
    });

    it('a full window is not summarised for money that there is not, and nothing is left out for it', async () => {
      const essay = { text: longText('some words of it ', 1200), usage: null };
      const talk = await begin(essay, essay, essay, answer('A summary.'));
      await talk.start('an essay');
      await talk.continue('another');
      await talk.continue('a third');
      talk.contextWindow = 9000;
      talk.runLimit = 0.5;
      assert.equal((await talk.continue('and a fourth')).error?.code, 'LIMIT_RUN_REACHED');
      assert.deepEqual([(await talk.kept()).compactions, talk.client.requests.length], [[], 3]);
      talk.runLimit = 0;
      await talk.continue();
      assert.equal((await talk.kept()).compactions.length > 0, true);
    });

    it('no name is paid for beyond it', async () => {
      const talk = await begin(answer('1', 0));
      const naming = scriptedClient([answer('A name')]);
      talk.naming = naming;
      talk.runLimit = 0.5;
      await talk.start('one');
      assert.deepEqual([naming.requests.length, (await talk.kept()).title], [0, '']);
    });
  });

  describe('of a day', () => {
    it('two windows share it', async () => {
      const [one, two] = [await begin(answer('1'), answer('2')), await begin(answer('3'), answer('4'))];
      for (const talk of [one, two]) talk.budget = day(2.5);
      assert.equal((await one.start('one')).assistantText, '1');
      const rested = await two.start('two');
      assert.equal(rested.assistantText, '3');
      const { error } = await one.continue('three');
      assert.equal(error?.code, 'LIMIT_DAY_REACHED');
      assert.match(error!.message, /^\$2 of today's \$2\.50 are spent, and the next answer costs at least \$1\.$/);
      assert.equal((await two.continue('four')).error?.code, 'LIMIT_DAY_REACHED');
      await new DailySpendFiles(folder).raise(2.5);
      assert.equal((await one.continue()).assistantText, '2');
    });

    it('of two calls at once for the last dollar not both go out', async () => {
      const budgets = [day(1.5), day(1.5)];
      const admitted = await Promise.all(budgets.map((budget) => budget.admit(1)));
      assert.ok(admitted.filter((one) => 'paid' in one).length < 2);
    });

    it('a window that is killed in a call has counted what that surely costs', async () => {
      await day(5).admit(2);
      assert.deepEqual(await new DailySpendFiles(folder).today(), { spent: 2, raised: 0 });
    });

    it('what is spent without a limit counts when one is set on the same day', async () => {
      const talk = await begin(answer('1', 3), answer('2'));
      let limit = 0;
      talk.budget = dayBudget(new DailySpendFiles(folder), () => limit);
      await talk.start('one');
      limit = 2;
      assert.equal((await talk.continue('two')).error?.code, 'LIMIT_DAY_REACHED');
    });

    it('nobody waits for a disk that does not answer where there is no limit', async () => {
      class Hanging extends DailySpendFiles {
        override count(): Promise<never> {
          return new Promise(() => {});
        }
      }
      const talk = await begin(answer('1'), answer('2'));
      talk.budget = dayBudget(new Hanging(folder), () => 0);
      await talk.start('one');
      assert.equal((await talk.continue('two')).assistantText, '2');
    });

    it('what cannot be counted stops nothing without a limit, and everything that costs with one', async () => {
      const place = path.join(folder, 'taken');
      writeFileSync(place, 'a file where the folder should be');
      const talk = await begin(answer('1'), answer('2'));
      talk.budget = day(0, place);
      assert.equal((await talk.start('one')).assistantText, '1');
      talk.budget = day(5, place);
      const { phase, error } = await talk.continue('two');
      assert.deepEqual([phase, error?.code, talk.client.requests.length], ['WaitingUser', 'LIMIT_DAY_UNKNOWN', 1]);
      talk.price = { input: 0, output: 0 };
      assert.equal((await talk.continue()).assistantText, '2');
    });
  });
});
