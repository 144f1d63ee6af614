import * as z from 'zod';
import type { AssistantMessage, Message, ProviderMetadata, ToolResult } from '../../../protocol/content/messages.ts';
import { toWireToolName } from '../../core/wireToolNames.ts';
import { withUnseenAttachmentNote } from '../../messages/attachments.ts';
import { continuationUserMessage, normalizeHistory } from '../../messages/normalizeHistory.ts';

export type LlamaHistoryItem =
  | { type: 'system'; text: string }
  | { type: 'user'; text: string }
  | { type: 'model'; response: LlamaResponseItem[] };
export type LlamaResponseItem = string | LlamaHistoryCall | LlamaTextSegment;

export interface LlamaHistoryCall {
  type: 'functionCall';
  name: string;
  params: unknown;
  result: unknown;
  /** Raw text of the call, so that the rendered prompt equals the evaluated tokens. */
  rawCall?: unknown;
  startsNewChunk?: boolean;
}

export interface LlamaTextSegment {
  type: 'segment';
  segmentType: 'thought' | 'comment';
  text: string;
  ended: boolean;
  [extra: string]: unknown;
}

const provider = 'local';

const nativeContentSchema = z.object({
  spoken: z.array(z.union([z.string(), z.looseObject({ type: z.literal('segment'), text: z.string() })])).optional(),
  calls: z.array(z.object({ id: z.string(), raw: z.unknown() })).optional(),
  form: z.string().optional(),
});
type NativeContent = z.infer<typeof nativeContentSchema>;

export function toLlamaProviderMetadata(
  spoken: readonly (string | LlamaTextSegment)[],
  calls: readonly { id: string; raw: unknown }[],
  form?: string,
): ProviderMetadata | undefined {
  const content: NativeContent = {
    ...(spoken.some((item) => typeof item !== 'string') && { spoken: [...spoken] }),
    ...(calls.length > 0 && { calls: [...calls] }),
  };
  return Object.keys(content).length > 0 ? { provider, content: { ...content, ...(form && { form }) } } : undefined;
}

/**
 * Converts messages to the model's history. The messages between two user messages form one model item. Each call contains its result; a
 * call without a result gets `TOOL_INTERRUPTED`. The history ends with a model item to continue. Native text of another form is rewritten
 * in the form of the reading model.
 */
export function toLlamaHistory(messages: readonly Message[], systemPrompt?: string, form?: string): LlamaHistoryItem[] {
  const { system, normalized } = normalizeHistory({ systemPrompt, messages });
  const history: LlamaHistoryItem[] = [];
  if (system) history.push({ type: 'system', text: system });
  for (const one of normalized) {
    if (one === continuationUserMessage) continue;
    if (one.role === 'user') addUserText(history, one.content);
    else modelResponse(history).push(...toResponse(one.message, one.results, form));
  }
  modelResponse(history);
  return history;
}

/** Appends user text; many templates reject two consecutive user turns. */
function addUserText(history: LlamaHistoryItem[], text: string): void {
  const last = history.at(-1);
  if (last?.type === 'user') last.text += `\n\n${text}`;
  else history.push({ type: 'user', text });
}

function modelResponse(history: LlamaHistoryItem[]): LlamaResponseItem[] {
  const last = history.at(-1);
  if (last?.type === 'model') return last.response;
  const response: LlamaResponseItem[] = [];
  history.push({ type: 'model', response });
  return response;
}

function toResponse(message: AssistantMessage, results: readonly ToolResult[], form?: string): LlamaResponseItem[] {
  const native = nativeOf(message, form);
  const raw = new Map(native?.calls?.map((call) => [call.id, call.raw]));
  return [
    ...((native?.spoken as LlamaResponseItem[] | undefined) ?? spokenBy(message)),
    ...(message.toolCalls ?? []).map((call, index): LlamaHistoryCall => {
      const rawCall = call.cut ? undefined : raw.get(call.id);
      return {
        type: 'functionCall',
        name: toWireToolName(call.name),
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

function spokenBy(message: AssistantMessage): LlamaResponseItem[] {
  const thought: LlamaTextSegment = {
    type: 'segment',
    segmentType: 'thought',
    text: message.thinking ?? '',
    ended: true,
  };
  return [...(message.thinking ? [thought] : []), ...(message.content ? [message.content] : [])];
}

/** Returns the outcome as data, because the chat template prints JSON itself. */
function toResult(result: ToolResult): unknown {
  const content = withUnseenAttachmentNote(result);
  try {
    return JSON.parse(content);
  } catch {
    return content;
  }
}
