import { systemPrompt } from '../../src/engine/context/systemPrompt.ts';
import { toEditorTools } from '../../src/extension/providers/editorWire.ts';
import { toAnthropicWireRequest as toAnthropic } from '../../src/llm/anthropic/wire.ts';
import type { ChatRequest } from '../../src/llm/core/client.ts';
import { toGoogleWire } from '../../src/llm/google/wire.ts';
import { toInferenceJob } from '../../src/llm/local/host/client.ts';
import { toOllamaWireRequest as toOllama } from '../../src/llm/ollama/wire.ts';
import { toOpenAIResponsesWireRequest as toResponses } from '../../src/llm/openai/responses/wire.ts';
import { toOpenAIWireRequest as toOpenAI } from '../../src/llm/openai/wire.ts';
import { removeRedundantTools } from '../../src/protocol/content/tools.ts';
import type { LanguageService } from '../../src/tools/code/language.ts';
import { builtinTools } from '../../src/tools/host/builtinTools.ts';
import { defaultChatWorkflow } from '../../src/workflows/run/chatWorkflow.ts';

/** Characters that the system prompt and the tools of every request may have, as each wire writes them. */
export const maxSent = 5500;

/** The first request of a chat, with all tools. */
export const first: ChatRequest = {
  model: 'model',
  systemPrompt: systemPrompt(defaultChatWorkflow.agent, { names: ['workspace'] }),
  messages: [{ role: 'user', content: 'hi' }],
  tools: removeRedundantTools(builtinTools({ language: {} as LanguageService }).map(({ definition }) => definition)),
};

type RequestParts = (request: ChatRequest) => { prompt: string; tools: unknown };
type Message = { content: string };
type Instruction = { parts: { text: string }[] };

const wires: Record<string, RequestParts> = {
  'OpenAI and compatible': (request) => {
    const { messages, tools } = toOpenAI(request, { provider: 'openai' });
    return { prompt: (messages as Message[])[0]!.content, tools };
  },
  'OpenAI (Responses API)': (request) => {
    const { instructions, tools } = toResponses(request, { provider: 'openai' });
    return { prompt: instructions as string, tools };
  },
  Ollama: (request) => {
    const { messages, tools } = toOllama(request, { model: { thinkingLevels: false } }).body;
    return { prompt: messages[0]!.content, tools };
  },
  Anthropic: (request) => {
    const { system, tools } = toAnthropic(request);
    return { prompt: system![0]!.text, tools };
  },
  Google: (request) => {
    const { systemInstruction, tools } = toGoogleWire(request) as { systemInstruction: Instruction; tools: object[] };
    return { prompt: systemInstruction.parts[0]!.text, tools };
  },
  'the local model': (request) => {
    const { systemPrompt, functions } = toInferenceJob(request).job;
    return { prompt: systemPrompt!, tools: functions };
  },
  "the editor's own models": ({ systemPrompt, tools }) => ({ prompt: systemPrompt!, tools: toEditorTools(tools!) }),
};

/** Characters of the system prompt, and of the tools as each wire writes them. */
export const sentSizes = (request = first): { wire: string; prompt: number; tools: number }[] =>
  Object.entries(wires).map(([wire, parts]) => {
    const { prompt, tools } = parts(request);
    return { wire, prompt: prompt.length, tools: JSON.stringify(tools).length };
  });
