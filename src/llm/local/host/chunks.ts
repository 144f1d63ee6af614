import { randomUUID } from 'node:crypto';
import type { ToolCall } from '../../../protocol/content/messages.ts';
import type { JsonSchema } from '../../../protocol/content/tools.ts';
import { message } from '../../../protocol/text/l10n.ts';
import { type LocalizableText, toStoredText } from '../../../protocol/text/localized.ts';
import type { ChatRequest, ChatStreamChunk } from '../../core/client.ts';
import { createToolNameMapping } from '../../core/wireToolNames.ts';
import { toPromptProgress } from '../../messages/promptProgress.ts';
import { toLlamaProviderMetadata } from '../ipc/chatHistory.ts';
import type { InferenceProcessEvent } from './modelProcess.ts';
import { stripPlaceholderNulls } from './stripNulls.ts';

export function createInferenceEventConverter(
  request: ChatRequest,
  label: LocalizableText,
): (event: InferenceProcessEvent) => ChatStreamChunk | undefined {
  const tools = request.tools ?? [];
  const nameOf = createToolNameMapping(tools);
  const ids: string[] = [];
  const raws: { id: string; raw: unknown }[] = [];
  const idOf = (index: number) => {
    ids[index] ??= `call_${randomUUID()}`;
    return ids[index];
  };
  const toCall = (index: number, wireName: string, params: unknown): ToolCall => {
    const name = nameOf(wireName);
    const args = stripPlaceholderNulls(params, tools.find((tool) => tool.name === name)?.parameters);
    return { id: idOf(index), name, arguments: args as ToolCall['arguments'] };
  };

  // nulls for omitted properties can only be removed from a complete answer
  const schema = request.responseFormat?.type === 'json_schema' ? request.responseFormat.schema : undefined;
  const answer = schema && (tools.length === 0 || request.toolChoice === 'none') ? { schema, text: '' } : undefined;

  return (event) => {
    switch (event.type) {
      case 'loading':
        return {
          progress: { ...toStoredText(message('Loading {0}', label)), ...withFraction(event.fraction) },
          done: false,
        };
      case 'waiting':
        return { progress: toStoredText(message('Waiting for the local model')), done: false };
      case 'growing':
        return { progress: toStoredText(message('Extending the context for a longer conversation')), done: false };
      case 'reading':
        return { progress: toPromptProgress(event), done: false };
      case 'restoring':
        return { progress: toStoredText(message('Restoring the state of the model')), done: false };
      case 'warning':
        return { warning: event.text, done: false };
      case 'text':
        if (!answer) return { content: event.text, done: false };
        answer.text += event.text;
        return { progress: toStoredText(message('Writing the answer')), done: false };
      case 'thinking':
        return { thinking: event.text, done: false };
      case 'call-text': {
        const { index, text: argumentsText } = event;
        const first = ids[index] === undefined;
        const id = idOf(index);
        return {
          toolCallDelta: { index, ...(first && { id, name: nameOf(event.name) }), argumentsText },
          done: false,
        };
      }
      case 'call':
        raws.push({ id: idOf(event.index), raw: event.raw });
        return { toolCall: toCall(event.index, event.name, event.params), done: false };
      case 'bad-call': {
        const params = objectIn(event.text);
        const toolCall = params
          ? toCall(event.index, event.name, params)
          : { id: idOf(event.index), name: nameOf(event.name), arguments: {}, malformed: event.text };
        return { toolCall, done: false };
      }
      case 'done': {
        const { prompt, cached, completion, thinking } = event.tokens;
        const native = toLlamaProviderMetadata(event.spoken, raws, event.form);
        return {
          ...(answer && { content: withoutNulls(answer.text, answer.schema) }),
          done: true,
          finishReason: event.finish,
          ...(native && { native }),
          usage: {
            promptTokens: prompt,
            completionTokens: completion,
            totalTokens: prompt + completion,
            cachedTokens: cached,
            ...(thinking > 0 && { thinkingTokens: thinking }),
          },
          model: request.model,
        };
      }
      default:
        return undefined;
    }
  };
}

/**
 * Parses arguments that are valid JSON but violate the grammar's schema (1e-3 for an integer), so that the tool's own schema explains the
 * error.
 */
function objectIn(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text, (_, inner) => {
      if (typeof inner === 'number' && !Number.isFinite(inner)) throw new Error('not a number of JSON');
      return inner;
    });
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function withoutNulls(text: string, schema: JsonSchema): string {
  try {
    const value: unknown = JSON.parse(text);
    const stripped = JSON.stringify(stripPlaceholderNulls(value, schema));
    return stripped === JSON.stringify(value) ? text : stripped;
  } catch {
    return text;
  }
}

function withFraction(fraction: number | undefined) {
  return fraction === undefined ? {} : { fraction };
}
