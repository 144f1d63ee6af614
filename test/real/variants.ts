import type { ChatRequest } from '../../src/llm/core/client.ts';
import type { JsonSchema, ToolDefinition } from '../../src/protocol/content/tools.ts';

/** Change of what a model gets, tried for its effect on the tasks of the model check. */
export interface Variant {
  sampling?: Record<string, unknown>;
  change?(request: ChatRequest, turn: number): ChatRequest;
}

const core = ['fs.read', 'fs.write', 'fs.edit', 'fs.list', 'fs.find', 'fs.search', 'shell.run', 'plan.update'];

const withTools = (change: (tools: readonly ToolDefinition[]) => readonly ToolDefinition[]): Variant => ({
  change: (request) => (request.tools ? { ...request, tools: change(request.tools) } : request),
});
const withSystem = (change: (text: string) => string): Variant => ({
  change: (request) => ({ ...request, systemPrompt: change(request.systemPrompt ?? '') }),
});

function requiredOnly(schema: JsonSchema): JsonSchema {
  const { properties = {}, required = [] } = schema as { properties?: Record<string, JsonSchema>; required?: string[] };
  const kept = Object.entries(properties).filter(([key]) => required.includes(key));
  return { ...schema, properties: Object.fromEntries(kept) };
}

function undescribed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(undescribed);
  if (node === null || typeof node !== 'object') return node;
  const entries = Object.entries(node).filter(([key, value]) => key !== 'description' || typeof value !== 'string');
  return Object.fromEntries(entries.map(([key, value]) => [key, undescribed(value)]));
}

const hint = 'To act, call a tool. After its result, answer the user in one sentence.';
const example =
  'Example. User: How many lines has notes.txt? You call fs_read with the path notes.txt, see the result, and answer: notes.txt has 3 lines.';

export const variants: Record<string, Variant> = {
  base: {},
  greedy: { sampling: { temperature: 0 } },
  cool: { sampling: { temperature: 0.2 } },
  'min-p': { sampling: { temperature: 0.6, minP: 0.1, topP: 1 } },
  'repeat-penalty': { sampling: { repeatPenalty: { penalty: 1.1, lastTokens: 64 } } },
  dry: { sampling: { dryRepeatPenalty: { strength: 0.8, base: 1.75, allowedLength: 2 } } },
  card: { sampling: { temperature: 1, topK: 64, topP: 0.95 } },
  'required-arguments': withTools((tools) =>
    tools.map((tool) => ({ ...tool, parameters: requiredOnly(tool.parameters) })),
  ),
  'core-tools': withTools((tools) => tools.filter(({ name }) => core.includes(name))),
  'core-tools-required-arguments': withTools((tools) =>
    tools
      .filter(({ name }) => core.includes(name))
      .map((tool) => ({ ...tool, parameters: requiredOnly(tool.parameters) })),
  ),
  'reversed-tools': withTools((tools) => [...tools].reverse()),
  'no-parameter-descriptions': withTools((tools) =>
    tools.map((tool) => ({ ...tool, parameters: undescribed(tool.parameters) as JsonSchema })),
  ),
  'no-rules': withSystem((text) =>
    text
      .split('\n\n')
      .filter((part) => !part.startsWith('- '))
      .join('\n\n'),
  ),
  hint: withSystem((text) => `${text}\n\n${hint}`),
  example: withSystem((text) => `${text}\n\n${example}`),
  'forced-first-call': {
    change: (request, turn) => (turn === 0 && request.tools?.length ? { ...request, toolChoice: 'required' } : request),
  },
  small: {
    sampling: { temperature: 0.2 },
    change: (request) => {
      const tools = request.tools
        ?.filter(({ name }) => core.includes(name))
        .map((tool) => ({ ...tool, parameters: requiredOnly(tool.parameters) }));
      const systemPrompt = (request.systemPrompt ?? '')
        .split('\n\n')
        .filter((part) => !part.startsWith('- '))
        .join('\n\n');
      return { ...request, ...(tools && { tools }), systemPrompt };
    },
  },
  'hint-in-message': {
    change: (request) => ({
      ...request,
      messages: request.messages.map((one, at) =>
        at === 0 && one.role === 'user' ? { ...one, content: `${one.content}\n\n${hint}` } : one,
      ),
    }),
  },
};
