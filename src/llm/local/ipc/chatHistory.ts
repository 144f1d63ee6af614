import * as z from 'zod';
import type { AssistantMessage, Message, Native, ToolResult } from '../../../protocol/content/messages.ts';
import { toWireName } from '../../core/wireToolNames.ts';
import { contentUnseen } from '../../messages/attachments.ts';
import { goOn, repairHistory } from '../../messages/normalizeHistory.ts';

/** The shapes of node-llama-cpp's chat history, as far as they are used here. */
export type HistoryItem =
  | { type: 'system'; text: string }
  | { type: 'user'; text: string }
  | { type: 'model'; response: ResponseItem[] };
export type ResponseItem = string | FunctionCall | Segment;

export interface FunctionCall {
  type: 'functionCall';
  name: string;
  params: unknown;
  result: unknown;
  /** The call as the model wrote it: keeps the rendered text equal to what was evaluated. */
  rawCall?: unknown;
  /** The first call of a reply: the ones after it were written in the same breath. */
  startsNewChunk?: boolean;
}

export interface Segment {
  type: 'segment';
  segmentType: 'thought' | 'comment';
  text: string;
  ended: boolean;
  [extra: string]: unknown;
}

const provider = 'local';

/** What a reply keeps for its own model. Text and thinking are kept again only where their order or form matters. */
const nativeContentSchema = z.object({
  spoken: z.array(z.union([z.string(), z.looseObject({ type: z.literal('segment'), text: z.string() })])).optional(),
  calls: z.array(z.object({ id: z.string(), raw: z.unknown() })).optional(),
  form: z.string().optional(),
});
type NativeContent = z.infer<typeof nativeContentSchema>;

/** The `native` part of a message: what the model said, in order, and each call as it was written, in which form. */
export function toNative(
  spoken: readonly (string | Segment)[],
  calls: readonly { id: string; raw: unknown }[],
  form?: string,
): Native | undefined {
  const content: NativeContent = {
    ...(spoken.some((item) => typeof item !== 'string') && { spoken: [...spoken] }),
    ...(calls.length > 0 && { calls: [...calls] }),
  };
  return Object.keys(content).length > 0 ? { provider, content: { ...content, ...(form && { form }) } } : undefined;
}

/**
 * The conversation as the model is given it. Everything from one user message to the next is one model item; each call
 * carries its result, and a call that never got one is told as `TOOL_INTERRUPTED`. Ends with a model item to go on with.
 * What another model wrote in a form of its own is written anew in the one that reads it.
 */
export function toHistory(messages: readonly Message[], systemPrompt?: string, form?: string): HistoryItem[] {
  const { system, said } = repairHistory({ systemPrompt, messages });
  const history: HistoryItem[] = [];
  if (system) history.push({ type: 'system', text: system });
  for (const one of said) {
    if (one === goOn) continue; // it is gone on with in place
    if (one.role === 'user') addUserText(history, one.content);
    else modelResponse(history).push(...toResponse(one.message, one.results, form));
  }
  modelResponse(history);
  return history;
}

/** Many templates refuse two user turns in a row. */
function addUserText(history: HistoryItem[], text: string): void {
  const last = history.at(-1);
  if (last?.type === 'user') last.text += `\n\n${text}`;
  else history.push({ type: 'user', text });
}

function modelResponse(history: HistoryItem[]): ResponseItem[] {
  const last = history.at(-1);
  if (last?.type === 'model') return last.response;
  const response: ResponseItem[] = [];
  history.push({ type: 'model', response });
  return response;
}

/** `results[i]` answers the i-th call. */
function toResponse(message: AssistantMessage, results: readonly ToolResult[], form?: string): ResponseItem[] {
  const native = nativeOf(message, form);
  const raw = new Map(native?.calls?.map((call) => [call.id, call.raw]));
  return [
    ...((native?.spoken as ResponseItem[] | undefined) ?? spokenBy(message)),
    ...(message.toolCalls ?? []).map((call, index): FunctionCall => {
      const rawCall = call.cut ? undefined : raw.get(call.id);
      return {
        type: 'functionCall',
        name: toWireName(call.name),
        params: call.malformed ?? call.arguments,
        result: toResult(results[index]!),
        ...(rawCall !== undefined && { rawCall }),
        ...(index === 0 && { startsNewChunk: true }),
      };
    }),
  ];
}

function nativeOf(message: AssistantMessage, form: string | undefined): NativeContent | undefined {
  if (message.native?.provider !== provider) return undefined;
  const native = nativeContentSchema.safeParse(message.native.content).data;
  return native?.form !== undefined && form !== undefined && native.form !== form ? undefined : native;
}

function spokenBy(message: AssistantMessage): ResponseItem[] {
  const thought: Segment = { type: 'segment', segmentType: 'thought', text: message.thinking ?? '', ended: true };
  return [...(message.thinking ? [thought] : []), ...(message.content ? [message.content] : [])];
}

/** The outcome as data: the chat template prints it as JSON itself. */
function toResult(result: ToolResult): unknown {
  const content = contentUnseen(result);
  try {
    return JSON.parse(content);
  } catch {
    return content;
  }
}
