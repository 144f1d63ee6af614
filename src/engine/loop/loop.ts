import type { ChatRequest, ChatStreamChunk } from '../../llm/core/client.ts';
import { hasUnparsedTextToolCall } from '../../llm/textCalls/unreadCalls.ts';
import { reportedContextSize } from '../../llm/transport/providerErrors.ts';
import { isUnansweredQuestion, userQuestionToolName } from '../../protocol/content/askTool.ts';
import type { ContextUsage } from '../../protocol/content/contextUsage.ts';
import type { AssistantMessage, ErrorInfo, Message, ToolCall } from '../../protocol/content/messages.ts';
import { type ToolOutcome, toToolResult } from '../../protocol/content/tools.ts';
import type { RunEventBody } from '../../protocol/run/events.ts';
import { isSpendingLimitError } from '../../protocol/run/money.ts';
import { message, toEnglishText } from '../../protocol/text/l10n.ts';
import {
  joinLocalizableTexts,
  type LocalizableText,
  storedLocalizableText,
  storedLocalizedForms,
  toErrorInfo,
  toStoredText,
  withFullStop,
} from '../../protocol/text/localized.ts';
import type { AcceptedRequestSizes } from '../context/acceptedRequests.ts';
import { compactConversation } from '../context/compaction.ts';
import { contextUsageFiles, contextUsageOf } from '../context/contextUsage.ts';
import { estimatedPromptTokens, promptMessages } from '../context/promptMessages.ts';
import { mayExceedContextWindow } from '../context/refusedRequest.ts';
import type { ConversationWithModel } from '../context/summarize.ts';
import type { SummaryPrefetcher } from '../context/summaryPrefetch.ts';
import { type StopPoint, stopPointOf } from '../core/abortReason.ts';
import type { RunConversation } from '../core/loopConversation.ts';
import { type CallableModel, callModelAndRecord } from '../core/modelCall.ts';
import { promptPrefixTokens } from '../core/tokenCount.ts';
import { isSkippedCallOutcome } from '../input/messageQueue.ts';
import { RepeatGuard } from './repeatGuard.ts';
import { ToolCallRunner } from './toolCalls.ts';

/** Conversation of the loop. The loop omits content beyond the context window. `receiveMessages` adds system notes and queued messages. */
export interface LoopConversation extends RunConversation {
  readonly isInterrupted: boolean;
  receiveMessages?(): Promise<void>;
  hasCall(id: string): boolean;
  add(message: Message): Promise<void>;
}

export interface TurnLoopOptions {
  talk: LoopConversation;
  emit(event: RunEventBody): Promise<void>;
  called: CallableModel;
  accepted: AcceptedRequestSizes;
  small?: ConversationWithModel['small'];
  ahead?: SummaryPrefetcher;
  prefix: Omit<ChatRequest, 'messages'>;
  isFree(call: ToolCall): boolean;
  understood(call: ToolCall): ToolCall;
  onlyReads(call: ToolCall): boolean;
  /** Tests if a call that is not free runs beside other calls of its kind. */
  runsBeside?(call: ToolCall): boolean;
  /** Returns a fingerprint of the files named by the call; undefined: none. */
  stateOfFiles(call: ToolCall): Promise<string | undefined>;
  /** @param following later calls of the same reply that need an approval */
  execute(call: ToolCall, following: readonly ToolCall[]): Promise<ToolOutcome>;
  /**
   * Open calls of the newest reply from an earlier window, settled before the first request. `goesOn`: a message of the user does not end the
   * call, because it waits for an approval or is a task. `settled` is called after all results; false:
   * the run rests, because the user has answered no approval.
   */
  open?: {
    calls: readonly ToolCall[];
    goesOn(call: ToolCall): boolean;
    settled(): Promise<boolean>;
  };
  isComplete(): boolean;
  /** Checked between turns, like `wantsCompaction`, which is true once after the user requested a compaction. */
  isPausing(): boolean;
  wantsCompaction(): boolean;
  isHeld(): boolean;
  /** Checked after each turn that did not end the work: true ends at `WaitingUser`. */
  handsBack(): boolean;
  maxTurns: number;
  /** Model calls of tasks, which count as turns. */
  taskSteps?(): number;
  contextWindow?: number;
  currentWindow?(): number | undefined;
  files?(): ContextUsage['files'];
  brief?: string;
  /** Replies are displayed and their calls started only when complete; an interrupted reply is retried. */
  shownWhole?: boolean;
  signal: AbortSignal;
}

/** Repeats model call, tool calls and results until a stop point. Rejects only with a `StoreError`. */
export async function runTurns(turns: TurnLoopOptions): Promise<StopPoint> {
  const { talk, emit, called, signal } = turns;
  const { toolChoice, ...prefix } = turns.prefix; // a forced tool choice applies once, otherwise the loop would not end
  const guard = new RepeatGuard(turns.stateOfFiles);
  let allDenied = false;
  const compactionOptions = { ...turns, run: talk };
  if (turns.open && turns.open.calls.length > 0) {
    const { calls: open, goesOn, settled } = turns.open;
    const isInterrupted = (call: ToolCall) => talk.isInterrupted && !goesOn(call);
    const running = new ToolCallRunner({ ...turns, isKnown: talk.hasCall, isInterrupted }).runAll(open);
    const outcomes = await settle(running);
    if (signal.aborted) return stopPointOf(signal);
    if (!outcomes) return { phase: 'WaitingUser' }; // no approval is possible here
    if (!(await settled())) return { phase: 'WaitingUser' };
    allDenied = outcomes.length > 0 && outcomes.every(isDenial);
    if (turns.handsBack()) return { phase: 'WaitingUser' };
  }
  let hasReportedUnread = false;
  let known = turns.contextWindow;
  let answered = 0; // turns of user questions only: an answering user can stop the run
  const taken = (turn: number) => turn - answered + (turns.taskSteps?.() ?? 0);
  for (let turn = 0; taken(turn) < turns.maxTurns; turn++) {
    if (turns.isHeld()) return held;
    if (turn > 0 && turns.isPausing()) return { phase: 'WaitingUser' };
    const messageCount = talk.messages.length;
    await talk.receiveMessages?.();
    if (talk.messages.length > messageCount) guard.forget();
    const current = turns.currentWindow?.();
    if (current !== undefined && current !== known) {
      known = current;
      compactionOptions.contextWindow = current; // the size reported by an error holds until the listed size changes
    }
    await compactConversation(compactionOptions, turns.wantsCompaction() ? 'asked' : 'nearly full');
    if (signal.aborted) return stopPointOf(signal);
    turns.ahead?.look(compactionOptions);

    const calls = new ToolCallRunner({ ...turns, isKnown: talk.hasCall, isInterrupted: () => talk.isInterrupted });
    const warnings = new Map<string, LocalizableText>();
    let thinks: { from: number; to: number } | undefined;
    const tokens = () => promptPrefixTokens(turns.prefix) + estimatedPromptTokens(talk);
    const ask = () =>
      callModelAndRecord(
        called,
        {
          ...(turn > 0 && toolChoice === 'required' ? prefix : turns.prefix),
          messages: promptMessages(talk),
        },
        {
          emit,
          signal,
          tokens: tokens(),
          filling: {
            ...contextUsageOf(talk, turns.prefix, compactionOptions.contextWindow),
            ...contextUsageFiles(turns.files?.()),
          },
          shows: () => !turns.shownWhole,
          onChunk: (chunk) => {
            if (chunk.progress) void emit({ type: 'progress', ...chunk.progress });
            if (chunk.thinking) thinks = { from: thinks?.from ?? performance.now(), to: performance.now() };
            if (chunk.warning) warnings.set(toEnglishText(chunk.warning), chunk.warning);
            if (turns.shownWhole) return;
            show(emit, chunk);
            if (chunk.toolCall) calls.notice(chunk.toolCall);
          },
        },
      );
    let reply = await ask();
    if (reply.error?.code === 'LLM_CONTEXT_OVERFLOW' && !reply.message) {
      const size = reportedContextSize(reply.error); // a smaller window reported by an error replaces the configured size
      if (size !== undefined) compactionOptions.contextWindow = Math.min(size, compactionOptions.contextWindow ?? size);
      if ((await compactConversation(compactionOptions, 'overflowed', size)) === true) reply = await ask();
    } else if (mayExceedContextWindow(compactionOptions, reply, turns.accepted)) {
      void emit({ type: 'progress', ...toStoredText(message(refusedUnexplained)) });
      if ((await compactConversation(compactionOptions, 'overflowed')) === true) {
        reply = await ask();
        if (reply.success) warnings.set(shorterAccepted, message(shorterAccepted));
        else if (reply.error)
          reply.error = {
            ...reply.error,
            ...toErrorInfo(
              joinLocalizableTexts([withFullStop(storedLocalizableText(reply.error)), message(shorterRefused)]),
            ),
          };
      }
    }
    if (reply.success && !reply.cached) turns.accepted.add(called, turns.prefix.model, tokens());

    const whole = reply.success && reply.finishReason !== 'length' && !signal.aborted;
    const asked = whole ? calls.named(reply.message?.toolCalls ?? []) : calls.begun;
    const isSilent = isSilentEnd(reply.error, talk);
    // The reply is on disk before any effect.
    await appendReply(talk, reply.message, {
      whole: whole || isSilent,
      calls: asked,
      warnings: [...warnings.values()],
      thoughtMs: thinks ? Math.round(thinks.to - thinks.from) : 0,
    });
    const running = whole ? calls.runAll(asked) : calls.runBegun();
    const outcomes = await settle(running);
    if (!outcomes) return signal.aborted ? stopPointOf(signal) : { phase: 'WaitingUser' }; // the call stays open
    const answers = running.filter(
      ({ call }, index) => call.name === userQuestionToolName && outcomes[index]!.ok,
    ).length;

    if (answers > 0 && answers === running.length) answered++;
    if (signal.aborted) return stopPointOf(signal);
    if (isSilent) return { phase: 'WaitingUser' };
    if (!whole) return reply.success ? cutByLength : failed(reply.error);
    if (turns.isHeld()) return held;
    const repeated = await guard.endTurn();
    if (repeated) return looping(repeated);
    const deniedBefore = allDenied;
    allDenied = outcomes.length > 0 && outcomes.every(isDenial);
    if (allDenied && deniedBefore) return { phase: 'WaitingUser' }; // denied twice after a note to the model: back to the user
    if (turns.handsBack()) return { phase: 'WaitingUser' };
    if (running.length === 0 && hasUnparsedTextToolCall(reply.message?.content ?? '')) {
      if (hasReportedUnread) return unread;
      hasReportedUnread = true;
      await talk.add({ role: 'system', content: unreadNote });
      continue;
    }
    if (running.length === 0 && !talk.isInterrupted) return { phase: turns.isComplete() ? 'Completed' : 'WaitingUser' };
  }
  return turnLimitStopPoint(turns.maxTurns);

  async function settle(running: ReturnType<ToolCallRunner['runAll']>): Promise<ToolOutcome[] | undefined> {
    const outcomes: ToolOutcome[] = [];
    let isOpen = false;
    guard.beginTurn();
    for (const { call, outcome, beyond } of running) {
      const given = await outcome;
      if (isUnansweredQuestion(given)) {
        isOpen = true;
        if (signal.aborted) break;
        continue; // others have a result
      }
      const isAnswer = call.name === userQuestionToolName && given.ok;
      if (isAnswer) guard.forget();
      const reported =
        beyond || isAnswer || isSkippedCallOutcome(given)
          ? given
          : await guard.note(turns.understood(call), given, turns.onlyReads(call));
      outcomes.push(reported);
      await talk.add({ role: 'tool', content: '', toolResults: [toToolResult(call.id, reported)] });
    }
    return isOpen ? undefined : outcomes;
  }
}

export const turnLimitStopPoint = (turns: number): StopPoint => ({
  phase: 'Failed',
  error: {
    code: 'ENGINE_MAX_TURNS_EXCEEDED',
    ...toErrorInfo(message('Stopped at the limit of {0} steps. Continue to allow more.', turns)),
  },
  turns,
});

/** Records a reply. An interrupted reply is stored with its started calls; other calls do not run. */
async function appendReply(
  talk: LoopConversation,
  message: AssistantMessage | undefined,
  {
    whole,
    calls,
    warnings,
    thoughtMs,
  }: { whole: boolean; calls: ToolCall[]; warnings: LocalizableText[]; thoughtMs: number },
): Promise<void> {
  const { toolCalls: _, ...reply } = message ?? { role: 'assistant' as const, content: '' };
  if (reply.content.trim() === '' && !reply.thinking && calls.length === 0) return;
  const incomplete = whole ? {} : { incomplete: true };
  const toolCalls = calls.length > 0 ? { toolCalls: calls } : {};
  const warned =
    warnings.length > 0 ? { warnings: warnings.map(toEnglishText), ...storedLocalizedForms(warnings) } : {};
  const thought = reply.thinking && thoughtMs >= 1000 ? { thoughtMs } : {};
  await talk.add({ ...reply, ...toolCalls, ...thought, ...incomplete, ...warned });
}

function show(emit: TurnLoopOptions['emit'], chunk: ChatStreamChunk): void {
  const { content, thinking, contentIsThinking, toolCallDelta: delta } = chunk;
  if (contentIsThinking) void emit({ type: 'chunk', contentIsThinking });
  if (content || thinking) void emit({ type: 'chunk', content, thinking });
  if (delta) {
    const { index, name, argumentsText } = delta;
    void emit({ type: 'chunk', toolCall: { index, name, argumentsText } });
  }
}

function isDenial(outcome: ToolOutcome): boolean {
  if (outcome.ok || outcome.error.code !== 'TOOL_DENIED') return false;
  return (outcome.error.details as { words?: string } | undefined)?.words === undefined;
}

/** True for an empty answer after tool results, which some providers send at the end of the work. Requested twice before the end. */
const isSilentEnd = (error: ErrorInfo | undefined, { messages }: LoopConversation): boolean =>
  error?.reason === 'empty' && messages.at(-1)?.role === 'tool';

function failed(error: ErrorInfo | undefined): StopPoint {
  const info = error ?? { code: 'UNKNOWN', ...toErrorInfo(message('The model call failed without a reason.')) };
  const rests = info.code === 'LLM_RATE_LIMITED' || isSpendingLimitError(info);
  return { phase: rests ? 'WaitingUser' : 'Failed', error: info };
}

const held: StopPoint = { phase: 'WaitingUser', held: true };

const cutByLength: StopPoint = {
  phase: 'WaitingUser',
  error: {
    code: 'LLM_INCOMPLETE',
    ...toErrorInfo(message('The answer was cut off at its length limit.')),
    reason: 'cut',
  },
};

const refusedUnexplained = 'The provider rejected the request, probably because it was too long. Trying a shorter one.';
const shorterAccepted =
  'The provider rejected the request, probably because it was too long, and accepted a shorter one.';
const shorterRefused = 'A shorter request was rejected, too.';

/** Note about an unreadable call written as text, which would otherwise end the run as a success. */
const unreadNote =
  'The last answer ends in a tool call written as text that could not be read, so nothing was run. Call one of the offered tools, or answer in words.';

const unread: StopPoint = {
  phase: 'WaitingUser',
  error: {
    code: 'LLM_BAD_RESPONSE',
    ...toErrorInfo(message('The model wrote an unreadable tool call twice. Nothing was run. Try another model.')),
  },
};

const looping = (repeated: Omit<ErrorInfo, 'code'>): StopPoint => ({
  phase: 'WaitingUser',
  error: { code: 'ENGINE_LOOP_DETECTED', ...repeated },
});
