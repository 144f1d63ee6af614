import assert from 'node:assert/strict';
import fc from 'fast-check';
import { toAnthropicWireRequest } from '../../src/llm/anthropic/wire.ts';
import { requestCallIds } from '../../src/llm/core/callIds.ts';
import type { ChatRequest } from '../../src/llm/core/client.ts';
import { toGoogleWire } from '../../src/llm/google/wire.ts';
import { toOllamaWireRequest } from '../../src/llm/ollama/wire.ts';
import { toOpenAIResponsesWireRequest } from '../../src/llm/openai/responses/wire.ts';
import { toOpenAIWireRequest } from '../../src/llm/openai/wire.ts';
import { toRequestBody } from '../../src/llm/transport/requestBody.ts';
import type { Message } from '../../src/protocol/content/messages.ts';
import { anyMessage } from './anyHistory.ts';

// A conversation grows, and each request contains the one before. What was converted for an earlier request is not converted again, and
// the bytes are those of a conversation that nobody has sent before.

const convert = <Flags extends object>(flags: Flags, toBody: (request: ChatRequest, flags: Flags) => object) => ({
  known: (request: ChatRequest) => toBody(request, flags),
  fresh: (request: ChatRequest) => toBody(request, { ...flags }),
});

const wires = {
  OpenAI: convert({ provider: 'here' }, toOpenAIWireRequest),
  Mistral: convert({ provider: 'here', callIds: 'nine' as const, answersResults: true }, toOpenAIWireRequest),
  DeepSeek: convert({ provider: 'here', returnThinking: 'all' as const }, toOpenAIWireRequest),
  'a model without a system role': convert({ provider: 'here', systemAsUser: true }, toOpenAIWireRequest),
  'a model without images': convert({ provider: 'here', withoutImages: true }, toOpenAIWireRequest),
  'OpenAI’s Responses': convert({ provider: 'here' }, toOpenAIResponsesWireRequest),
  Anthropic: convert({}, toAnthropicWireRequest),
  'Anthropic, which refused thinking': convert({ refused: new Set(['s']) }, toAnthropicWireRequest),
  Gemini: convert({}, toGoogleWire),
  'Gemini 2': convert({ imagesApart: true }, toGoogleWire),
  Gemma: convert({ systemAsUser: true, unsignedCallsAsText: true }, toGoogleWire),
  Ollama: convert({ thinkingLevels: false }, (request, model) => toOllamaWireRequest(request, { model }).body),
  'Ollama, without images': convert(
    { thinkingLevels: false, vision: false },
    (request, model) => toOllamaWireRequest(request, { model }).body,
  ),
};

const requestOf = (messages: Message[], systemPrompt: string): ChatRequest => ({
  model: 'm',
  systemPrompt,
  messages,
  tools: [{ name: 'fs.read', description: '', parameters: { type: 'object' } }],
});

/** One request after the other: each adds messages, goes back to an earlier message, or has another prompt. */
const requests = fc.array(
  fc.record({
    more: fc.array(anyMessage, { maxLength: 4 }),
    back: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(3) }),
    prompt: fc.oneof({ weight: 4, arbitrary: fc.constant('Be brief.') }, { weight: 1, arbitrary: fc.constant('') }),
    chunk: fc.constantFrom(1, 80, 300, 65_536),
  }),
  { maxLength: 6 },
);

describe('a conversation that grows', () => {
  for (const [name, { known, fresh }] of Object.entries(wires)) {
    it(`is sent to ${name} byte for byte as if it were new`, () =>
      fc.assert(
        fc.property(requests, (all) => {
          let messages: Message[] = [];
          for (const { more, back, prompt, chunk } of all) {
            messages = [...messages.slice(0, messages.length - back), ...more];
            if (messages.length === 0) continue;
            const sent = toRequestBody(known(requestOf(messages, prompt)), chunk);
            const whole = JSON.stringify(fresh(requestOf(structuredClone(messages), prompt)));
            assert.equal(Buffer.from(sent as Uint8Array).toString(), whole);
          }
        }),
        { numRuns: 1000 },
      ));
  }

  it('is the same JSON as its whole body', () => {
    const values = fc.array(fc.oneof(fc.object({ maxDepth: 1 }), fc.jsonValue()), { maxLength: 12 });
    fc.assert(
      fc.property(values, values, fc.nat(12), fc.constantFrom(1, 50, 65_536), (first, second, shared, chunk) => {
        for (const list of [first, [...first, ...second], [...first.slice(0, shared), ...second], first]) {
          const body = { list, left: undefined, text: 'größer \ud800', size: list.length };
          assert.equal(Buffer.from(toRequestBody(body, chunk) as Uint8Array).toString(), JSON.stringify(body));
        }
      }),
    );
    assert.deepEqual(
      [toRequestBody({}), toRequestBody({ a: undefined }), toRequestBody({ a: [] })],
      ['{}', '{}', '{"a":[]}'],
    );
  });

  it('is converted once: later requests contain the same objects', () => {
    const turn = (id: string): Message[] => [
      { role: 'assistant', content: '', toolCalls: [{ id, name: 'fs.read', arguments: {} }] },
      { role: 'tool', content: '', toolResults: [{ toolCallId: id, content: 'read' }] },
    ];
    const messages: Message[] = [{ role: 'user', content: 'go' }, ...turn('a'), ...turn('b'), ...turn('c')];
    const { Gemma: _, ...others } = wires; // which gets foreign calls as one text
    for (const { known } of Object.values(others)) {
      const itemsOf = (list: Message[]): unknown[] => {
        const body = known(requestOf([...list], '')) as Record<string, unknown[]>;
        return (body.messages ?? body.input ?? body.contents)!;
      };
      const [first, second] = [itemsOf(messages), itemsOf([...messages, ...turn('d')])];
      assert.equal(second[0], first[0]);
      assert.equal(second[1], first[1]);
    }
  });

  it('has the ids of its own calls only', () => {
    const asks = (id: string): Message => ({
      role: 'assistant',
      content: '',
      toolCalls: [{ id, name: 'fs.read', arguments: {} }],
    });
    const messages = [asks('a'), asks('b')];
    assert.deepEqual([...requestCallIds([...messages])], ['a', 'b']);
    assert.deepEqual([...requestCallIds([...messages, asks('c')])], ['a', 'b', 'c']);
    assert.deepEqual([...requestCallIds([...messages])], ['a', 'b']);
  });
});
