import * as vscode from 'vscode';
import { conversationCallIds, createToolCallIdAllocator } from '../../llm/core/callIds.ts';
import { type ChatRequest, type ChatStreamChunk, collectChatStream, type LLMClient } from '../../llm/core/client.ts';
import { createDeadlineWatch } from '../../llm/core/deadlines.ts';
import { LLMError } from '../../llm/core/errors.ts';
import { isObject } from '../../llm/core/json.ts';
import { createToolNameMapping, toWireToolName } from '../../llm/core/wireToolNames.ts';
import { toTextOnlyMessages } from '../../llm/messages/attachments.ts';
import { responseFormatInstructions } from '../../llm/messages/formatInstructions.ts';
import { normalizeHistory, replaceLoneSurrogates, toWellFormedJson } from '../../llm/messages/normalizeHistory.ts';
import { createRunWarningFilter, omittedAttachmentWarnings } from '../../llm/messages/warnings.ts';
import { isContextOverflowText } from '../../llm/transport/providerErrors.ts';
import { redact } from '../../llm/transport/redact.ts';
import type { ToolCall } from '../../protocol/content/messages.ts';
import { message, t } from '../../protocol/text/l10n.ts';
import { towpathVendor } from './editorApi.ts';
import { toEditorTools } from './editorWire.ts';

/**
 * Creates a client of the editor's models (`vscode.lm`), the provider `vscode-lm`. A model id is the editor's `vendor/id`. The editor
 * requests consent on first use, manages keys, and reports no token counts.
 */
export function createEditorModelClient(): LLMClient {
  async function find(model: string): Promise<vscode.LanguageModelChat> {
    const slash = model.indexOf('/');
    if (model.slice(0, slash) === towpathVendor) throw itself(model);
    const [found] = await vscode.lm.selectChatModels({ vendor: model.slice(0, slash), id: model.slice(slash + 1) });
    if (found) return found;
    throw notOffered(model);
  }

  const news = createRunWarningFilter();

  async function* chatStream(asked: ChatRequest, signal?: AbortSignal): AsyncGenerator<ChatStreamChunk, void> {
    signal?.throwIfAborted();
    const { messages, leftOut } = toTextOnlyMessages(asked.messages);
    const request = { ...asked, messages };
    for (const warning of news(request.cacheKey, omittedAttachmentWarnings(message("The editor's model"), leftOut)))
      yield { warning, done: false };
    const cancel = new vscode.CancellationTokenSource();
    const watch = createDeadlineWatch(signal); // the extension of the model may ignore the token
    const soon = <Value>(promise: PromiseLike<Value>) => watch.wait(promise, 0, () => new Error());
    let begun = false;
    try {
      const model = await soon(find(request.model));
      const response = await soon(model.sendRequest(toEditorMessages(request), toOptions(request), cancel.token));
      const chunks = read(response, request);
      for (let step = await soon(chunks.next()); !step.done; step = await soon(chunks.next())) {
        begun = true;
        yield step.value;
      }
    } catch (error) {
      signal?.throwIfAborted();
      throw toLLMError(error, request.model, begun);
    } finally {
      watch.close();
      cancel.cancel(); // the rest of the stream is unused
      cancel.dispose();
    }
  }

  return {
    chatStream,
    chat: (request, signal) => collectChatStream(chatStream(request, signal), request.model),
    async listModels() {
      const models = await vscode.lm.selectChatModels();
      const others = models.filter(({ vendor }) => vendor !== towpathVendor); // excludes our own models, which would recurse
      return others.map((model) => ({ id: `${model.vendor}/${model.id}`, contextWindow: model.maxInputTokens }));
    },
  };
}

async function* read(
  response: vscode.LanguageModelChatResponse,
  request: ChatRequest,
): AsyncGenerator<ChatStreamChunk, void> {
  const nameOf = createToolNameMapping(request.tools ?? []);
  const idFor = createToolCallIdAllocator(conversationCallIds(request.messages)); // other extensions may number calls from 0 in every reply
  let index = 0;
  for await (const part of response.stream) {
    if (part instanceof vscode.LanguageModelTextPart) yield { content: part.value, done: false };
    else if (part instanceof vscode.LanguageModelToolCallPart) {
      const call = { id: idFor(part.callId), name: nameOf(part.name), ...readInput(part.input) };
      const argumentsText = call.malformed ?? JSON.stringify(call.arguments);
      yield { toolCallDelta: { index, id: call.id, name: call.name, argumentsText }, done: false };
      yield { toolCall: call, done: false };
      index++;
    }
  }
  yield { done: true, finishReason: index > 0 ? 'tool_calls' : 'stop' };
}

/** Parses data of another extension, whose type may be wrong. */
function readInput(input: unknown): Pick<ToolCall, 'arguments' | 'malformed'> {
  return isObject(input) ? { arguments: { ...input } } : { arguments: {}, malformed: JSON.stringify(input) ?? '' };
}

/** Converts messages. The editor has no system messages, so the system prompt is the first user message. */
function toEditorMessages(request: ChatRequest): vscode.LanguageModelChatMessage[] {
  const user = vscode.LanguageModelChatMessage.User;
  const assistant = vscode.LanguageModelChatMessage.Assistant;
  const { system, normalized: all } = normalizeHistory(request);
  const prompt = [system, responseFormatInstructions(request)].filter(Boolean).join('\n\n');
  const messages = prompt ? [user(replaceLoneSurrogates(prompt))] : [];
  for (const entry of all) {
    if (entry.role !== 'assistant') {
      messages.push(user(replaceLoneSurrogates(entry.content)));
      continue;
    }
    const { content, toolCalls = [] } = entry.message;
    const calls = toolCalls.map(
      (call) =>
        new vscode.LanguageModelToolCallPart(call.id, toWireToolName(call.name), toWellFormedJson(call.arguments)),
    );
    messages.push(
      assistant([...(content ? [new vscode.LanguageModelTextPart(replaceLoneSurrogates(content))] : []), ...calls]),
    );
    const results = entry.results.map(
      (result) =>
        new vscode.LanguageModelToolResultPart(result.toolCallId, [
          new vscode.LanguageModelTextPart(replaceLoneSurrogates(result.content)),
        ]),
    );
    if (results.length > 0) messages.push(user(results));
  }
  return messages;
}

function toOptions(request: ChatRequest): vscode.LanguageModelChatRequestOptions {
  const tools = toEditorTools(request.tools ?? []);
  const toolMode =
    request.toolChoice === 'required'
      ? vscode.LanguageModelChatToolMode.Required
      : vscode.LanguageModelChatToolMode.Auto;
  return {
    justification: t('Towpath works on your task with the model you selected.'),
    ...(tools.length > 0 && request.toolChoice !== 'none' && { tools, toolMode }),
  };
}

function toLLMError(error: unknown, model: string, begun: boolean): LLMError {
  if (error instanceof LLMError) return error;
  const text = redact(error instanceof Error ? error.message : String(error), []);
  const { NoPermissions, Blocked, NotFound } = vscode.LanguageModelError;
  const code = error instanceof vscode.LanguageModelError ? error.code : undefined;
  if (code === NoPermissions.name)
    return new LLMError('LLM_AUTH_FAILED', message('The editor does not let Towpath use {0}: {1}', model, text));
  if (code === Blocked.name)
    return new LLMError(
      'LLM_RATE_LIMITED',
      message('The editor rejects more requests to {0} for now: {1}', model, text),
    );
  if (code === NotFound.name) return notOffered(model);
  if (begun) return new LLMError('LLM_INCOMPLETE', message('{0} ended early: {1}', model, text));
  if (isContextOverflowText(text))
    return new LLMError(
      'LLM_CONTEXT_OVERFLOW',
      message('The conversation is longer than the context window of {0}: {1}', model, text),
    );
  return new LLMError('UNKNOWN', `${model}: ${text}`);
}

function itself(model: string): LLMError {
  const text = message('{0} is a model that Towpath itself shares with the editor. Pick the original.', model);
  return new LLMError('UNKNOWN', text, { reason: 'no-model' });
}

function notOffered(model: string): LLMError {
  const text = message('The editor does not offer the model {0} now. Pick another model.', model);
  return new LLMError('UNKNOWN', text, { reason: 'no-model' });
}
