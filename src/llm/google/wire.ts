import type { AssistantMessage, Attachment, ToolCall, ToolResult } from '../../protocol/content/messages.ts';
import type { ChatRequest } from '../core/client.ts';
import { isObject, type JsonObject, parseJson } from '../core/json.ts';
import { toWireToolName } from '../core/wireToolNames.ts';
import {
  attachmentText,
  isTextAttachment,
  toolImagesCaption,
  withUnseenAttachmentNote,
} from '../messages/attachments.ts';
import { createHistoryConverter } from '../messages/convertedHistory.ts';
import {
  type NormalizedMessage,
  normalizeGrowingHistory,
  omittedBeginningText,
  toWellFormedJson,
} from '../messages/normalizeHistory.ts';
import { outputTokenLimit } from '../messages/outputLimit.ts';
import { escapeSystemTags } from '../messages/systemTags.ts';
import { toGoogleSchema } from './schema.ts';
import { type ThinkingFlags, thinkingConfigOf } from './thinking.ts';

/** Properties of the models of one address. All are false at first; the client learns the rest from 400 answers. */
export interface GoogleRequestRestrictions extends ThinkingFlags {
  /** Gemma models support no system instruction: the conversation starts with the instruction instead. */
  systemAsUser?: boolean;
  /**
   * Gemini 3 answers 400 to a call without its original signature. Calls of other providers have none, and a signature is never invented:
   * unsigned calls are sent as text.
   */
  unsignedCallsAsText?: boolean;
  /** Models before Gemini 3 answer 400 to images inside a result (`functionResponse.parts`): images follow the results. */
  imagesApart?: boolean;
}

export const googleProviderId = 'google';

export type GooglePart = JsonObject;

export interface GoogleWireContent {
  role: 'user' | 'model';
  parts: GooglePart[];
}

export interface GoogleNativeParts {
  parts: GooglePart[];
}

export function toGoogleFunctionName(name: string): string {
  const wireName = toWireToolName(name);
  return /^[A-Za-z_]/.test(wireName) ? wireName : toWireToolName(`_${name}`);
}

/** Builds the body of `POST …:streamGenerateContent`. The URL contains the model, a header the key. */
export function toGoogleWire(request: ChatRequest, flags: GoogleRequestRestrictions = {}): Record<string, unknown> {
  const history = normalizeGrowingHistory(request);
  const { system } = history;
  const asUser = flags.systemAsUser && system !== '';
  return {
    ...(system !== '' && !asUser && { systemInstruction: toWellFormedJson({ parts: [{ text: system }] }) }),
    contents: convertHistory(history, flags, asUser ? system : ''),
    ...toWellFormedJson({ ...toolsOf(request), ...generationConfigOf(request, flags) }),
  };
}

const convertHistory = createHistoryConverter<GoogleWireContent[], GoogleRequestRestrictions>({
  begin: (system) => (system === '' ? [] : [{ role: 'user', parts: toWellFormedJson([{ text: system }]) }]),
  add(contents, entry, flags) {
    if (entry.role === 'assistant' && contents.length === 0)
      addParts(contents, 'user', [{ text: omittedBeginningText }]);
    if (entry.role === 'assistant') addTurn(contents, entry.message, entry.results, flags);
    else addParts(contents, 'user', userParts(entry));
  },
  copyOf: (contents) => [...contents],
});

function userParts({ content, attachments = [] }: Extract<NormalizedMessage, { role: 'user' }>): GooglePart[] {
  return [...attachments.map(toPart), ...(content === '' ? [] : [{ text: content }])]; // empty text is rejected
}

/**
 * Adds the model's content with its calls, then all results as one user content in the same order. Google answers 400 if the counts differ
 * (images beside the results count, too), and pairs calls without ids by position.
 */
function addTurn(
  contents: GoogleWireContent[],
  message: AssistantMessage,
  results: ToolResult[],
  flags: GoogleRequestRestrictions,
): void {
  const calls = message.toolCalls ?? [];
  const own = ownParts(message);
  const parts = own ?? [...textParts(message), ...calls.map(toCallPart)];
  const images = calls.flatMap((call, at) => imageParts(call, results[at]!));
  const callParts = parts.filter(({ functionCall }) => isObject(functionCall));
  if (flags.unsignedCallsAsText && calls.length > 0 && !callParts.some(({ thoughtSignature }) => thoughtSignature)) {
    addParts(contents, 'model', textParts(message));
    addParts(contents, 'user', [
      { text: escapeSystemTags(calls.map((call, at) => callAsText(call, results[at]!)).join('\n\n')) },
    ]);
    addParts(contents, 'user', images);
    return;
  }
  addParts(contents, 'model', parts);
  if (calls.length === 0) return;
  const responses = results.map((result, at) => toResponsePart(callParts[at]!, result, flags));
  contents.push({ role: 'user', parts: toWellFormedJson(responses) });
  if (flags.imagesApart) addParts(contents, 'user', images);
}

const isSeen = ({ mediaType }: Attachment) => /^image\/(png|jpeg|webp)$/.test(mediaType);
const toPart = (file: Attachment): GooglePart =>
  isTextAttachment(file) ? { text: attachmentText(file) } : toInline(file);
const toInline = ({ mediaType, data }: Attachment): GooglePart => ({ inlineData: { mimeType: mediaType, data } });

function imageParts(call: ToolCall, { attachments = [] }: ToolResult): GooglePart[] {
  const images = attachments.filter(isSeen).map(toInline);
  return images.length > 0 ? [{ text: toolImagesCaption(call) }, ...images] : [];
}

/** Returns Google's own parts if the message comes from Google and is unchanged. */
function ownParts({ native, toolCalls = [] }: AssistantMessage): GooglePart[] | undefined {
  if (native?.provider !== googleProviderId || !isObject(native.content)) return undefined;
  const { parts } = native.content;
  if (!Array.isArray(parts) || parts.length === 0 || !parts.every(isObject)) return undefined;
  const names = parts
    .map(({ functionCall }) => functionCall)
    .filter(isObject)
    .map(({ name }) => name);
  const same =
    names.length === toolCalls.length &&
    toolCalls.every(({ name }, at) => toGoogleFunctionName(String(names[at])) === toGoogleFunctionName(name));
  return same ? withCutArguments(parts, toolCalls) : undefined;
}

function withCutArguments(parts: GooglePart[], calls: readonly ToolCall[]): GooglePart[] {
  if (!calls.some(({ cut }) => cut)) return parts;
  let at = 0;
  return parts.map((part) => {
    if (!isObject(part.functionCall)) return part;
    const call = calls[at++]!;
    return call.cut ? { ...part, functionCall: { ...part.functionCall, args: call.arguments } } : part;
  });
}

const textParts = ({ content }: AssistantMessage): GooglePart[] => (content === '' ? [] : [{ text: content }]);

/** Omits our ids: Vertex rejects the field, and Google knows only its own ids. A malformed call has no arguments. */
function toCallPart({ name, arguments: args }: ToolCall): GooglePart {
  return { functionCall: { name: toGoogleFunctionName(name), args } };
}

function toResponsePart(
  { functionCall }: GooglePart,
  result: ToolResult,
  { imagesApart }: GoogleRequestRestrictions,
): GooglePart {
  const { name, id } = functionCall as JsonObject;
  const images = imagesApart ? [] : (result.attachments ?? []).filter(isSeen).map(toInline);
  const response = toResponse(result);
  return {
    functionResponse: {
      ...(typeof id === 'string' && { id }),
      name,
      response,
      ...(images.length > 0 && { parts: images }),
    },
  };
}

function toResponse(result: ToolResult): JsonObject {
  const content = contentFor(result);
  try {
    const outcome = parseJson(content);
    if (isObject(outcome)) return outcome;
  } catch {
    // not JSON: sent as text
  }
  return { output: content };
}

/** Returns a call as text. The text belongs to the user role, so that the model does not learn to write calls as text. */
function callAsText({ name, arguments: args }: ToolCall, result: ToolResult): string {
  return `The tool ${toGoogleFunctionName(name)} was called with ${JSON.stringify(args)} and gave:\n${contentFor(result)}`;
}

const contentFor = ({ attachments = [], ...result }: ToolResult): string =>
  withUnseenAttachmentNote({ ...result, attachments: attachments.filter((one) => !isSeen(one)) });

function addParts(contents: GoogleWireContent[], role: GoogleWireContent['role'], given: GooglePart[]): void {
  if (given.length === 0) return;
  const parts = toWellFormedJson(given);
  const last = contents.at(-1);
  const joins = last?.role === role && !last.parts.some(({ functionResponse }) => functionResponse);
  if (joins) contents[contents.length - 1] = { role, parts: [...last.parts, ...parts] };
  else contents.push({ role, parts });
}

const modes = { auto: 'AUTO', none: 'NONE', required: 'ANY' } as const;

function toolsOf({ tools = [], toolChoice = 'auto' }: ChatRequest): object {
  if (tools.length === 0) return {};
  const functionDeclarations = tools.map(({ name, description, parameters }) => {
    const schema = toGoogleSchema(parameters);
    // An object without properties was rejected by older versions; a function without parameters omits the schema.
    return { name: toGoogleFunctionName(name), description, ...(schema.properties && { parameters: schema }) };
  });
  const toolConfig = { functionCallingConfig: { mode: modes[toolChoice] } };
  return { tools: [{ functionDeclarations }], ...(toolChoice !== 'auto' && { toolConfig }) };
}

function generationConfigOf(request: ChatRequest, flags: GoogleRequestRestrictions): object {
  const thinking = thinkingConfigOf(request, flags);
  const config = {
    temperature: request.temperature,
    topP: request.topP,
    maxOutputTokens: outputTokenLimit(
      request,
      thinking?.thinkingBudget ?? (thinking?.thinkingLevel ? request.thinkingBudget : 0),
    ),
    stopSequences: request.stopSequences?.length ? request.stopSequences : undefined,
    thinkingConfig: thinking,
    ...formatOf(request),
  };
  const given = Object.entries(config).filter(([, value]) => value !== undefined);
  return given.length > 0 ? { generationConfig: Object.fromEntries(given) } : {};
}

/** Returns the response format; none beside tools: "Function calling with a response mime type is unsupported". */
function formatOf({ responseFormat, tools = [] }: ChatRequest): object {
  if (!responseFormat || tools.length > 0) return {};
  const json = { responseMimeType: 'application/json' };
  return responseFormat.type === 'json_object'
    ? json
    : { ...json, responseSchema: toGoogleSchema(responseFormat.schema) };
}

const lessons: [about: RegExp, flag: keyof GoogleRequestRestrictions][] = [
  [/thinking[ _]?(budget|level)[^.]{0,60}(invalid|not supported|not allowed)|budget \d+ is invalid/i, 'omitBudget'],
  [/missing[^.]{0,20}thought[_ ]?signature/i, 'unsignedCallsAsText'],
  [
    /thinking.{0,80}(not (enabled|supported)|only enabled when)|(not support|unknown name).{0,20}thinking/i,
    'omitThinking',
  ],
  [/function_?response\.parts.{0,20}not supported|multimodal function response/i, 'imagesApart'],
  [/(developer|system)[ _]?instruction.{0,40}not (enabled|supported)/i, 'systemAsUser'],
];

export function learnGoogleRequestRestriction(
  rejection: string,
  flags: GoogleRequestRestrictions,
): GoogleRequestRestrictions | undefined {
  const lesson = lessons.find(([about]) => about.test(rejection))?.[1];
  return lesson && !flags[lesson] ? { ...flags, [lesson]: true } : undefined;
}
