import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ChatRequest } from '../../src/llm/core/client.ts';
import { fromOpenAIWireMessages, fromOpenAIWireTools } from '../../src/llm/openai/messages.ts';
import { testOut } from './editor/project.ts';

// Of every request that a test makes of a scripted model or of the OpenAI-compatible provider on this machine, one of each
// shape is kept, for the last part of the tests: it shows them to the chat templates of real models.

const folder = path.join(testOut, 'sent');
const known = new Set<string>();

/** Removes what an earlier run of the tests has asked. */
export const forgetSent = (): void => rmSync(folder, { recursive: true, force: true });

/** A request of this run of the tests, by a name that is a hash of its shape. */
export function sentRequests(): [name: string, request: ChatRequest][] {
  const files = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.json')) : [];
  return files.sort().map((file) => [file, JSON.parse(readFileSync(path.join(folder, file), 'utf8'))]);
}

/** A body of `POST /chat/completions`. */
export function keepBody({ messages, tools }: { messages?: unknown[]; tools?: unknown[] }): void {
  if (!messages) return; // asked by hand
  keepRequest({
    model: 'sent',
    messages: fromOpenAIWireMessages(messages),
    ...(tools && { tools: fromOpenAIWireTools(tools) }),
  });
}

/** Are shown every request of a test to a model. */
export const seenRequests: ((request: ChatRequest) => void)[] = [];

export function keepRequest(request: ChatRequest): void {
  const { systemPrompt, messages, tools } = request;
  for (const see of seenRequests) see(request);
  if (messages.length > 200) return; // a flood, which says the same over and over
  const shape = shapeOf({ systemPrompt, messages, tools });
  if (known.has(shape)) return;
  known.add(shape);
  const name = createHash('sha256').update(shape).digest('hex').slice(0, 16);
  const file = path.join(folder, `${name}.json`);
  if (existsSync(file)) return;
  mkdirSync(folder, { recursive: true });
  const own = `${file}.${process.pid}`; // test files run side by side
  writeFileSync(own, JSON.stringify({ model: 'sent', systemPrompt, messages, tools: tools?.slice(0, 1) }, shortened));
  renameSync(own, file);
}

/** Who speaks when, and with what; rounds of calls and results that look alike count as two at most. */
function shapeOf({ systemPrompt, messages, tools = [] }: Omit<ChatRequest, 'model'>): string {
  const said = messages.map((message) => {
    const begins = message.content === '' ? '-' : '';
    if (message.role === 'assistant') return `a${begins}${Math.min(message.toolCalls?.length ?? 0, 3)}`;
    if (message.role === 'tool') return `t${message.toolResults.length}`;
    const files = message.role === 'user' ? (message.attachments ?? []).map(({ mediaType }) => mediaType[0]) : [];
    return `${message.role[0]}${begins}${files.join('')}`;
  });
  return `${systemPrompt ? 'p' : ''}${tools.length > 0 ? 'T' : ''} ${said.join(' ')} `.replace(
    /((?:\S+ ){1,4})\1{2,}/g,
    '$1$1',
  );
}

/** Long texts, and more tools, tell a template nothing new, and some take their time with each character. */
function shortened(_key: string, value: unknown): unknown {
  return typeof value === 'string' && value.length > 1000 ? `${value.slice(0, 700)}…${value.slice(-200)}` : value;
}
