import assert from 'node:assert/strict';
import { contextUsageOf } from '../../../src/engine/context/contextUsage.ts';
import { LLMError } from '../../../src/llm/core/errors.ts';
import { applyEvent } from '../../../src/protocol/run/fold.ts';
import { newRun } from '../../../src/protocol/run/run.ts';
import { longText } from '../../support/longText.ts';
import { call, type ScriptedReply } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { Conversation } from '../conversation.ts';

const words = 'some words of a file\n'.repeat(400);
const usage = { promptTokens: 5000, completionTokens: 50, totalTokens: 5050, cachedTokens: 4000 };

describe('what fills the window', () => {
  let talk: Conversation | undefined;
  afterEach(async () => {
    await talk?.end();
    talk = undefined;
  });
  const begin = async (contextWindow: number | undefined, ...replies: ScriptedReply[]) => {
    talk = new Conversation(await temporaryWorkspace({ a: words, b: words }), replies);
    talk.contextWindow = contextWindow;
    talk.padPrompt();
    return talk;
  };

  it('is told with each call, as it was counted and by what it is of, and is the same after a reload', async () => {
    const talk = await begin(
      32_000,
      { text: 'I look.', calls: [call('fs.read', { path: 'a' })], usage },
      { text: 'Done.', usage },
    );
    await talk.start('look');
    const { filling } = await talk.kept();
    const { output, instructions, tools, words: said, answers, summary, leftOut, ...rest } = filling!;
    assert.deepEqual(rest, { total: 5050, size: 32_000, roomAt: 27_200, cached: 4000 });
    assert.ok(output > 1500 && instructions > 100 && tools > 500 && said < 20 && answers > 50, JSON.stringify(filling));
    assert.deepEqual([summary, leftOut], [0, 0]);
    const panel = newRun(talk.runId);
    for (const event of talk.events) applyEvent(panel, event);
    assert.deepEqual(panel.filling, filling);
  });

  it('is as large as it is estimated where nobody counts, and has no size that nobody knows', async () => {
    const talk = await begin(undefined, { text: 'Hello.', usage: null });
    await talk.start('hi');
    const asked = talk.events.find((event) => event.type === 'request')!;
    const { total, size, roomAt, ...parts } = asked.type === 'request' ? asked.filling! : ({} as never);
    const { leftOut: _, ...sent } = parts;
    assert.deepEqual(
      [size, roomAt, total],
      [undefined, undefined, Object.values(sent as Omit<typeof sent, 'files'>).reduce((sum, one) => sum + one, 0)],
    );
  });

  it('has a size from the next turn on, once the provider has listed one, and room is made by it', async () => {
    const read = { text: 'I look.', calls: [call('fs.read', { path: 'a' })], usage: null };
    const talk = await begin(undefined, read, read, read, { text: 'Done.', usage: null });
    const known = [undefined, undefined, 4000, 4000];
    talk.currentWindow = () => known[Math.min(talk.client.requests.length, known.length - 1)];
    await talk.start('look');
    const sizes = talk.events.flatMap((event) =>
      event.type === 'request' && event.filling ? [event.filling.size] : [],
    );
    assert.deepEqual(sizes.slice(0, 3), [undefined, undefined, 4000]);
    assert.equal(
      talk.events.some(({ type }) => type === 'compaction'),
      true,
    );
  });

  it('keeps a smaller size that a refusal has named, until another one is listed', async () => {
    const read = { text: 'I look.', calls: [call('fs.read', { path: 'a' })], usage: null };
    const details = { window: 5900 };
    const refused = { error: new LLMError('LLM_CONTEXT_OVERFLOW', 'It is too long.', { details }) };
    const talk = await begin(32_000, read, read, refused, read, read, { text: 'Done.', usage: null });
    talk.currentWindow = () => (talk.client.requests.length > 4 ? 64_000 : 32_000);
    await talk.start('look');
    const sizes = talk.events.flatMap((event) =>
      event.type === 'request' && event.filling ? [event.filling.size] : [],
    );
    assert.deepEqual([...new Set(sizes)], [32_000, 5900, 64_000]);
  });

  it('has less in it when room was made, and says how much is left out', async () => {
    const essay = { text: longText('some words of a file\n', 800), usage: null };
    const talk = await begin(
      9000,
      essay,
      essay,
      essay,
      { text: 'Essays.', usage: null },
      { text: 'Yes.', usage: null },
    );
    await talk.start('one');
    for (const text of ['two', 'three', 'four']) await talk.continue(text);
    const made = talk.events.findLast((event) => event.type === 'compaction')!;
    const { filling } = made.type === 'compaction' ? made : {};
    assert.ok(filling && filling.leftOut > 1000 && filling.total < 8000, JSON.stringify(filling));
  });

  it('is worked out from what is new alone, and is what it would be from the beginning', () => {
    const message = (content: string) => ({ role: 'user' as const, content });
    const run = { ...newRun('r'), messages: [message('one')] };
    const prefix = { model: 'm', systemPrompt: 'Be brief.' };
    contextUsageOf(run, prefix, 1000);
    for (const one of ['two', 'three']) {
      run.messages.push(message(one));
      assert.deepEqual(
        contextUsageOf(run, prefix, 1000),
        contextUsageOf({ ...run, messages: [...run.messages] }, prefix, 1000),
      );
    }
  });
});
