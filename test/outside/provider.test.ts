import assert from 'node:assert/strict';
import { createAnthropicReader } from '../../src/llm/anthropic/reader.ts';
import { type ChatStreamChunk, ReplyAccumulator } from '../../src/llm/core/client.ts';
import { LLMError } from '../../src/llm/core/errors.ts';
import { createGoogleReader } from '../../src/llm/google/reader.ts';
import { learnOutputTokenLimit } from '../../src/llm/messages/outputLimit.ts';
import { createOllamaReader } from '../../src/llm/ollama/reader.ts';
import { createOpenAIReader } from '../../src/llm/openai/reader.ts';
import { createOpenAIResponsesReader } from '../../src/llm/openai/responses/reader.ts';
import { readTextToolCalls } from '../../src/llm/textCalls/textCalls.ts';
import {
  type Endpoint,
  httpStatusToError,
  isPossibleContextOverflow,
  type ProviderErrorDetails,
  streamErrorToError,
} from '../../src/llm/transport/providerErrors.ts';
import type { ToolCall } from '../../src/protocol/content/messages.ts';
import type { JsonSchema, ToolDefinition } from '../../src/protocol/content/tools.ts';
import { casesOf } from './cases.ts';

const endpoint: Endpoint = { label: 'X', host: 'x.example', secrets: [], hasKey: true };

const tool = (name: string, properties: JsonSchema['properties'], required: string[]): ToolDefinition => ({
  name,
  description: '',
  parameters: { type: 'object', properties, required },
});
const path = { type: 'string' };
const tools = [
  tool('fs.read', { path, offset: { type: 'integer' } }, ['path']),
  tool('fs.write', { path, content: { type: 'string' } }, ['path', 'content']),
  tool('fs.delete', { path }, ['path']),
  tool('plan.update', { steps: { type: 'array' } }, []),
];

/** A call as cases have it: its name, and its arguments or the word `malformed`. */
const shortly = ({ name, malformed, arguments: given }: ToolCall) => [
  name,
  malformed === undefined ? given : 'malformed',
];

interface RescueCase {
  text: string;
  /** Characters of each piece in which the text comes. */
  size?: number;
  want: { calls?: unknown; content?: string; thinking?: string };
}

interface OverflowCase {
  /** Absent: the body comes inside of a stream. */
  status?: number;
  body: unknown;
  /** A code; behind `!` one that it must not be; `not full`: nothing suggests that the conversation is too long. */
  want: string;
}

interface OutputLimitCase {
  body: unknown;
  /** Tokens of the answer that were asked for. */
  asked: number;
  /** Tokens to ask for instead; null: the refusal does not say. */
  want: number | null;
}

interface ReaderCase {
  /** OpenAI's without it. */
  wire?: keyof typeof readers;
  events: unknown[];
  /** The event is a whole answer. */
  whole?: boolean;
  want: {
    calls?: unknown;
    text?: string;
    thinking?: string;
    finish?: string;
    /** The provider's own word about the end. */
    message?: string;
    error?: string | null;
    /** A pattern that the error's sentence matches. */
    says?: string;
  };
}

const readers = {
  openai: () => createOpenAIReader({ endpoint, provider: 'openai-compatible', tools, keepDetails: true }),
  responses: () => createOpenAIResponsesReader({ endpoint, provider: 'openai', tools }),
  anthropic: () => createAnthropicReader({ endpoint, tools }),
  google: () => createGoogleReader({ endpoint, tools }),
  ollama: () => createOllamaReader({ endpoint, tools }),
};

/** Holds the fields that a case wants to what came. */
function checkFields(came: object, want: object): void {
  const fields = Object.entries(came).filter(([name]) => Object.hasOwn(want, name));
  assert.deepEqual(Object.fromEntries(fields), want, JSON.stringify(came));
}

describe('replies and refusals as providers send them', () => {
  for (const { title, input } of casesOf<RescueCase>('rescue')) {
    it(title, async () => {
      const { text, size = 7, want } = input;
      async function* stream(): AsyncGenerator<ChatStreamChunk> {
        for (let at = 0; at < text.length; at += size) yield { content: text.slice(at, at + size), done: false };
        yield { done: true, finishReason: 'stop', model: 'm' };
      }
      const reply = new ReplyAccumulator();
      for await (const chunk of readTextToolCalls(stream(), tools)) reply.add(chunk);
      const calls = reply.toolCalls.map(shortly);
      checkFields({ calls, content: reply.content.trim(), thinking: reply.thinking.trim() }, want);
    });
  }

  for (const { title, input } of casesOf<OverflowCase>('overflow')) {
    it(title, () => {
      const { status, body, want } = input;
      const error =
        status === undefined ? streamErrorToError(endpoint, body) : httpStatusToError(endpoint, status, body);
      const { code } = error;
      if (want === 'not full') {
        assert.notEqual(code, 'LLM_CONTEXT_OVERFLOW');
        assert.ok(!isPossibleContextOverflow(error, 1));
      } else if (want.startsWith('!')) assert.notEqual(code, want.slice(1));
      else assert.equal(code, want);
    });
  }

  for (const { title, input } of casesOf<OutputLimitCase>('output-limit')) {
    it(title, () => {
      const { body, asked, want } = input;
      const error = httpStatusToError(endpoint, 400, body);
      const { words, parameter = '' } = error.details as ProviderErrorDetails;
      assert.equal(learnOutputTokenLimit(`${words} ${parameter}`, asked)?.tokens ?? null, want);
      if (want === null) return;
      assert.equal(error.code, 'LLM_HTTP_ERROR'); // no history is given up for it
      assert.ok(!isPossibleContextOverflow(error, 1));
    });
  }

  for (const { title, input } of casesOf<ReaderCase>('reader')) {
    it(title, () => {
      const { wire = 'openai', events, whole, want } = input;
      const { says, ...fields } = want;
      const reader = readers[wire]();
      const chunks: ChatStreamChunk[] = [];
      let error: LLMError | undefined;
      try {
        for (const event of events) chunks.push(...reader.read(event, whole));
        chunks.push(...reader.end(true));
      } catch (thrown) {
        assert.ok(thrown instanceof LLMError);
        error = thrown;
      }
      const came = {
        calls: chunks.flatMap(({ toolCall }) => (toolCall ? [shortly(toolCall)] : [])),
        text: chunks.map(({ content = '' }) => content).join(''),
        thinking: chunks.map(({ thinking = '' }) => thinking).join(''),
        finish: chunks.at(-1)?.finishReason,
        message: chunks.at(-1)?.finishMessage,
        error: error?.code ?? null,
      };
      checkFields(came, fields);
      if (says !== undefined) assert.match(error?.message ?? '', new RegExp(says));
    });
  }
});
