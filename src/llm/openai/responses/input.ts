import type { AssistantMessage, Attachment } from '../../../protocol/content/messages.ts';
import type { ChatRequest } from '../../core/client.ts';
import { extendSet, type GrowingSet } from '../../core/growingLists.ts';
import type { JsonObject } from '../../core/json.ts';
import { toWireToolName } from '../../core/wireToolNames.ts';
import {
  attachmentText,
  isImageAttachment,
  isTextAttachment,
  toolImagesCaption,
  withUnseenAttachmentNote,
} from '../../messages/attachments.ts';
import { createHistoryConverter } from '../../messages/convertedHistory.ts';
import { responseFormatInstructions } from '../../messages/formatInstructions.ts';
import {
  type NormalizedHistory,
  type NormalizedMessage,
  replaceLoneSurrogates,
  toWellFormedJson,
} from '../../messages/normalizeHistory.ts';
import { createWireToolCallIds, type WireToolCallIds } from '../toolIds.ts';
import type { OpenAIResponsesRestrictions } from './flags.ts';
import { matchingResponsesNativeItems, reasoningItemKey } from './providerMetadata.ts';

type InputPart =
  | { type: 'input_text'; text: string }
  | { type: 'input_image'; detail: 'auto'; image_url: string }
  | { type: 'input_file'; filename: string; file_data: string };

type UserItem = { type: 'message'; role: 'user'; content: InputPart[] };

type InputItem =
  | UserItem
  | { type: 'message'; role: 'assistant'; phase?: string; content: { type: 'output_text'; text: string }[] }
  | { type: 'function_call'; call_id: string; name: string; arguments: string }
  | { type: 'function_call_output'; call_id: string; output: string }
  | { type: 'reasoning'; [field: string]: unknown };

/**
 * Converts the conversation to items in the form of OpenAI's own command line tool, which every server of this protocol supports. Only
 * reasoning items have an id, because nothing is stored at the server.
 */
export function toOpenAIResponsesInput(
  history: NormalizedHistory,
  request: ChatRequest,
  flags: OpenAIResponsesRestrictions,
): InputItem[] {
  const { items } = convertHistory(history, flags);
  // "Response input messages must contain the word 'json'": instructions do not count.
  const isAsked = flags.schemaInPrompt || request.responseFormat?.type === 'json_object';
  if (isAsked) addUser(items, toContent(responseFormatInstructions(request), [], flags));
  return items;
}

interface ConvertedHistory {
  items: InputItem[];
  ids: WireToolCallIds;
  taken: GrowingSet;
}

const convertHistory = createHistoryConverter<ConvertedHistory, OpenAIResponsesRestrictions>({
  begin: () => ({ items: [], ids: createWireToolCallIds('forty'), taken: new Set() }),
  add({ items, ids, taken }, entry, flags) {
    if (entry.role === 'user') return addUser(items, toContent(entry.content, entry.attachments, flags));
    const callIds = ids.next((entry.message.toolCalls ?? []).map(({ id }) => ({ id: uniqueId(id, taken) })));
    items.push(...toReply(entry.message, callIds, flags));
    for (const [index, result] of entry.results.entries()) {
      const content = flags.withoutImages ? withUnseenAttachmentNote(result) : result.content;
      items.push({ type: 'function_call_output', call_id: callIds[index]!, output: replaceLoneSurrogates(content) });
    }
    if (!flags.withoutImages) addUser(items, resultImages(entry, flags));
  },
  copyOf: ({ items, ids, taken }) => ({ items: [...items], ids: ids.extend(), taken: extendSet(taken) }),
});

/** Returns a unique id: an output refers to its call only by id, and other servers count from `call_0` in every reply. */
function uniqueId(id: string, taken: GrowingSet): string {
  let one = id;
  for (let count = 2; taken.has(one); count++) one = `${id}_${count}`;
  taken.add(one);
  return one;
}

/** Appends user content; templates of local models reject two user messages in a row. */
function addUser(items: InputItem[], content: InputPart[]): void {
  const last = items.at(-1);
  if (content.length === 0) return;
  if (last?.type === 'message' && last.role === 'user')
    items[items.length - 1] = { type: 'message', role: 'user', content: [...last.content, ...content] };
  else items.push({ type: 'message', role: 'user', content });
}

const toText = (text: string): InputPart => ({ type: 'input_text', text: replaceLoneSurrogates(text) });

function toContent(
  text: string,
  attachments: readonly Attachment[] = [],
  flags: OpenAIResponsesRestrictions,
): InputPart[] {
  const files = attachments.map((one) => toPart(one, flags));
  return text === '' && files.length > 0 ? files : [...files, ...(text === '' ? [] : [toText(text)])];
}

function toPart(file: Attachment, flags: OpenAIResponsesRestrictions): InputPart {
  if (isTextAttachment(file)) return { type: 'input_text', text: attachmentText(file) };
  const { mediaType, data, name } = file;
  const title = replaceLoneSurrogates(name ?? mediaType);
  if (flags.withoutImages) return toText(`(${title}: left out, this model sees no images)`);
  const url = `data:${mediaType};base64,${data}`;
  return isImageAttachment(file)
    ? { type: 'input_image', detail: 'auto', image_url: url }
    : { type: 'input_file', filename: title, file_data: url };
}

/**
 * Returns the images of a turn's results as user content after the last result: LM Studio and llama-server reject images inside a result.
 */
function resultImages(
  { message, results }: Extract<NormalizedMessage, { role: 'assistant' }>,
  flags: OpenAIResponsesRestrictions,
): InputPart[] {
  return results.flatMap(({ attachments = [] }, index): InputPart[] => {
    if (attachments.length === 0) return [];
    return [toText(toolImagesCaption(message.toolCalls![index]!)), ...attachments.map((one) => toPart(one, flags))];
  });
}

/**
 * Returns the items of a reply in their order, with each reasoning before its successor (else "provided without its required following
 * item"). For another provider or rejected reasoning, returns only text and calls.
 */
function toReply(message: AssistantMessage, ids: readonly string[], flags: OpenAIResponsesRestrictions): InputItem[] {
  const calls = (message.toolCalls ?? []).map(({ name, arguments: args }, index): InputItem => {
    const text = JSON.stringify(toWellFormedJson(args)); // none for a malformed call: the result explains the error
    return { type: 'function_call', call_id: ids[index]!, name: toWireToolName(name) || 'unknown', arguments: text };
  });
  const native = matchingResponsesNativeItems(message, flags.provider);
  if (!native) return [...toAssistantItem(message.content), ...calls];
  let at = 0;
  let called = 0;
  const items = native.flatMap((item): InputItem[] => {
    if (item.type === 'function_call') return [calls[called++]!];
    if (item.type === 'reasoning')
      return flags.refused?.has(reasoningItemKey(item.item))
        ? []
        : [toWellFormedJson(item.item) as InputItem & JsonObject];
    const text = message.content.slice(at, at + item.length);
    const items = toAssistantItem(at > 0 ? text.replace(/^\n\n/, '') : text, item.phase);
    at += item.length;
    return items;
  });
  while (items.at(-1)?.type === 'reasoning') items.pop();
  return items;
}

function toAssistantItem(text: string, phase?: string): InputItem[] {
  if (text === '') return [];
  const content = [{ type: 'output_text' as const, text: replaceLoneSurrogates(text) }];
  return [{ type: 'message', role: 'assistant', ...(phase && { phase }), content }];
}
