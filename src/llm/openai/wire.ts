import type { AssistantMessage, Message, ToolCall, ToolResult } from '../../protocol/messages.ts';
import { failure, toToolResult } from '../../protocol/tools.ts';
import type { ChatRequest } from '../client.ts';
import { toWireName } from '../names.ts';

/** Where OpenAI-compatible providers differ. All off is what most of them take; the client learns the rest. */
export interface WireFlags {
  /** The provider's id: thinking is given back to the provider it came from and to no other. */
  provider: string;
  /** Parameters this provider or model refuses. */
  omit?: readonly string[];
  /** OpenAI's newer models refuse `max_tokens` and want `max_completion_tokens`. */
  completionTokens?: boolean;
  /** DeepSeek answers 400 when `reasoning_content` is missing from a turn with tool calls; others when it is there. */
  returnThinking?: boolean;
}

export interface WireCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

export type WireMessage =
  | { role: 'system' | 'user'; content: string }
  | {
      role: 'assistant';
      content: string | null;
      tool_calls?: WireCall[];
      reasoning_content?: string;
      reasoning?: string;
    }
  | { role: 'tool'; tool_call_id: string; content: string };

/**
 * The body of `POST /chat/completions`, always streaming: without a stream a long answer runs into fetch's own limit
 * of five minutes. What the history lacks is mended here (a 400 would follow): every call has exactly one result,
 * right after the message with the calls; a result nobody asked for is left out.
 */
export function toWire(request: ChatRequest, flags: WireFlags): Record<string, unknown> {
  const tools = request.tools?.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name: toWireName(name), description: wellFormed(description), parameters },
  }));
  const body: Record<string, unknown> = {
    model: request.model,
    messages: toWireMessages(request, flags),
    ...(tools && tools.length > 0 && { tools, tool_choice: 'auto' }),
    temperature: request.temperature,
    top_p: request.topP,
    [flags.completionTokens ? 'max_completion_tokens' : 'max_tokens']: request.maxTokens,
    stop: request.stopSequences?.length ? request.stopSequences : undefined,
    stream: true,
    stream_options: { include_usage: true },
  };
  const sent = Object.entries(body).filter(([name, value]) => value !== undefined && !flags.omit?.includes(name));
  return Object.fromEntries(sent);
}

function toWireMessages(request: ChatRequest, flags: WireFlags): WireMessage[] {
  const wire: WireMessage[] = [];
  if (request.systemPrompt) wire.push({ role: 'system', content: wellFormed(request.systemPrompt) });
  for (const [index, message] of request.messages.entries()) {
    if (message.role === 'system') wire.push({ role: 'system', content: wellFormed(message.content) });
    if (message.role === 'user') pushUser(wire, wellFormed(message.content));
    if (message.role === 'assistant') wire.push(...turn(message, resultsAfter(request.messages, index), flags));
  }
  return wire;
}

/** The templates of Gemma and Mistral models refuse two messages of the person in a row. */
function pushUser(wire: WireMessage[], content: string): void {
  const last = wire.at(-1);
  if (last?.role === 'user') last.content += `\n\n${content}`;
  else wire.push({ role: 'user', content });
}

/** The results between an assistant message and the next one, by call; the first one given counts. */
function resultsAfter(messages: readonly Message[], index: number): Map<string, ToolResult> {
  const results = new Map<string, ToolResult>();
  for (let at = index + 1; at < messages.length; at++) {
    const message = messages[at]!;
    if (message.role === 'assistant') break;
    if (message.role !== 'tool') continue;
    for (const result of message.toolResults) {
      if (!results.has(result.toolCallId)) results.set(result.toolCallId, result);
    }
  }
  return results;
}

function turn(message: AssistantMessage, results: Map<string, ToolResult>, flags: WireFlags): WireMessage[] {
  const calls = message.toolCalls ?? [];
  if (message.content === '' && calls.length === 0) return []; // stopped before its first word: refused when empty
  const content = message.content === '' ? null : wellFormed(message.content);
  if (calls.length === 0) return [{ role: 'assistant', content }];
  return [
    { role: 'assistant', content, tool_calls: calls.map(toWireCall), ...thinkingFor(message, flags) },
    ...calls.map(({ id }): WireMessage => {
      const result = results.get(id) ?? toToolResult(id, interrupted);
      return { role: 'tool', tool_call_id: id, content: wellFormed(result.content) };
    }),
  ];
}

const interrupted = failure('TOOL_INTERRUPTED', 'Stopped before there was a result; it may or may not have run.');

/** A malformed call goes back without its arguments: its result says what was wrong, and servers parse this text. */
function toWireCall(call: ToolCall): WireCall {
  const text = JSON.stringify(call.arguments, (_, value) => (typeof value === 'string' ? wellFormed(value) : value));
  return { id: call.id, type: 'function', function: { name: toWireName(call.name) || 'unknown', arguments: text } };
}

/** What the reader leaves in `native.content`: the field in which this provider wrote its thinking. */
export interface NativeThinking {
  thinkingField: 'reasoning_content' | 'reasoning';
}

function thinkingFor(message: AssistantMessage, flags: WireFlags): { reasoning_content?: string; reasoning?: string } {
  if (!flags.returnThinking || message.native?.provider !== flags.provider) return {};
  const field = (message.native.content as Partial<NativeThinking> | null)?.thinkingField ?? 'reasoning_content';
  return { [field]: wellFormed(message.thinking ?? '') };
}

/** Half an emoji makes providers answer 400 ("no low surrogate"). */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\uFFFD');
}

/**
 * What a 400 teaches: the flags without the parameter it objects to, or with the thinking it misses; undefined when it
 * is about something else.
 */
export function learnFrom(words: string, parameter: string | undefined, flags: WireFlags): WireFlags | undefined {
  if (/reasoning_content/.test(words) && /must|missing|required/i.test(words) && !flags.returnThinking) {
    return { ...flags, returnThinking: true };
  }
  if (!/support|unknown|unrecogni[sz]ed|unexpected|not (permitted|allowed)|extra|deprecated|invalid/i.test(words)) {
    return undefined;
  }
  const named = optionalParameters.find((name) => {
    if (flags.omit?.includes(name)) return false;
    return parameter === undefined ? new RegExp(`\\b${name}\\b`).test(words) : parameter === name;
  });
  if (named === undefined) return undefined;
  return {
    ...flags,
    omit: [...(flags.omit ?? []), named], // grows each time, so that learning ends
    completionTokens: named === 'max_tokens' || (named !== 'max_completion_tokens' && flags.completionTokens),
  };
}

const optionalParameters = [
  'stream_options',
  'temperature',
  'top_p',
  'max_completion_tokens',
  'max_tokens',
  'tool_choice',
];
