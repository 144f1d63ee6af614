import type {
  AssistantMessage,
  Message,
  ProviderMetadata,
  TokenUsage,
  ToolCall,
} from '../../protocol/content/messages.ts';
import type { JsonSchema, ToolDefinition } from '../../protocol/content/tools.ts';
import { type LocalizedMessage, message, toEnglishText } from '../../protocol/text/l10n.ts';
import type { LocalizableText } from '../../protocol/text/localized.ts';
import type { ThinkingEffort } from '../../protocol/values/thinkingEffort.ts';
import { maxToolCallsPerReply } from './callIds.ts';
import { LLMError } from './errors.ts';
import type { RateLimitReport } from './rateLimitHeaders.ts';

const maxTokens = 1e12;

const isCount = (count: number | undefined): count is number => count !== undefined && count >= 0 && count <= maxTokens;

/**
 * Returns the reported counts that can be stored and summed. A count that is negative, not finite or too large is dropped. Returns
 * undefined if the prompt, completion or total count is invalid.
 */
function usableUsage(usage: TokenUsage | undefined): TokenUsage | undefined {
  if (!usage || ![usage.promptTokens, usage.completionTokens, usage.totalTokens].every(isCount)) return undefined;
  if (Object.values(usage).every((count) => count === undefined || isCount(count))) return usage;
  const { promptTokens, completionTokens, totalTokens, cachedTokens, cacheWriteTokens, thinkingTokens, cost } = usage;
  return {
    promptTokens,
    completionTokens,
    totalTokens,
    ...(isCount(cachedTokens) && { cachedTokens }),
    ...(isCount(cacheWriteTokens) && { cacheWriteTokens }),
    ...(isCount(thinkingTokens) && { thinkingTokens }),
    ...(isCount(cost) && { cost }),
  };
}

export interface ChatRequest {
  model: string;
  messages: readonly Message[];
  systemPrompt?: string;
  tools?: readonly ToolDefinition[];
  temperature?: number;
  /** Maximum tokens of the answer, excluding thinking. */
  maxTokens?: number;
  topP?: number;
  stopSequences?: string[];
  /** Maximum thinking tokens; 0 or absent leaves the budget to the provider. Ignored by models without this setting. */
  thinkingBudget?: number;
  /** Switches thinking off where the provider can, and excludes a budget. */
  thinkingOff?: true;
  toolChoice?: 'auto' | 'none' | 'required';
  responseFormat?: { type: 'json_object' } | { type: 'json_schema'; name: string; schema: JsonSchema };
  /** Id of the run. The local client reuses the sequence of the run; providers route their prompt cache by this key. */
  cacheKey?: string;
  asker?: string;
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'error';

export interface ChatResponse {
  content: string | null;
  toolCalls?: ToolCall[];
  thinking?: string;
  native?: ProviderMetadata;
  usage?: TokenUsage;
  model: string;
  finishReason: FinishReason;
  warnings?: string[];
}

interface ToolCallDelta {
  index: number;
  id?: string;
  name?: string;
  argumentsText?: string;
}

/** One step of a reply. The last chunk has `done: true` and a `finishReason`; a stream without a last chunk is incomplete. */
export interface ChatStreamChunk {
  content?: string;
  thinking?: string;
  /** Marks the content received so far as thinking: only the end tag was written, not the start tag. */
  contentIsThinking?: true;
  toolCallDelta?: ToolCallDelta;
  toolCall?: ToolCall;
  progress?: { text: string; said?: LocalizedMessage; fraction?: number };
  /** User-facing message about a deviation (tools omitted, prompt truncated by the server); the reply continues. */
  warning?: LocalizableText;
  rateLimit?: RateLimitReport;
  done: boolean;
  finishReason?: FinishReason;
  /** The provider's message about an error or filter; redacted, on one line. */
  finishMessage?: string;
  native?: ProviderMetadata;
  usage?: TokenUsage;
  model?: string;
}

export interface ModelInfo {
  id: string;
  contextWindow?: number;
}

/** One model behind one provider. Throws only `LLMError`, or the signal's reason after a stop. */
export interface LLMClient {
  chat(request: ChatRequest, signal?: AbortSignal): Promise<ChatResponse>;
  chatStream(request: ChatRequest, signal?: AbortSignal): AsyncGenerator<ChatStreamChunk, void, unknown>;
  listModels?(signal?: AbortSignal): Promise<ModelInfo[]>;
  /** Asks the server for the efforts that a model supports. Absent: they are known by name. */
  thinkingEfforts?(model: string, signal?: AbortSignal): Promise<readonly ThinkingEffort[]>;
}

export class ReplyAccumulator {
  content = '';
  thinking = '';
  readonly toolCalls: ToolCall[] = [];
  readonly warnings: string[] = [];
  native?: ProviderMetadata;
  usage?: TokenUsage;
  finishReason?: FinishReason;
  finishMessage?: string;
  model?: string;

  /** Adds a chunk. Throws `LLMError` if the reply exceeds the maximum number of calls: a reply is delivered with all its calls or fails. */
  add(chunk: ChatStreamChunk): void {
    if (chunk.contentIsThinking) {
      this.thinking += this.content.trimEnd();
      this.content = '';
    }
    this.content += chunk.content ?? '';
    this.thinking += chunk.thinking ?? '';
    const begun = chunk.toolCallDelta?.index ?? -1;
    if (begun >= maxToolCallsPerReply || (chunk.toolCall && this.toolCalls.length >= maxToolCallsPerReply)) {
      throw new LLMError(
        'LLM_BAD_RESPONSE',
        message('The model made more than {0} calls in one answer.', maxToolCallsPerReply),
      );
    }
    if (chunk.toolCall) this.toolCalls.push(chunk.toolCall);
    if (chunk.warning) this.warnings.push(toEnglishText(chunk.warning));
    this.native = chunk.native ?? this.native;
    this.usage = usableUsage(chunk.usage) ?? this.usage;
    this.finishReason = chunk.finishReason ?? this.finishReason;
    this.finishMessage = chunk.finishMessage ?? this.finishMessage;
    this.model = chunk.model ?? this.model;
  }

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

export async function collectChatStream(stream: AsyncIterable<ChatStreamChunk>, model: string): Promise<ChatResponse> {
  const reply = new ReplyAccumulator();
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
