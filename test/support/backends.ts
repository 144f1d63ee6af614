import path from 'node:path';
import { toWireToolName } from '../../src/llm/core/wireToolNames.ts';
import { writeScriptedModel } from '../../src/llm/local/demo/scriptedModel.ts';
import { builtinTools } from '../../src/tools/host/builtinTools.ts';
import { temporaryFolder } from './editor/sample.ts';
import { type Provider, type ProviderReply, reply, startProvider, type WireRequest } from './provider.ts';
import { said, stories, testScript } from './scripted.ts';

/** A model that plays the test's stories, and the settings that make Towpath talk to it. */
export interface Backend {
  settings: Record<string, unknown>;
  /** The loopback provider, when the model is behind one. */
  provider?: Provider;
  close(): Promise<void>;
}

/** The same stories behind an endpoint and in a real model file: what a person sees must be the same. */
export const backends: Record<'endpoint' | 'local', () => Promise<Backend>> = {
  async endpoint() {
    const provider = await startProvider(tell);
    return {
      provider,
      settings: {
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
      },
      close: () => provider.close(),
    };
  },
  async local() {
    const file = path.join(temporaryFolder(), 'scripted.gguf');
    writeScriptedModel(testScript(builtinTools().map((tool) => tool.definition)), file);
    // One thread: on a machine that runs many tests, several would mostly wait for each other.
    const settings = { 'towpath.model': `local/${file}`, 'towpath.local.gpu': false, 'towpath.local.threads': 1 };
    return { settings, close: async () => {} };
  },
};

/** The next step of the story that the newest message with a marker began; a failed call has its own end. */
function tell({ messages }: WireRequest): ProviderReply {
  const newest = messages.at(-1);
  if (newest?.role === 'tool') {
    const outcome = JSON.parse(newest.content ?? '') as { ok: boolean; error?: { code: string } };
    if (!outcome.ok) return reply.text(outcome.error?.code === 'TOOL_DENIED' ? said.denied : said.failed);
  }
  const asked = messages.findLastIndex((message) => message.role === 'user');
  const text = messages[asked]?.content ?? '';
  const marker = Object.keys(stories).find((one) => text.includes(one)) ?? Object.keys(stories)[0]!;
  const turn = messages.slice(asked).filter((message) => message.role === 'assistant').length;
  const step = stories[marker]![turn] ?? { text: said.hello };
  let next = reply;
  if (step.think) next = next.thinking(step.think);
  if (step.text) next = next.text(step.text);
  if (step.loop) return next.endless(step.loop.join(''));
  for (const call of step.calls ?? []) next = next.call(toWireToolName(call.name), call.args as object);
  return next;
}
