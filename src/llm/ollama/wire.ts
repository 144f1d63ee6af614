import type { Attachment, Message } from '../../protocol/content/messages.ts';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import type { ChatRequest } from '../core/client.ts';
import { toWireToolName } from '../core/wireToolNames.ts';
import {
  attachmentsIn,
  attachmentText,
  isImageAttachment,
  isTextAttachment,
  toolImagesCaption,
  withUnseenAttachmentNote,
} from '../messages/attachments.ts';
import { createHistoryConverter } from '../messages/convertedHistory.ts';
import {
  type NormalizedMessage,
  normalizeGrowingHistory,
  replaceLoneSurrogates,
  toWellFormedJson,
} from '../messages/normalizeHistory.ts';
import { outputTokenLimit } from '../messages/outputLimit.ts';
import { thinkingBudgetWarning } from '../messages/warnings.ts';
import type { OllamaModel } from './model.ts';

export const ollamaProviderId = 'ollama';

export interface OllamaConversionOptions {
  model: OllamaModel;
  contextSize?: number;
  keepAlive?: string | number;
}

export type OllamaWireMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string; images?: string[] }
  | { role: 'assistant'; content: string; thinking?: string; tool_calls?: OllamaWireToolCall[] }
  | { role: 'tool'; tool_name: string; content: string };

interface OllamaWireToolCall {
  function: { name: string; arguments: Record<string, unknown> };
}

interface OllamaWireRequest {
  body: { messages: OllamaWireMessage[]; [parameter: string]: unknown };
  warnings: LocalizedMessage[];
  notes: string[];
}

/**
 * Builds the body of `POST /api/chat`. Calls have no ids: a result follows its call and names the tool. `truncate` and `shift` are off, so
 * a conversation that is too long is an error (the loop compacts) and a long answer ends by `length`; Ollama's default silently drops the
 * beginning. Servers before 0.12.4 ignore both. The tool choice `required` has no counterpart and counts as `auto`.
 */
export function toOllamaWireRequest(
  request: ChatRequest,
  { model, contextSize, keepAlive }: OllamaConversionOptions,
): OllamaWireRequest {
  const warnings: LocalizedMessage[] = [];
  const notes: string[] = [];
  const name = request.model;
  const tools = request.toolChoice === 'none' ? [] : (request.tools ?? []);
  if (tools.length > 0 && model.tools === false) {
    warnings.push(message('{0} cannot call tools in Ollama, so it answers without them. Pick a model that can.', name));
  }
  const think = thinkFor(request, model);
  if (think !== undefined && model.thinking === false) {
    notes.push(thinkingBudgetWarning(name));
  }
  const files = attachmentsIn(request.messages);
  if (files.some((file) => !isTextAttachment(file) && !isImageAttachment(file))) {
    warnings.push(message('Ollama accepts texts and images only. The other files were left out.'));
  }
  if (files.some(isImageAttachment) && model.vision === false) {
    warnings.push(message('{0} does not accept images, so they are left out. Pick a model that does.', name));
  }
  if (request.toolChoice === 'required' && tools.length > 0) {
    notes.push(`Ollama cannot make ${name} call a tool; it may answer without one.`);
  }
  const given = {
    temperature: request.temperature,
    top_p: request.topP,
    num_predict: outputTokenLimit(
      request,
      think !== undefined && model.thinking !== false ? request.thinkingBudget : 0,
    ),
    stop: request.stopSequences?.length ? toWellFormedJson(request.stopSequences) : undefined,
    num_ctx: contextSize,
  };
  const options = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const body = {
    model: name,
    messages: toMessages(request, model),
    ...(tools.length > 0 &&
      model.tools !== false && {
        tools: tools.map(({ name, description, parameters }) => ({
          type: 'function',
          function: {
            name: toWireToolName(name),
            description: replaceLoneSurrogates(description),
            parameters: toWellFormedJson(parameters),
          },
        })),
      }),
    ...(think !== undefined && model.thinking !== false && { think }), // the value false is also rejected
    ...(request.responseFormat && { format: formatOf(request.responseFormat) }),
    ...(Object.keys(options).length > 0 && { options }),
    ...(keepAlive !== undefined && { keep_alive: keepAlive }),
    stream: true,
    truncate: false,
    shift: false,
  };
  return { body, warnings, notes };
}

function thinkFor(
  { thinkingBudget: budget, thinkingOff }: ChatRequest,
  { thinking, thinkingLevels }: OllamaModel,
): boolean | string | undefined {
  if (thinkingOff) return thinking === false || thinkingLevels ? undefined : false;
  if (!budget || budget < 0) return undefined;
  if (!thinkingLevels) return true;
  if (budget <= 2048) return 'low';
  return budget <= 8192 ? 'medium' : 'high';
}

const formatOf = (format: NonNullable<ChatRequest['responseFormat']>) =>
  format.type === 'json_object' ? 'json' : toWellFormedJson(format.schema);

function toMessages(request: ChatRequest, model: OllamaModel): OllamaWireMessage[] {
  const history = normalizeGrowingHistory(request);
  return convertHistory(history, model, history.system);
}

const convertHistory = createHistoryConverter<OllamaWireMessage[], OllamaModel>({
  begin: (system) => (system === '' ? [] : [{ role: 'system', content: replaceLoneSurrogates(system) }]),
  add(wire, entry, { vision }) {
    if (entry.role === 'assistant') pushTurn(wire, entry, vision !== false);
    else pushUser(wire, entry, vision !== false);
  },
  copyOf: (wire) => [...wire],
});

/** Merges user messages: the templates of Gemma and Mistral models reject two in a row. */
function pushUser(wire: OllamaWireMessage[], entry: Extract<Message, { role: 'user' }>, seesImages: boolean): void {
  const texts = (entry.attachments ?? []).filter(isTextAttachment).map(attachmentText);
  const content = [...texts, replaceLoneSurrogates(entry.content)].filter((text) => text !== '').join('\n\n');
  const images = seesImages ? imagesOf(entry.attachments) : [];
  const last = wire.at(-1);
  if (last?.role !== 'user') wire.push({ role: 'user', content, ...(images.length > 0 && { images }) });
  else {
    const joined = { ...last, content: `${last.content}\n\n${content}` };
    wire[wire.length - 1] = images.length > 0 ? { ...joined, images: [...(last.images ?? []), ...images] } : joined;
  }
}

function imagesOf(attachments: readonly Attachment[] = []): string[] {
  return attachments.filter(isImageAttachment).map(({ data }) => data);
}

/** Appends a message with its results, and the images after the last result: templates show images only in user messages. */
function pushTurn(
  wire: OllamaWireMessage[],
  entry: Extract<NormalizedMessage, { role: 'assistant' }>,
  seesImages: boolean,
): void {
  wire.push(...toTurn(entry, seesImages));
  for (const [index, { attachments = [] }] of entry.results.entries()) {
    if (!seesImages || !attachments.some(isImageAttachment)) continue;
    pushUser(
      wire,
      { role: 'user', content: toolImagesCaption(entry.message.toolCalls![index]!), attachments },
      seesImages,
    );
  }
}

function toTurn(
  { message, results }: Extract<NormalizedMessage, { role: 'assistant' }>,
  seesImages: boolean,
): OllamaWireMessage[] {
  const calls = message.toolCalls ?? [];
  const own = message.native?.provider === ollamaProviderId && message.thinking;
  return [
    {
      role: 'assistant',
      content: replaceLoneSurrogates(message.content),
      ...(own && { thinking: replaceLoneSurrogates(own) }),
      ...(calls.length > 0 && {
        tool_calls: calls.map((call) => ({
          function: { name: nameOnWire(call.name), arguments: toWellFormedJson(call.arguments) },
        })),
      }),
    },
    ...results.map(
      (result, index): OllamaWireMessage => ({
        role: 'tool',
        tool_name: nameOnWire(calls[index]!.name),
        content: replaceLoneSurrogates(seesImages ? result.content : withUnseenAttachmentNote(result)),
      }),
    ),
  ];
}

const nameOnWire = (name: string) => toWireToolName(name) || 'unknown';
