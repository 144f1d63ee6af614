import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import { type ChatRequest, type ChatStreamChunk, collect, type LLMClient } from '../llm/client.ts';
import { LLMError } from '../llm/errors.ts';
import { fromWireNames, toWireName } from '../llm/names.ts';
import { repairHistory } from '../llm/repair.ts';

/**
 * The models that the editor itself offers (`vscode.lm`), the provider `vscode-lm`. A model's id is `vendor/id` of the
 * editor's. The editor asks the person for consent on first use, keeps the keys, and counts no tokens for us.
 */
export function createEditorClient(select: typeof vscode.lm.selectChatModels = vscode.lm.selectChatModels): LLMClient {
  async function find(model: string): Promise<vscode.LanguageModelChat> {
    const slash = model.indexOf('/');
    const [found] = await select({ vendor: model.slice(0, slash), id: model.slice(slash + 1) });
    if (found) return found;
    throw new LLMError('UNKNOWN', `The editor does not offer the model ${model} now. Pick another one.`);
  }

  async function* chatStream(request: ChatRequest, signal?: AbortSignal): AsyncGenerator<ChatStreamChunk, void> {
    const model = await find(request.model);
    const cancel = new vscode.CancellationTokenSource();
    const stop = () => cancel.cancel();
    signal?.addEventListener('abort', stop);
    try {
      signal?.throwIfAborted();
      const response = await model.sendRequest(toEditorMessages(request), toOptions(request), cancel.token);
      yield* read(response, request);
    } catch (error) {
      signal?.throwIfAborted();
      throw toLLMError(error, request.model);
    } finally {
      signal?.removeEventListener('abort', stop);
      cancel.dispose();
    }
  }

  return {
    chatStream,
    chat: (request, signal) => collect(chatStream(request, signal), request.model),
    async listModels() {
      const models = await select();
      return models.map((model) => ({ id: `${model.vendor}/${model.id}`, contextWindow: model.maxInputTokens }));
    },
  };
}

async function* read(
  response: vscode.LanguageModelChatResponse,
  request: ChatRequest,
): AsyncGenerator<ChatStreamChunk, void> {
  const nameOf = fromWireNames(request.tools ?? []);
  let index = 0;
  for await (const part of response.stream) {
    if (part instanceof vscode.LanguageModelTextPart) yield { content: part.value, done: false };
    else if (part instanceof vscode.LanguageModelToolCallPart) {
      const call = {
        id: part.callId || `call_${randomUUID()}`,
        name: nameOf(part.name),
        arguments: { ...part.input } as Record<string, unknown>,
      };
      const argumentsText = JSON.stringify(call.arguments);
      yield { toolCallDelta: { index, id: call.id, name: call.name, argumentsText }, done: false };
      yield { toolCall: call, done: false };
      index++;
    }
  }
  yield { done: true, finishReason: index > 0 ? 'tool_calls' : 'stop' };
}

/** The editor knows no system messages: instructions go first, as a message of the person's. */
function toEditorMessages(request: ChatRequest): vscode.LanguageModelChatMessage[] {
  const user = vscode.LanguageModelChatMessage.User;
  const assistant = vscode.LanguageModelChatMessage.Assistant;
  const messages = request.systemPrompt ? [user(request.systemPrompt)] : [];
  for (const said of repairHistory(request.messages)) {
    if (said.role !== 'assistant') {
      messages.push(user(said.content));
      continue;
    }
    const { content, toolCalls = [] } = said.message;
    const calls = toolCalls.map(
      (call) => new vscode.LanguageModelToolCallPart(call.id, toWireName(call.name), call.arguments),
    );
    messages.push(assistant([...(content ? [new vscode.LanguageModelTextPart(content)] : []), ...calls]));
    const results = said.results.map(
      (result) =>
        new vscode.LanguageModelToolResultPart(result.toolCallId, [new vscode.LanguageModelTextPart(result.content)]),
    );
    if (results.length > 0) messages.push(user(results));
  }
  return messages;
}

function toOptions(request: ChatRequest): vscode.LanguageModelChatRequestOptions {
  const tools = (request.tools ?? []).map((tool) => ({
    name: toWireName(tool.name),
    description: tool.description,
    inputSchema: tool.parameters,
  }));
  const toolMode =
    request.toolChoice === 'required'
      ? vscode.LanguageModelChatToolMode.Required
      : vscode.LanguageModelChatToolMode.Auto;
  return {
    justification: 'Towpath works on your task with the model you picked.',
    ...(tools.length > 0 && request.toolChoice !== 'none' && { tools, toolMode }),
  };
}

function toLLMError(error: unknown, model: string): LLMError {
  if (error instanceof LLMError) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof vscode.LanguageModelError)) return new LLMError('UNKNOWN', `${model}: ${message}`);
  if (error.code === vscode.LanguageModelError.NoPermissions.name)
    return new LLMError('LLM_AUTH_FAILED', `The editor does not let Towpath use ${model}: ${message}`);
  if (error.code === vscode.LanguageModelError.Blocked.name)
    return new LLMError('LLM_RATE_LIMITED', `The editor refuses more requests to ${model} now: ${message}`);
  return new LLMError('LLM_BAD_RESPONSE', `${model}: ${message}`);
}
