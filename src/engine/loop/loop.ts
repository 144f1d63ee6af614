import type { ChatRequest, ChatStreamChunk } from '../../llm/core/client.ts';
import { hasUnreadCall } from '../../llm/textCalls/unreadCalls.ts';
import { windowIn } from '../../llm/transport/providerErrors.ts';
import { askTool, isUnanswered } from '../../protocol/content/askTool.ts';
import type { ContextUsage } from '../../protocol/content/contextUsage.ts';
import type { AssistantMessage, ErrorInfo, Message, ToolCall } from '../../protocol/content/messages.ts';
import { type ToolOutcome, toToolResult } from '../../protocol/content/tools.ts';
import type { EventBody } from '../../protocol/run/events.ts';
import { isOverLimit } from '../../protocol/run/money.ts';
import { inEnglish, message } from '../../protocol/text/l10n.ts';
import {
  ended,
  joined,
  type LocalizableText,
  localizedMessageIn,
  messagesIn,
  textAs,
  toErrorInfo,
} from '../../protocol/text/localized.ts';
import type { AcceptedRequests } from '../context/acceptedRequests.ts';
import { compact } from '../context/compaction.ts';
import { filesOf, fillingOf } from '../context/contextUsage.ts';
import { promptMessages, tokensOfSent } from '../context/promptMessages.ts';
import { mayBeTooLong } from '../context/refusedRequest.ts';
import type { Conversing } from '../context/summarize.ts';
import type { PrefetchState } from '../context/summaryPrefetch.ts';
import { type StopPoint, stopPointOf } from '../core/abortReason.ts';
import type { RunConversation } from '../core/loopConversation.ts';
import { type Called, callModel } from '../core/modelCall.ts';
import { tokensOfPrefix } from '../core/tokenCount.ts';
import { isNotRun } from '../input/messageQueue.ts';
import { RepeatGuard } from './repeatGuard.ts';
import { Calls } from './toolCalls.ts';

/** The conversation that the loop goes on with. What does not fit its model's window is not sent. */
export interface LoopConversation extends RunConversation {
  /** Words wait for the next turn. */
  readonly isInterrupted: boolean;
  /** Adds what the model is to hear of by itself, and those words. */
  hear?(): Promise<void>;
  /** A call has had this id. */
  hasCall(id: string): boolean;
  /** Resolves when it is kept. */
  add(message: Message): Promise<void>;
}

export interface Turns {
  talk: LoopConversation;
  emit(event: EventBody): Promise<void>;
  called: Called;
  accepted: AcceptedRequests;
  small?: Conversing['small'];
  ahead?: PrefetchState;
  /** The part of every request that stays the same. */
  prefix: Omit<ChatRequest, 'messages'>;
  isFree(call: ToolCall): boolean;
  /** Returns a call with the arguments that it was run with. */
  understood(call: ToolCall): ToolCall;
  /** Whatever it gives, it changes nothing. */
  onlyReads(call: ToolCall): boolean;
  /** Returns the state of the files that it names, to be compared with a later one; undefined: it names none. */
  stateOfFiles(call: ToolCall): Promise<string | undefined>;
  /** @param following the calls of the same reply that are asked about and come after it */
  execute(call: ToolCall, following: readonly ToolCall[]): Promise<ToolOutcome>;
  /** Calls of the newest reply that an earlier window left open, to be settled before the model is asked. */
  open?: {
    calls: readonly ToolCall[];
    needsApproval(call: ToolCall): boolean;
    /** Called when all of them have a result; false: the run rests, because the user has answered none. */
    settled(): Promise<boolean>;
  };
  /** Asked at a reply without tool calls. */
  isComplete(): boolean;
  /** Asked between turns: the person wants it to rest. */
  isPausing(): boolean;
  /** Asked between turns: the person wants room to be made, once. */
  wantsRoom(): boolean;
  /** A denial of the user holds the conversation: nothing is sent before they say what to do instead, or let it continue. */
  isHeld(): boolean;
  /** Asked after each turn that did not end the work: true ends it at `WaitingUser`. */
  handsBack(): boolean;
  maxTurns: number;
  /** Tokens that the model keeps in view, when known. */
  contextWindow?: number;
  /** Asked before each turn: the same as it is known by now. */
  currentWindow?(): number | undefined;
  /** What the workspace says to agents, of what is sent now. */
  files?(): ContextUsage['files'];
  /** What the model was told to do here: it stays as it was said when room is made. */
  brief?: string;
  /** Nobody sees a reply, and none of its calls begins, before it is whole: one that breaks off is asked for again. */
  shownWhole?: boolean;
  signal: AbortSignal;
}

/** Model call, tool calls, results, and again, until there is a stop point. Rejects only with a `StoreError`. */
export async function runTurns(turns: Turns): Promise<StopPoint> {
  const { talk, emit, called, signal } = turns;
  const { toolChoice, ...prefix } = turns.prefix; // whoever must call a tool must do so once, or it would never end
  const guard = new RepeatGuard(turns.stateOfFiles);
  let allDenied = false;
  const room = { ...turns, run: talk };
  if (turns.open && turns.open.calls.length > 0) {
    const { calls: open, needsApproval, settled } = turns.open;
    const isInterrupted = (call: ToolCall) => talk.isInterrupted && !needsApproval(call);
    const running = new Calls(talk.hasCall, turns.isFree, turns.execute, isInterrupted).runAll(open);
    const outcomes = await settle(running);
    if (signal.aborted) return stopPointOf(signal);
    if (!outcomes) return { phase: 'WaitingUser' }; // nobody can approve it here
    if (!(await settled())) return { phase: 'WaitingUser' };
    allDenied = outcomes.length > 0 && outcomes.every(isDenial);
    if (turns.handsBack()) return { phase: 'WaitingUser' };
  }
  let hasToldUnread = false;
  let known = turns.contextWindow;
  let answered = 0; // turns that only asked the person something: who goes on answering is there to say no
  for (let turn = 0; turn - answered < turns.maxTurns; turn++) {
    if (turns.isHeld()) return held;
    if (turn > 0 && turns.isPausing()) return { phase: 'WaitingUser' };
    const said = talk.messages.length;
    await talk.hear?.();
    if (talk.messages.length > said) guard.forget();
    const current = turns.currentWindow?.();
    if (current !== undefined && current !== known) {
      known = current;
      room.contextWindow = current; // a size that a refusal has named stays until another one is listed
    }
    await compact(room, turns.wantsRoom() ? 'asked' : 'nearly full');
    if (signal.aborted) return stopPointOf(signal);
    turns.ahead?.look(room);

    const calls = new Calls(talk.hasCall, turns.isFree, turns.execute, () => talk.isInterrupted);
    const warnings = new Map<string, LocalizableText>();
    let thinks: { from: number; to: number } | undefined;
    const tokens = () => tokensOfPrefix(turns.prefix) + tokensOfSent(talk);
    const ask = () =>
      callModel(
        called,
        {
          ...(turn > 0 && toolChoice === 'required' ? prefix : turns.prefix),
          messages: promptMessages(talk),
        },
        {
          emit,
          signal,
          tokens: tokens(),
          filling: { ...fillingOf(talk, turns.prefix, room.contextWindow), ...filesOf(turns.files?.()) },
          shows: () => !turns.shownWhole,
          onChunk: (chunk) => {
            if (chunk.progress) void emit({ type: 'progress', ...chunk.progress });
            if (chunk.thinking) thinks = { from: thinks?.from ?? performance.now(), to: performance.now() };
            if (chunk.warning) warnings.set(inEnglish(chunk.warning), chunk.warning);
            if (turns.shownWhole) return;
            show(emit, chunk);
            if (chunk.toolCall) calls.notice(chunk.toolCall);
          },
        },
      );
    let reply = await ask();
    if (reply.error?.code === 'LLM_CONTEXT_OVERFLOW' && !reply.message) {
      const size = windowIn(reply.error); // who says that it is smaller than was believed is believed from now on
      if (size !== undefined) room.contextWindow = Math.min(size, room.contextWindow ?? size);
      if ((await compact(room, 'overflowed', size)) === true) reply = await ask();
    } else if (mayBeTooLong(room, reply, turns.accepted)) {
      void emit({ type: 'progress', ...textAs(message(refusedUnexplained)) });
      if ((await compact(room, 'overflowed')) === true) {
        reply = await ask();
        if (reply.success) warnings.set(shorterAccepted, message(shorterAccepted));
        else if (reply.error)
          reply.error = {
            ...reply.error,
            ...toErrorInfo(joined([ended(localizedMessageIn(reply.error)), message(shorterRefused)])),
          };
      }
    }
    if (reply.success && !reply.cached) turns.accepted.add(called, turns.prefix.model, tokens());

    const whole = reply.success && reply.finishReason !== 'length' && !signal.aborted;
    const asked = whole ? calls.named(reply.message?.toolCalls ?? []) : calls.begun;
    const isSilent = isSilentEnd(reply.error, talk);
    // What asks for a change is on disk before anything changes.
    await appendReply(talk, reply.message, {
      whole: whole || isSilent,
      calls: asked,
      warnings: [...warnings.values()],
      thoughtMs: thinks ? Math.round(thinks.to - thinks.from) : 0,
    });
    const running = whole ? calls.runAll(asked) : calls.runBegun();
    const outcomes = await settle(running);
    if (!outcomes) return stopPointOf(signal); // the call stays open, and so do those after it
    const answers = running.filter(({ call }, index) => call.name === askTool && outcomes[index]!.ok).length;

    if (answers > 0 && answers === running.length) answered++;
    if (signal.aborted) return stopPointOf(signal);
    if (isSilent) return { phase: 'WaitingUser' };
    if (!whole) return reply.success ? cutByLength : failed(reply.error);
    if (turns.isHeld()) return held;
    const repeated = await guard.endTurn();
    if (repeated) return looping(repeated);
    const deniedBefore = allDenied;
    allDenied = outcomes.length > 0 && outcomes.every(isDenial);
    if (allDenied && deniedBefore) return { phase: 'WaitingUser' }; // told once, asked again, denied again: the person's turn
    if (turns.handsBack()) return { phase: 'WaitingUser' };
    if (running.length === 0 && hasUnreadCall(reply.message?.content ?? '')) {
      if (hasToldUnread) return unread;
      hasToldUnread = true;
      await talk.add({ role: 'system', content: unreadNote });
      continue;
    }
    if (running.length === 0 && !talk.isInterrupted) return { phase: turns.isComplete() ? 'Completed' : 'WaitingUser' };
  }
  return turnLimit(turns.maxTurns);

  /** Adds the result of each call, in order; undefined: one of them stays open over the end of the editor. */
  async function settle(running: ReturnType<Calls['runAll']>): Promise<ToolOutcome[] | undefined> {
    const outcomes: ToolOutcome[] = [];
    guard.beginTurn();
    for (const { call, outcome, beyond } of running) {
      const given = await outcome;
      if (isUnanswered(given)) return undefined;
      const isAnswer = call.name === askTool && given.ok;
      if (isAnswer) guard.forget();
      const told =
        beyond || isAnswer || isNotRun(given)
          ? given
          : await guard.note(turns.understood(call), given, turns.onlyReads(call));
      outcomes.push(told);
      await talk.add({ role: 'tool', content: '', toolResults: [toToolResult(call.id, told)] });
    }
    return outcomes;
  }
}

export const turnLimit = (turns: number): StopPoint => ({
  phase: 'Failed',
  error: {
    code: 'ENGINE_MAX_TURNS_EXCEEDED',
    ...toErrorInfo(message('Stopped at the limit of {0} steps. Continue to allow more.', turns)),
  },
  turns,
});

/** What was shown stays: a reply that broke off is kept with the calls that had begun, and nothing else of it is run. */
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
  const { toolCalls: _, ...said } = message ?? { role: 'assistant' as const, content: '' };
  if (said.content.trim() === '' && !said.thinking && calls.length === 0) return;
  const incomplete = whole ? {} : { incomplete: true };
  const toolCalls = calls.length > 0 ? { toolCalls: calls } : {};
  const warned = warnings.length > 0 ? { warnings: warnings.map(inEnglish), ...messagesIn(warnings) } : {};
  const thought = said.thinking && thoughtMs >= 1000 ? { thoughtMs } : {};
  await talk.add({ ...said, ...toolCalls, ...thought, ...incomplete, ...warned });
}

function show(emit: Turns['emit'], chunk: ChatStreamChunk): void {
  const { content, thinking, contentIsThinking, toolCallDelta: delta } = chunk;
  if (contentIsThinking) void emit({ type: 'chunk', contentIsThinking });
  if (content || thinking) void emit({ type: 'chunk', content, thinking });
  if (delta) {
    const { index, name, argumentsText } = delta;
    void emit({ type: 'chunk', toolCall: { index, name, argumentsText } });
  }
}

/** A no without words; with words the model has something to go on. */
function isDenial(outcome: ToolOutcome): boolean {
  if (outcome.ok || outcome.error.code !== 'TOOL_DENIED') return false;
  return (outcome.error.details as { words?: string } | undefined)?.words === undefined;
}

/** The model has nothing to say after its work, which some providers end that way, asked twice. */
const isSilentEnd = (error: ErrorInfo | undefined, { messages }: LoopConversation): boolean =>
  error?.reason === 'empty' && messages.at(-1)?.role === 'tool';

function failed(error: ErrorInfo | undefined): StopPoint {
  const told = error ?? { code: 'UNKNOWN', ...toErrorInfo(message('The model call failed without a reason.')) };
  const rests = told.code === 'LLM_RATE_LIMITED' || isOverLimit(told);
  return { phase: rests ? 'WaitingUser' : 'Failed', error: told };
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

/** Tells the model that its call was not run: such an answer would otherwise end the run as a success. */
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
