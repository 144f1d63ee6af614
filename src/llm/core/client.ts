import type { AssistantMessage, Message, Native, TokenUsage, ToolCall } from '../../protocol/content/messages.ts';
import type { JsonSchema, ToolDefinition } from '../../protocol/content/tools.ts';
import { inEnglish, type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import type { LocalizableText } from '../../protocol/text/localized.ts';
import { maxCalls } from './callIds.ts';
import { LLMError } from './errors.ts';
import type { RateLimitNews } from './rateHeaders.ts';
import { usableUsage } from './usableUsage.ts';

export interface ChatRequest {
  model: string;
  /** Everything said, in order; the system prompt is apart. */
  messages: readonly Message[];
  systemPrompt?: string;
  tools?: readonly ToolDefinition[];
  temperature?: number;
  /** Tokens of the answer alone; thinking comes on top. */
  maxTokens?: number;
  topP?: number;
  stopSequences?: string[];
  /** Tokens the model may think with; 0 or absent: as the provider has it. Ignored where there is no such setting. */
  thinkingBudget?: number;
  /** Whether the model may (`auto`, without this), must or must not call a tool. */
  toolChoice?: 'auto' | 'none' | 'required';
  /** The answer as JSON, of a schema where the provider can keep to one. */
  responseFormat?: { type: 'json_object' } | { type: 'json_schema'; name: string; schema: JsonSchema };
  /** The run: lets the local client keep its sequence and providers route their prompt cache. */
  cacheKey?: string;
  /** Who asks, where it is no run of Towpath: told to whoever waits behind it. */
  asker?: string;
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'error';

export interface ChatResponse {
  content: string | null;
  toolCalls?: ToolCall[];
  thinking?: string;
  native?: Native;
  usage?: TokenUsage;
  model: string;
  finishReason: FinishReason;
  /** What did not go as asked, in sentences for the person. */
  warnings?: string[];
}

interface ToolCallDelta {
  /** Which call of this reply, counted from 0. */
  index: number;
  id?: string;
  name?: string;
  /** A fragment of the arguments' JSON text. */
  argumentsText?: string;
}

/** One step of a reply. The last chunk has `done: true` and a `finishReason`; a stream without it is not whole. */
export interface ChatStreamChunk {
  content?: string;
  thinking?: string;
  /** The content so far was thinking: its end was marked, and its beginning was not. */
  contentIsThinking?: true;
  toolCallDelta?: ToolCallDelta;
  /** A call that is complete; its index is its place among the reply's calls. */
  toolCall?: ToolCall;
  /** Before the first token: a model being loaded, a prompt being read. */
  progress?: { text: string; said?: LocalizedMessage; fraction?: number };
  /** The reply goes on, but not as asked (a tool list left out, a prompt cut by the server): a sentence for the person. */
  warning?: LocalizableText;
  /** With the first chunk: what the provider says is left of its limits. */
  rateLimit?: RateLimitNews;
  done: boolean;
  finishReason?: FinishReason;
  /** The provider's own words about an end that is an error or a filter's; redacted, on one line. */
  finishMessage?: string;
  native?: Native;
  usage?: TokenUsage;
  model?: string;
}

export interface ModelInfo {
  id: string;
  contextWindow?: number;
}

/** One model behind one provider. Throws `LLMError`, or the signal's reason when stopped; nothing else. */
export interface LLMClient {
  chat(request: ChatRequest, signal?: AbortSignal): Promise<ChatResponse>;
  chatStream(request: ChatRequest, signal?: AbortSignal): AsyncGenerator<ChatStreamChunk, void, unknown>;
  listModels?(signal?: AbortSignal): Promise<ModelInfo[]>;
}

/** A reply being put together from its chunks. */
export class Reply {
  content = '';
  thinking = '';
  readonly toolCalls: ToolCall[] = [];
  readonly warnings: string[] = [];
  native?: Native;
  usage?: TokenUsage;
  finishReason?: FinishReason;
  finishMessage?: string;
  model?: string;

  /** Throws `LLMError` at a call that there is no room for: a reply is told with all of its calls, or broke off. */
  add(chunk: ChatStreamChunk): void {
    if (chunk.contentIsThinking) {
      this.thinking += this.content.trimEnd();
      this.content = '';
    }
    this.content += chunk.content ?? '';
    this.thinking += chunk.thinking ?? '';
    const begun = chunk.toolCallDelta?.index ?? -1;
    if (begun >= maxCalls || (chunk.toolCall && this.toolCalls.length >= maxCalls)) {
      throw new LLMError('LLM_BAD_RESPONSE', message('The model made more than {0} calls in one answer.', maxCalls));
    }
    if (chunk.toolCall) this.toolCalls.push(chunk.toolCall);
    if (chunk.warning) this.warnings.push(inEnglish(chunk.warning));
    this.native = chunk.native ?? this.native;
    this.usage = usableUsage(chunk.usage) ?? this.usage;
    this.finishReason = chunk.finishReason ?? this.finishReason;
    this.finishMessage = chunk.finishMessage ?? this.finishMessage;
    this.model = chunk.model ?? this.model;
  }

  /** There is something of it. */
  get begun(): boolean {
    return this.content !== '' || this.thinking !== '' || this.toolCalls.length > 0;
  }

  toMessage(): AssistantMessage {
    return {
      role: 'assistant',
      content: this.content,
      ...(this.thinking && { thinking: this.thinking }),
      ...(this.toolCalls.length > 0 && { toolCalls: [...this.toolCalls] }),
      ...(this.native && { native: this.native }),
    };
  }
}

/** `chat` for a client that streams: the same reply, whole. */
export async function collect(stream: AsyncIterable<ChatStreamChunk>, model: string): Promise<ChatResponse> {
  const reply = new Reply();
  for await (const chunk of stream) reply.add(chunk);
  const warnings = [...reply.warnings, ...(reply.finishMessage ? [reply.finishMessage] : [])];
  return {
    content: reply.content || null,
    ...(reply.toolCalls.length > 0 && { toolCalls: reply.toolCalls }),
    ...(reply.thinking && { thinking: reply.thinking }),
    ...(reply.native && { native: reply.native }),
    ...(reply.usage && { usage: reply.usage }),
    model: reply.model ?? model,
    finishReason: reply.finishReason ?? 'error',
    ...(warnings.length > 0 && { warnings }),
  };
}
