import assert from 'node:assert/strict';
import { compactConversation } from '../../../src/engine/context/compaction.ts';
import { promptMessages } from '../../../src/engine/context/promptMessages.ts';
import { recentTurnsStart } from '../../../src/engine/context/turnBoundaries.ts';
import { type Message, type ToolCall, userMessage } from '../../../src/protocol/content/messages.ts';
import type { RunEvent, RunEventBody } from '../../../src/protocol/run/events.ts';
import { applyEvent } from '../../../src/protocol/run/fold.ts';
import { planToolName } from '../../../src/protocol/run/plan.ts';
import { newRun } from '../../../src/protocol/run/run.ts';

const words = 'some words of a file '.repeat(300);
const calls = (...toolCalls: ToolCall[]): Message => ({ role: 'assistant', content: 'So.', toolCalls });
const call = (id: string, args: Record<string, unknown> = {}, name = 'fs.write'): ToolCall => {
  return { id, name, arguments: args };
};
const result = (toolCallId: string, data: unknown = {}): Message => {
  return { role: 'tool', content: '', toolResults: [{ toolCallId, content: JSON.stringify({ ok: true, data }) }] };
};
const sent = (messages: Message[], most?: number) =>
  promptMessages({ messages, compactions: [{ upTo: messages.length, ...(most && { most }), at: messages.length }] });
const argumentsIn = (messages: readonly Message[]) =>
  messages
    .flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
    .map((one) => one.arguments);

describe('what is sent once room was made', () => {
  const items = Array.from({ length: 20 }, (_, at) => ({
    text: `Step ${at} of a plan that is long.`,
    status: 'pending',
  }));

  it('the newest plan is whole, what else its reply asks for is not, and neither is the plan before it', () => {
    const older = items.map((item) => ({ ...item, status: 'active' }));
    const plans = [
      userMessage('go'),
      calls(call('a', { items: older }, planToolName)),
      result('a'),
      calls(call('b', { items }, planToolName), call('c', { content: words })),
      result('b'),
      result('c'),
    ];
    for (const most of [600, 150]) {
      const [before, now, write] = argumentsIn(sent(plans, most));
      assert.ok(JSON.stringify(before).length < 1400);
      assert.deepEqual(now, { items });
      assert.ok(JSON.stringify(write).length < 1400);
    }
  });

  it('a plan that comes later changes nothing before it until room is made again', () => {
    const messages = [userMessage('go'), calls(call('a', { items }, planToolName)), result('a')];
    const compactions = [{ upTo: 3, at: 3 }];
    const before = promptMessages({ messages, compactions });
    const more = [...messages, calls(call('b', { items: [] }, planToolName)), result('b')];
    assert.deepEqual(promptMessages({ messages: more, compactions }).slice(0, 3), before);
  });

  it('pictures of old results are named, not sent; the person’s are', () => {
    const attachments = [{ mediaType: 'image/png', data: 'AAAA', name: 'page.png' }];
    const shot: Message = {
      role: 'tool',
      content: '',
      toolResults: [{ toolCallId: 'a', content: '{"ok":true,"data":{}}', attachments }],
    };
    const [asked, , seen] = sent([userMessage('look', attachments), calls(call('a', {}, 'x.shot')), shot]);
    assert.deepEqual(asked, userMessage('look', attachments));
    assert.deepEqual(seen?.role === 'tool' && seen.toolResults, [
      { toolCallId: 'a', content: '{"ok":true,"data":{},"note":"Not shown any more: page.png."}' },
    ]);
  });

  it('a result that came late is not parted from its call', () => {
    const messages = [
      userMessage('go'),
      calls(call('a'), call('b')),
      result('a'),
      userMessage('and?'),
      result('b'),
      calls(),
    ];
    assert.deepEqual(
      [0, 20, 1e6].map((tokens) => recentTurnsStart(messages, tokens)),
      [5, 5, 0],
    );
    assert.equal(recentTurnsStart(messages.slice(0, -1), 0), 1, 'the last turn begins with the call');
  });

  it('a summary that a larger window had room for is made shorter for a smaller one', async () => {
    const run = newRun('r');
    const emit = async (body: RunEventBody) =>
      applyEvent(run, { runId: 'r', seq: run.seq + 1, at: 1, ...body } as RunEvent);
    const add = (message: Message) => emit({ type: 'message', message });
    await add(userMessage('task'));
    await add({ role: 'assistant', content: 'Long ago.' });
    await add(userMessage('more'));
    await emit({ type: 'compaction', upTo: 2, summary: words.repeat(4), kept: '' });
    const read: string[] = [];
    const adapter = {
      complete: async ({ messages }: { messages: readonly Message[] }) => {
        read.push(messages[0]!.content);
        return { success: true, message: { role: 'assistant' as const, content: 'Shorter.' }, attempts: 1, delayMs: 0 };
      },
    };
    const prefix = { model: 'm', systemPrompt: 'You help.', tools: [] };
    const room = { run, prefix, emit, called: { adapter }, signal: new AbortController().signal, contextWindow: 4000 };
    assert.equal(await compactConversation(room, 'nearly full'), true);
    assert.match(read[0]!, /^Summary of what came before:\nsome words/);
    assert.deepEqual(
      promptMessages(run).map(({ content }) => content.split('\n').at(-1)),
      ['task', 'Shorter.', 'more'],
    );
  });
});
