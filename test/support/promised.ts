import type { ModelInfo } from '../../src/llm/core/client.ts';
import type { Message as SaidMessage } from '../../src/protocol/content/messages.ts';

// What Towpath's model layer promises, written down once more by itself: what is here must go on to hold.

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'error';
export interface ToolCall {
  id: string;
  name: string;
  arguments: Record<string, unknown>;
}
export interface ToolResult {
  toolCallId: string;
  content: string;
  error?: string;
}
export interface Message {
  role: 'user' | 'assistant' | 'system' | 'tool';
  content: string;
  toolCalls?: ToolCall[];
  toolResults?: ToolResult[];
}
export type ParameterDefinition = {
  type: 'string' | 'number' | 'boolean' | 'array' | 'object';
  description?: string;
  enum?: string[];
  items?: ParameterDefinition;
  properties?: Record<string, ParameterDefinition>;
  default?: unknown;
};
export type ToolDefinition = {
  name: string;
  displayName?: string;
  description: string;
  parameters: { type: 'object'; properties: Record<string, ParameterDefinition>; required?: string[] };
};
export interface TokenUsage {
  promptTokens: number;
  completionTokens: number;
  totalTokens: number;
  cachedTokens?: number;
}
/** Messages are told apart by their role; the looser form above is what they can all be read as. */
export interface ChatRequest {
  model: string;
  messages: SaidMessage[];
  systemPrompt?: string;
  tools?: ToolDefinition[];
  temperature?: number;
  maxTokens?: number;
  topP?: number;
  stopSequences?: string[];
  thinkingBudget?: number;
}
export interface ChatResponse {
  content: string | null;
  toolCalls?: ToolCall[];
  thinking?: string;
  usage?: TokenUsage;
  model: string;
  finishReason: FinishReason;
}
export interface ChatStreamChunk {
  content?: string;
  thinking?: string;
  toolCallDelta?: Partial<Pick<ToolCall, 'id' | 'name'>>;
  done: boolean;
  finishReason?: FinishReason;
  usage?: TokenUsage;
}
export interface LLMClient {
  chat(request: ChatRequest): Promise<ChatResponse>;
  chatStream?(request: ChatRequest): AsyncGenerator<ChatStreamChunk, void, unknown>;
  listModels?(): Promise<ModelInfo[]>;
}
export interface LlmAdapterConfig {
  provider: 'openai' | 'openai-compatible' | 'azure' | 'ollama';
  baseUrl: string;
  model: string;
  apiKey: string;
  timeoutSeconds: number;
}
export type LlmAdapterErrorCode =
  | 'LLM_AUTH_FAILED'
  | 'LLM_TIMEOUT'
  | 'LLM_RATE_LIMITED'
  | 'LLM_HTTP_ERROR'
  | 'LLM_BAD_RESPONSE'
  | 'UNKNOWN';
export interface LlmAdapterResult {
  success: boolean;
  message?: { role: 'assistant'; content: string | null; tool_calls?: unknown[] };
  usage?: unknown;
  error?: { code: string; message: string; details?: unknown };
}
export interface LlmAdapter {
  chatCompletions(params: {
    messages: unknown[];
    tools?: unknown[];
    config: LlmAdapterConfig;
    signal?: AbortSignal;
  }): Promise<LlmAdapterResult>;
}
