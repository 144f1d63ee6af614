import assert from 'node:assert/strict';
import { createAdapter } from '../../../src/llm/adapter/adapter.ts';
import type { ChatRequest } from '../../../src/llm/core/client.ts';
import { toWireToolName } from '../../../src/llm/core/wireToolNames.ts';
import { createLLMClient } from '../../../src/llm/createClient.ts';
import { withUniqueToolNames } from '../../../src/llm/messages/uniqueToolNames.ts';
import { type FakeProvider, fakeProviders } from '../../support/providers.ts';

const tool = (name: string) => ({ name, description: '', parameters: { type: 'object', properties: {} } });
const long = `mcp.server.${'x'.repeat(60)}`;
const asked = (...names: string[]): ChatRequest => ({
  model: 'scripted',
  messages: [{ role: 'user', content: 'hi' }],
  tools: names.map(tool),
});

describe('tools that would have one name on the wire', () => {
  const lists: [names: string[], renamed: number[]][] = [
    [['fs.read', 'fs.write', 'fs_list'], []],
    [['a.b', 'a_b'], [1]],
    [
      ['a_b', 'a.b', 'a:b', 'a b'],
      [1, 2, 3],
    ],
    [[`${long}.a`, `${long}.b`], []], // the hash of a long name has its own say
    [['a.b', 'a.b'], []], // one tool, offered twice
  ];
  for (const [names, renamed] of lists) {
    it(`${names.map((name) => name.slice(0, 20)).join(', ')}: ${renamed.length} get another`, () => {
      const request = asked(...names);
      const { tools = [] } = withUniqueToolNames(request)?.request ?? request;
      const other = tools.flatMap(({ name }, at) => (name === names[at] ? [] : [at]));
      assert.deepEqual(other, renamed);
      assert.equal(new Set(tools.map(({ name }) => toWireToolName(name))).size, new Set(names).size);
    });
  }

  const call = (provider: FakeProvider, name: string) => async () => {
    const request = asked('a.b', 'a_b');
    const wireName = toWireToolName(withUniqueToolNames(request)!.request.tools!.at(name === 'a.b' ? 0 : 1)!.name);
    const server = await provider.start([{ parts: [{ call: wireName, args: { x: 1 } }] }, { parts: [{ text: 'ok' }] }]);
    try {
      const adapter = createAdapter(createLLMClient({ ...server.choice, model: 'scripted' }), { retries: 0 });
      const { signal } = new AbortController();
      const deltas: (string | undefined)[] = [];
      const onChunk = ({ toolCallDelta }: { toolCallDelta?: { name?: string } }) => deltas.push(toolCallDelta?.name);
      const { message } = await adapter.complete(request, { signal, onChunk });
      assert.deepEqual(
        message?.toolCalls?.map((one) => [one.name, one.arguments]),
        [[name, { x: 1 }]],
      );
      assert.deepEqual([...new Set(deltas.filter(Boolean))], [name]);
      const second = await adapter.complete({ ...request, messages: [...request.messages, message!] }, { signal });
      assert.equal(second.message?.content, 'ok', JSON.stringify(second));
    } finally {
      await server.close();
    }
  };
  for (const provider of fakeProviders) {
    it(`a call of the first goes to it (${provider.name})`, call(provider, 'a.b'));
    it(`a call of the second goes to it (${provider.name})`, call(provider, 'a_b'));
  }
});
