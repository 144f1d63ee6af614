import { askModel } from '../../engine/core/modelCall.ts';
import { promptPrefixTokens, tokensOfMessages } from '../../engine/core/tokenCount.ts';
import type { RunModel } from '../../engine/run/runContext.ts';
import type { AdapterResult, CompletionOptions } from '../../llm/adapter/adapter.ts';
import { conversationCallIds, createToolCallIdAllocator } from '../../llm/core/callIds.ts';
import type { ChatRequest, ChatStreamChunk } from '../../llm/core/client.ts';
import type { ToolCall } from '../../protocol/content/messages.ts';
import { isSpendingLimitError } from '../../protocol/run/money.ts';
import { t, toEnglishText } from '../../protocol/text/l10n.ts';
import { type LocalizableText, localize, messageOf, storedLocalizableText } from '../../protocol/text/localized.ts';
import type { IncomingRequestMessage, IncomingRequestOptions } from '../providers/editorApi.ts';
import { fromEditorMessages, fromEditorOptions, requestSize } from './providedWire.ts';
import { type IncomingModelRequestQueue, TooManyIncomingRequests } from './requestQueue.ts';

/** Rejection of a request, with a user-facing message; `blocked` is temporary, and the request can be repeated. */
export class IncomingModelRequestRejected extends Error {
  override readonly name = 'AskRefused';
  constructor(
    readonly kind: 'not-found' | 'no-permission' | 'blocked' | 'failed',
    message: string,
  ) {
    super(message);
  }
}

export interface IncomingModelRequest {
  who: LocalizableText;
  messages: readonly IncomingRequestMessage[];
  options: IncomingRequestOptions;
  signal: AbortSignal;
  stop(): void;
  report(part: { text: string } | { call: ToolCall }): void;
}

interface Dependencies {
  line: IncomingModelRequestQueue;
  label: string;
  local: boolean;
  /** Returns the model when the request's turn has come. */
  ready(): Promise<RunModel>;
  recorded(model: RunModel, ask: () => Promise<AdapterResult>): Promise<AdapterResult>;
}

/** Maximum characters, including images, if the context size is unknown. */
const maxCharacters = 16_000_000;
/** Tolerance of the estimate, and maximum characters per token. */
const [slack, maxPerToken] = [1.5, 12];

/**
 * Answers a request from outside of Towpath within the user's cost limits. Nothing is recorded in a run. Throws
 * `IncomingModelRequestRejected`, or the signal's reason.
 */
export async function answerIncomingModelRequest(
  ask: IncomingModelRequest,
  { line, label, local, ready, recorded }: Dependencies,
): Promise<AdapterResult> {
  const { who, signal } = ask;
  signal.throwIfAborted();
  const { text, pictures } = requestSize(ask.messages, ask.options);
  if (text + pictures > maxCharacters) throw tooLong(label, t('{0} characters', text + pictures));
  const leave = await line.enter({ who, model: label, local, stop: ask.stop }, signal).catch((error) => {
    throw error instanceof TooManyIncomingRequests ? new IncomingModelRequestRejected('blocked', error.message) : error;
  });
  try {
    const model = await ready().catch((error: Error) => {
      throw error instanceof IncomingModelRequestRejected
        ? error
        : new IncomingModelRequestRejected('failed', localize(messageOf(error)));
    });
    signal.throwIfAborted();
    const request = requestOf(ask, model, text, label);
    const seen = shownBy(ask, request.messages);
    const result = await recorded(model, () => askModel(model, request, { signal, ...seen }));
    if (result.aborted) signal.throwIfAborted();
    if (result.error)
      throw new IncomingModelRequestRejected(
        isSpendingLimitError(result.error) ? 'blocked' : 'failed',
        localize(storedLocalizableText(result.error)),
      );
    const broken = result.message?.toolCalls?.find(({ malformed }) => malformed !== undefined);
    if (broken)
      throw new IncomingModelRequestRejected(
        'failed',
        t('{0} called {1} with arguments that are not a JSON object.', label, broken.name),
      );
    return result;
  } finally {
    leave();
  }
}

/**
 * Throws `IncomingModelRequestRejected`.
 *
 * @param text characters of the request
 */
function requestOf(
  { who, messages, options }: IncomingModelRequest,
  { model, contextWindow }: RunModel,
  text: number,
  label: string,
) {
  const most = (contextWindow ?? Number.POSITIVE_INFINITY) * slack;
  if (text > most * maxPerToken) throw tooLong(label, t('{0} characters', text), contextWindow);
  const request: ChatRequest = {
    model,
    messages: fromEditorMessages(messages),
    ...fromEditorOptions(options),
    asker: toEnglishText(who),
  };
  const { messages: history, ...prefix } = request;
  const tokens = promptPrefixTokens(prefix) + tokensOfMessages(history);
  if (tokens > most) throw tooLong(label, t('about {0} tokens', tokens), contextWindow);
  return request;
}

function tooLong(label: string, what: string, window?: number): IncomingModelRequestRejected {
  const message =
    window === undefined
      ? t('This is longer than {0} can read: {1}. Nothing was sent.', label, what)
      : t(
          'This is longer than {0} can read: {1}. It has a context window of {2} tokens. Nothing was sent.',
          label,
          what,
          window,
        );
  return new IncomingModelRequestRejected('failed', message);
}

/** Returns true for text and complete calls, which the editor forwards; afterwards, the request is not repeated. */
function shownBy(
  { report, signal }: IncomingModelRequest,
  messages: ChatRequest['messages'],
): Pick<CompletionOptions, 'onChunk' | 'shows'> {
  const idFor = createToolCallIdAllocator(conversationCallIds(messages)); // some providers number calls anew in every reply
  const isWhole = ({ toolCall }: ChatStreamChunk) => toolCall !== undefined && toolCall.malformed === undefined;
  return {
    onChunk(chunk) {
      if (signal.aborted) return;
      if (chunk.content) report({ text: chunk.content });
      if (isWhole(chunk)) report({ call: { ...chunk.toolCall!, id: idFor(chunk.toolCall!.id) } });
    },
    shows: (chunk) => Boolean(chunk.content) || isWhole(chunk),
  };
}
