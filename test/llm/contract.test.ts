import assert from 'node:assert/strict';
import type { ChatRequest, ChatResponse, ChatStreamChunk, FinishReason, LLMClient } from '../../src/llm/core/client.ts';
import { createLLMClient } from '../../src/llm/createClient.ts';
import type { Message, TokenUsage, ToolCall, ToolResult } from '../../src/protocol/content/messages.ts';
import type { ToolDefinition } from '../../src/protocol/content/tools.ts';
import type { LLMErrorCode } from '../../src/protocol/text/codes.ts';
import {
  type ChatCompletionsRequest,
  type ChatCompletionsResult,
  chatCompletions,
} from '../support/chatCompletions.ts';
import type * as promised from '../support/promised.ts';

type Extends<Sub extends Super, Super> = Sub;

/** Each line fails to compile when its two sides part. */
type Holds = [
  Extends<FinishReason, promised.FinishReason>,
  Extends<promised.FinishReason, FinishReason>,
  Extends<ToolCall, promised.ToolCall>,
  Extends<promised.ToolCall, ToolCall>,
  Extends<ToolResult, promised.ToolResult>,
  Extends<promised.ToolResult, ToolResult>,
  Extends<Message, promised.Message>,
  Extends<promised.ToolDefinition, ToolDefinition>,
  Extends<TokenUsage, promised.TokenUsage>,
  Extends<promised.TokenUsage, TokenUsage>,
  Extends<promised.ChatRequest, ChatRequest>,
  Extends<LLMClient, promised.LLMClient>,
  Extends<keyof promised.ChatRequest, keyof ChatRequest>,
  Extends<ChatResponse, promised.ChatResponse>,
  Extends<promised.ChatResponse, ChatResponse>,
  Extends<ChatStreamChunk, promised.ChatStreamChunk>,
  Extends<promised.LlmAdapterErrorCode, LLMErrorCode>,
  Extends<Parameters<promised.LlmAdapter['chatCompletions']>[0], ChatCompletionsRequest>,
  Extends<ChatCompletionsResult, promised.LlmAdapterResult>,
];

describe('the promised interface', () => {
  it('holds, or this does not compile', () => {
    const holds: Holds | undefined = undefined;
    assert.equal(holds, undefined);
  });

  it('is what a client is', () => {
    const client: promised.LLMClient = createLLMClient({ provider: 'ollama', model: 'm' });
    assert.deepEqual(
      [client.chat, client.chatStream, client.listModels].map((method) => typeof method),
      ['function', 'function', 'function'],
    );
  });

  it('is what the adapter is', () => {
    const adapter: promised.LlmAdapter = { chatCompletions };
    assert.equal(typeof adapter.chatCompletions, 'function');
  });
});
