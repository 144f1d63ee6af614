import * as z from 'zod';
import { localizedMessageSchema } from '../text/localizedSchema.ts';
import { mentionRecordSchema } from './mention.ts';

/**
 * Failure as data. `code` is for code; `message` states cause and solution in English; `said` is the localizable form. `reason` (a `Reason`
 * of codes.ts) refines the code when the solution differs. `links`: ids of the commands and of the setting named in the message.
 */
export const errorInfoSchema = z.object({
  code: z.string(),
  message: z.string(),
  said: localizedMessageSchema.optional(),
  reason: z.string().optional(),
  links: z.object({ commands: z.array(z.string()).optional(), setting: z.string().optional() }).optional(),
  details: z.unknown().optional(),
});
export type ErrorInfo = z.infer<typeof errorInfoSchema>;

/**
 * Call requested by the model. `arguments` is parsed once. Text other than one JSON object is stored in `malformed` (then `arguments` is
 * empty), answered with `TOOL_ARGS_INVALID_JSON`, and never run. `cut`: long arguments are truncated, in a request to fit the context
 * window, or everywhere if they exceed the limits of every tool.
 */
const toolCallSchema = z.object({
  id: z.string(),
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  malformed: z.string().optional(),
  cut: z.literal(true).optional(),
});
export type ToolCall = z.infer<typeof toolCallSchema>;

/**
 * File attached to a message, for models that accept the media type (`image/png`); `data` is base64. `mention`: the file comes from a
 * mention, read when the message was sent.
 */
export const attachmentSchema = z.object({
  mediaType: z.string(),
  data: z.string(),
  name: z.string().optional(),
  mention: mentionRecordSchema.optional(),
});
export type Attachment = z.infer<typeof attachmentSchema>;

/**
 * Text sent to the model for a call. `content` is the outcome's `ok` and `data` (with its `hint`) or `error` as JSON; `error` is the code
 * of a failure; `attachments` are the images of the data.
 */
const toolResultSchema = z.object({
  toolCallId: z.string(),
  content: z.string(),
  error: z.string().optional(),
  attachments: z.array(attachmentSchema).optional(),
});
export type ToolResult = z.infer<typeof toolResultSchema>;

// Provider's own form of an assistant message (signatures, raw calls), replayed only to the same provider and `model`.
const nativeSchema = z.object({ provider: z.string(), model: z.string().optional(), content: z.unknown() });
export type ProviderMetadata = z.infer<typeof nativeSchema>;

export function userMessage(text: string, attachments: readonly Attachment[] = []): Extract<Message, { role: 'user' }> {
  return { role: 'user', content: text, ...(attachments.length > 0 && { attachments: [...attachments] }) };
}

// Line of the panel for a system message. `whole`: the line contains everything for the user, and the text is not offered.
const systemNoteSchema = z.object({ line: localizedMessageSchema, whole: z.literal(true).optional() });
export type SystemNote = z.infer<typeof systemNoteSchema>;

/** `note` of a system message is absent in records of earlier versions. */
export const messageSchema = z.discriminatedUnion('role', [
  z.object({ role: z.literal('system'), content: z.string(), note: systemNoteSchema.optional() }),
  z.object({
    role: z.literal('user'),
    content: z.string(),
    attachments: z.array(attachmentSchema).optional(),
  }),
  z.object({
    role: z.literal('assistant'),
    content: z.string(),
    thinking: z.string().optional(),
    thoughtMs: z.number().optional(),
    toolCalls: z.array(toolCallSchema).optional(),
    native: nativeSchema.optional(),
    incomplete: z.boolean().optional(),
    /** Non-fatal problems of the request, as sentences for the user (tools omitted, prompt truncated by the server). */
    warnings: z.array(z.string()).optional(),
    said: z.array(localizedMessageSchema).optional(),
  }),
  z.object({ role: z.literal('tool'), content: z.literal(''), toolResults: z.array(toolResultSchema) }),
]);
export type Message = z.infer<typeof messageSchema>;
export type AssistantMessage = Extract<Message, { role: 'assistant' }>;

/**
 * Tokens of one model call. `promptTokens` includes `cachedTokens`; `completionTokens` includes `thinkingTokens`. `cacheWriteTokens`:
 * prompt tokens written to the cache, if the provider charges for cache writes. `cost`: US dollars, absent if prices are unknown.
 */
export const tokenUsageSchema = z.object({
  promptTokens: z.number(),
  completionTokens: z.number(),
  totalTokens: z.number(),
  cachedTokens: z.number().optional(),
  cacheWriteTokens: z.number().optional(),
  thinkingTokens: z.number().optional(),
  cost: z.number().optional(),
});
export type TokenUsage = z.infer<typeof tokenUsageSchema>;
