import assert from 'node:assert/strict';
import fc from 'fast-check';
import { toAnthropicWireRequest as toAnthropic } from '../../src/llm/anthropic/wire.ts';
import { type GoogleRequestRestrictions, toGoogleWire } from '../../src/llm/google/wire.ts';
import { toLlamaHistory } from '../../src/llm/local/ipc/chatHistory.ts';
import type { OpenAICompatibilityFlags } from '../../src/llm/models/wireFlags.ts';
import { toOllamaWireRequest as toOllama } from '../../src/llm/ollama/wire.ts';
import { toOpenAIResponsesWireRequest as toResponses } from '../../src/llm/openai/responses/wire.ts';
import { toOpenAIWireRequest as toOpenAI } from '../../src/llm/openai/wire.ts';
import type { Message } from '../../src/protocol/content/messages.ts';
import { anyMessage } from './anyHistory.ts';

// Histories as damage, other programs and a change of model make them. Whatever they are: every call has exactly one
// result, in its place and in the order asked, and nothing is sent that a provider is known to refuse.

const tools = [{ name: 'fs.read', description: '', parameters: { type: 'object' } }];
const requestOf = (messages: Message[], model = 'claude-sonnet-4-5') => ({ model, messages, tools });

type Sent = Record<string, unknown>;
const listOf = (value: unknown): Sent[] => (Array.isArray(value) ? value : []);

function checkOpenAI(messages: Message[], flags: OpenAICompatibilityFlags): void {
  const wire = listOf(toOpenAI(requestOf(messages), flags).messages);
  const answered = new Set<Sent>();
  assert.notEqual(wire.at(-1)?.role, 'assistant');
  for (const [at, { role, content, tool_calls }] of wire.entries()) {
    if (role === 'user') assert.ok(Array.isArray(content) || String(content).trim() !== '');
    if (role !== 'assistant') continue;
    const ids = listOf(tool_calls).map((one) => one.id as string);
    const following = wire.slice(at + 1, at + 1 + ids.length);
    assert.deepEqual(
      following.map((one) => one.tool_call_id),
      ids,
    );
    for (const one of following) answered.add(one);
    assert.equal(new Set(ids).size, ids.length);
    assert.ok(ids.every((one) => (flags.callIds === 'nine' ? /^[A-Za-z0-9]{9}$/ : /./).test(one)));
    assert.ok(content !== null || ids.length > 0);
  }
  assert.equal(wire.filter(({ role }) => role === 'tool').length, answered.size);
}

function checkResponses(messages: Message[]): void {
  const input = listOf(toResponses(requestOf(messages), { provider: 'here' }).input);
  const waiting: unknown[] = [];
  const known = new Set<unknown>();
  assert.notEqual(input.at(-1)?.role, 'assistant');
  for (const [at, item] of input.entries()) {
    const { type, role, call_id, content } = item;
    if (type === 'function_call') {
      assert.ok(!known.has(call_id) && String(call_id).length <= 40 && call_id !== '' && item.name !== '');
      known.add(call_id);
      waiting.push(call_id);
    } else if (type === 'function_call_output') assert.equal(call_id, waiting.shift());
    else if (type === 'message' && role === 'user')
      assert.deepEqual([waiting.length, input[at + 1]?.role === role], [0, false]);
    if (type === 'message') assert.ok(listOf(content).length > 0);
    if (type === 'reasoning') assert.ok(/^(message|function_call|reasoning)$/.test(String(input[at + 1]?.type)));
    if (type === 'reasoning') assert.notEqual(input[at + 1]?.role, 'user');
  }
  assert.deepEqual(waiting, []);
}

function checkAnthropic(messages: Message[]): void {
  const body = toAnthropic(requestOf(messages));
  const wire = body.messages as unknown as { role: string; content: Sent[] }[];
  assert.deepEqual([wire[0]?.role, wire.at(-1)?.role], ['user', 'user']);
  assert.ok(JSON.stringify(body).split('cache_control').length - 1 <= 4);
  const known = new Set<unknown>();
  for (const [at, { role, content }] of wire.entries()) {
    assert.notEqual(role, wire[at + 1]?.role);
    assert.ok(
      content.length > 0 && content.every((block) => block.type !== 'text' || String(block.text).trim() !== ''),
    );
    assert.ok(role === 'user' || !/thinking/.test(String(content.at(-1)!.type)));
    const calls = content.filter(({ type }) => type === 'tool_use').map((block) => block.id);
    for (const one of calls) {
      assert.ok(!known.has(one) && /^[A-Za-z0-9_-]+$/.test(String(one)));
      known.add(one);
    }
    const results = (wire[at + 1]?.content ?? []).filter(({ type }) => type === 'tool_result');
    if (role === 'assistant')
      assert.deepEqual(
        results.map((block) => block.tool_use_id),
        calls,
      );
  }
}

function checkGoogle(messages: Message[], flags: GoogleRequestRestrictions): void {
  const { contents } = toGoogleWire(requestOf(messages, 'gemini-3'), flags) as {
    contents: { role: string; parts: Sent[] }[];
  };
  assert.deepEqual([contents[0]?.role, contents.at(-1)?.role], ['user', 'user']);
  const namesOf = (parts: Sent[], kind: string) =>
    parts.flatMap((part) => (part[kind] ? [(part[kind] as Sent).name] : []));
  for (const [at, { parts }] of contents.entries()) {
    assert.ok(parts.length > 0 && parts.every((part) => part.text !== ''));
    const calls = namesOf(parts, 'functionCall');
    if (calls.length === 0) continue;
    const next = contents[at + 1]?.parts ?? [];
    assert.deepEqual(namesOf(next, 'functionResponse'), calls);
    assert.equal(next.length, calls.length, 'Google counts what is beside them, too');
  }
}

function checkOllama(messages: Message[]): void {
  const wire: Sent[] = toOllama(requestOf(messages), { model: { thinkingLevels: false } }).body.messages;
  assert.notEqual(wire.at(-1)?.role, 'assistant');
  for (const [at, { tool_calls }] of wire.entries()) {
    const names = listOf(tool_calls).map((one) => (one.function as Sent).name);
    const following = wire.slice(at + 1, at + 1 + names.length);
    assert.deepEqual(
      following.map((one) => one.tool_name),
      names,
    );
  }
}

function checkLocal(messages: Message[]): void {
  const history = toLlamaHistory(messages, 'Be brief.');
  assert.equal(history.at(-1)?.type, 'model');
  for (const [at, item] of history.entries()) {
    assert.notEqual(item.type, history[at + 1]?.type);
    if (item.type !== 'model') continue;
    for (const one of item.response)
      assert.ok(typeof one === 'string' || one.type !== 'functionCall' || one.result !== undefined);
  }
}

const wires: [name: string, check: (messages: Message[]) => void][] = [
  ['OpenAI', (messages) => checkOpenAI(messages, { provider: 'here' })],
  ['Mistral', (messages) => checkOpenAI(messages, { provider: 'here', callIds: 'nine', answersResults: true })],
  ['DeepSeek', (messages) => checkOpenAI(messages, { provider: 'here', returnThinking: 'all' })],
  ['OpenAI’s Responses', checkResponses],
  ['Anthropic', checkAnthropic],
  ['Gemini', (messages) => checkGoogle(messages, {})],
  ['Gemini 2', (messages) => checkGoogle(messages, { imagesApart: true })],
  ['Gemini 3, with calls of others', (messages) => checkGoogle(messages, { unsignedCallsAsText: true })],
  ['Ollama', checkOllama],
  ['the local model', checkLocal],
];

describe('any history at all', () => {
  const empty: Message[] = [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: 'Gone.' },
    { role: 'user', content: '' },
    { role: 'user', content: ' ' },
  ];
  const call: Message = { role: 'assistant', content: '', toolCalls: [{ id: 'a', name: 'fs.read', arguments: {} }] };
  for (const [name, check] of wires) {
    it(`is sent to ${name} with the person's word last, where they said nothing`, () => {
      for (const end of [2, 3, 4]) check(empty.slice(0, end));
      check([...empty, ...empty]);
    });
    it(`is sent to ${name} with the person's word first, where it begins with a call`, () => {
      check([call]);
      check([{ ...call, toolCalls: [] }, call, ...empty]);
      check([empty[3]!, call]);
    });
  }
  for (const [name, check] of wires) {
    it(`is sent to ${name} as it will take it`, () =>
      fc.assert(fc.property(fc.array(anyMessage, { maxLength: 7 }), check), { numRuns: 1500 }));
  }
});
