import * as z from 'zod';
import { sentenceSchema } from '../text/localizedSchema.ts';
import { mentionedSchema } from './mention.ts';

/**
 * A failure as data: `code` is for code, `message` says what happened and the way out, in English; `said` is the same for people, where
 * that can be told in their language; `reason` (a `Reason` of codes.ts) says more than the code where another way out follows from it; `links`:
 * the commands and the setting that the message names, by their ids.
 */
export const errorInfoSchema = z.object({
  code: z.string(),
  message: z.string(),
  said: sentenceSchema.optional(),
  reason: z.string().optional(),
  links: z.object({ commands: z.array(z.string()).optional(), setting: z.string().optional() }).optional(),
  details: z.unknown().optional(),
});
export type ErrorInfo = z.infer<typeof errorInfoSchema>;

/**
 * What the model asked for. `arguments` is parsed once; what is not one JSON object is kept as text in `malformed`
 * (then `arguments` is empty) and answered `TOOL_ARGS_INVALID_JSON`, never run.
 */
const toolCallSchema = z.object({
  id: z.string(),
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  malformed: z.string().optional(),
  /** Its long arguments are cut: in what is sent, to fit the model's window, or everywhere, if no tool takes that much. */
  cut: z.literal(true).optional(),
});
export type ToolCall = z.infer<typeof toolCallSchema>;

/**
 * A file that goes with a message, for models that see such files (`image/png`); `data` is base64. `mention`: it is what the person
 * named in it, as it was when that was sent.
 */
export const attachmentSchema = z.object({
  mediaType: z.string(),
  data: z.string(),
  name: z.string().optional(),
  mention: mentionedSchema.optional(),
});
export type Attachment = z.infer<typeof attachmentSchema>;

/**
 * What the model is told: `content` is the outcome's `ok` and `data` (with its `hint`) or `error` as JSON, `error` the code of a failed
 * one; `attachments` are the pictures that go with the data.
 */
const toolResultSchema = z.object({
  toolCallId: z.string(),
  content: z.string(),
  error: z.string().optional(),
  attachments: z.array(attachmentSchema).optional(),
});
export type ToolResult = z.infer<typeof toolResultSchema>;

/** A provider's own form of an assistant message (signatures, raw calls), replayed to that provider and `model` only. */
const nativeSchema = z.object({ provider: z.string(), model: z.string().optional(), content: z.unknown() });
export type Native = z.infer<typeof nativeSchema>;

/** The message that a person's words, and what goes with them, become. */
export function userMessage(text: string, attachments: readonly Attachment[] = []): Extract<Message, { role: 'user' }> {
  return { role: 'user', content: text, ...(attachments.length > 0 && { attachments: [...attachments] }) };
}

export const messageSchema = z.discriminatedUnion('role', [
  z.object({ role: z.literal('system'), content: z.string() }),
  z.object({
    role: z.literal('user'),
    content: z.string(),
    attachments: z.array(attachmentSchema).optional(),
  }),
  z.object({
    role: z.literal('assistant'),
    content: z.string(),
    thinking: z.string().optional(),
    /** How long the model thought, when it did for a second or more. */
    thoughtMs: z.number().optional(),
    toolCalls: z.array(toolCallSchema).optional(),
    native: nativeSchema.optional(),
    /** The reply was cut off (stopped, or the stream broke): what was shown is kept, nothing of it was run. */
    incomplete: z.boolean().optional(),
    /** What did not go as asked (a tool list left out, a prompt cut by the server): sentences for the person. */
    warnings: z.array(z.string()).optional(),
    /** Of the warnings, what they are made of. */
    said: z.array(sentenceSchema).optional(),
  }),
  z.object({ role: z.literal('tool'), content: z.literal(''), toolResults: z.array(toolResultSchema) }),
]);
export type Message = z.infer<typeof messageSchema>;
export type AssistantMessage = Extract<Message, { role: 'assistant' }>;

/** Tokens of one model call. `promptTokens` includes `cachedTokens`; `completionTokens` includes `thinkingTokens`. */
export const tokenUsageSchema = z.object({
  promptTokens: z.number(),
  completionTokens: z.number(),
  totalTokens: z.number(),
  cachedTokens: z.number().optional(),
  /** Of the prompt: what was kept for the next request, where a provider charges for that. */
  cacheWriteTokens: z.number().optional(),
  thinkingTokens: z.number().optional(),
  /** US dollars, where the prices are known. */
  cost: z.number().optional(),
});
export type TokenUsage = z.infer<typeof tokenUsageSchema>;
