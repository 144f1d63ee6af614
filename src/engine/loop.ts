import type { LlmAdapter } from '../llm/adapter.ts';
import type { ChatRequest, ChatStreamChunk } from '../llm/client.ts';
import { type AssistantMessage, type ErrorInfo, type ToolCall, userMessage } from '../protocol/messages.ts';
import type { RunPhase } from '../protocol/run.ts';
import { type ToolOutcome, toToolResult } from '../protocol/tools.ts';
import { Calls } from './calls.ts';
import { history } from './composer.ts';
import { RepeatGuard } from './guard.ts';
import type { RunLog } from './log.ts';

/** Where the loop hands back to the person. */
export interface StopPoint {
  phase: Exclude<RunPhase, 'Running'>;
  error?: ErrorInfo;
}

export interface Turns {
  log: RunLog;
  adapter: LlmAdapter;
  /** The part of every request that stays the same. */
  prefix: Omit<ChatRequest, 'messages'>;
  isFree(call: ToolCall): boolean;
  /** @param following the calls of the same reply that are asked about and come after it */
  execute(call: ToolCall, following: readonly ToolCall[]): Promise<ToolOutcome>;
  /** Asked at a reply without tool calls. */
  isComplete(): boolean;
  maxTurns: number;
  signal: AbortSignal;
}

/** The reason a run's signal is aborted with: where the loop is to hand back. */
export class Stopped extends Error {
  constructor(readonly point: StopPoint) {
    super(point.error?.message);
  }

  static byPerson = (): Stopped =>
    new Stopped({ phase: 'Failed', error: { code: 'ENGINE_ABORTED', message: 'Stopped.' } });

  static byClosing = (): Stopped =>
    new Stopped({ phase: 'WaitingUser', error: { code: 'ENGINE_ABORTED', message: closedMessage } });
}

export const closedMessage =
  'The editor closed while this run was at work. Nothing was lost; what had not been answered did not run.';

/** Model call, tool calls, results, and again, until there is a stop point. Rejects only with a `StoreError`. */
export async function runTurns(turns: Turns): Promise<StopPoint> {
  const { log, adapter, signal } = turns;
  const guard = new RepeatGuard();
  let allDenied = false;
  for (let turn = 0; turn < turns.maxTurns; turn++) {
    for (const { text, attachments } of [...log.run.queued])
      await log.emit({ type: 'message', message: userMessage(text, attachments) });
    if (signal.aborted) return stopPointOf(signal);

    const calls = new Calls(callIds(log), turns.isFree, turns.execute);
    const warnings = new Set<string>();
    const startedAt = performance.now();
    const reply = await adapter.complete(
      { ...turns.prefix, messages: history(log.run.messages) },
      {
        signal,
        onChunk: (chunk) => {
          show(log, chunk);
          if (chunk.toolCall) calls.notice(chunk.toolCall);
          if (chunk.warning) warnings.add(chunk.warning);
        },
        onRetry: ({ until, error }) =>
          void log.emit({ type: 'progress', text: `${error.message} Trying again.`, until }),
        onWait: ({ until }) =>
          void log.emit({ type: 'progress', text: 'Waiting for a place within the rate limit.', until }),
      },
    );
    if (reply.usage) {
      const ms = Math.round(performance.now() - startedAt);
      const model = reply.model ?? turns.prefix.model;
      await log.emit({ type: 'usage', usage: reply.usage, attempts: reply.attempts, model, ms });
    }

    const whole = reply.success && reply.finishReason !== 'length' && !signal.aborted;
    const running = whole ? calls.runAll(reply.message?.toolCalls ?? []) : calls.runBegun();
    const asked = running.map(({ call }) => call);
    await appendReply(log, reply.message, { whole, calls: asked, warnings: [...warnings] });
    const outcomes: ToolOutcome[] = [];
    for (const { call, outcome } of running) {
      const told = guard.note(call, await outcome);
      outcomes.push(told);
      await log.emit({
        type: 'message',
        message: { role: 'tool', content: '', toolResults: [toToolResult(call.id, told)] },
      });
    }

    if (signal.aborted) return stopPointOf(signal);
    if (!whole) return reply.success ? cutByLength : failed(reply.error);
    if (guard.repeated) return looping(guard.repeated);
    const deniedBefore = allDenied;
    allDenied = outcomes.length > 0 && outcomes.every(isDenial);
    if (allDenied && deniedBefore) return { phase: 'WaitingUser' }; // told once, asked again, denied again: the person's turn
    if (running.length === 0 && log.run.queued.length === 0)
      return { phase: turns.isComplete() ? 'Completed' : 'WaitingUser' };
  }
  return {
    phase: 'Failed',
    error: {
      code: 'ENGINE_MAX_TURNS_EXCEEDED',
      message: `The limit of ${turns.maxTurns} turns is reached. Continue if the work should go on.`,
    },
  };
}

/** What was shown stays: a reply that broke off is kept with the calls that had begun, and nothing else of it is run. */
async function appendReply(
  log: RunLog,
  message: AssistantMessage | undefined,
  { whole, calls, warnings }: { whole: boolean; calls: ToolCall[]; warnings: string[] },
): Promise<void> {
  const { toolCalls: _, ...said } = message ?? { role: 'assistant' as const, content: '' };
  if (!whole && !said.content && !said.thinking && calls.length === 0) return;
  const incomplete = whole ? {} : { incomplete: true };
  const toolCalls = calls.length > 0 ? { toolCalls: calls } : {};
  const warned = warnings.length > 0 ? { warnings } : {};
  await log.emit({ type: 'message', message: { ...said, ...toolCalls, ...incomplete, ...warned } });
}

function show(log: RunLog, chunk: ChatStreamChunk): void {
  const { content, thinking, toolCallDelta: delta } = chunk;
  if (chunk.progress) void log.emit({ type: 'progress', ...chunk.progress });
  if (content || thinking) void log.emit({ type: 'chunk', content, thinking });
  if (delta) {
    const { index, name, argumentsText } = delta;
    void log.emit({ type: 'chunk', toolCall: { index, name, argumentsText } });
  }
}

function callIds(log: RunLog): Set<string> {
  const calls = log.run.messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []));
  return new Set(calls.map((call) => call.id));
}

/** A no without words; with words the model has something to go on. */
function isDenial(outcome: ToolOutcome): boolean {
  if (outcome.ok || outcome.error.code !== 'TOOL_DENIED') return false;
  return (outcome.error.details as { words?: string } | undefined)?.words === undefined;
}

const stopPointOf = (signal: AbortSignal): StopPoint => (signal.reason as Stopped).point;

function failed(error: ErrorInfo | undefined): StopPoint {
  const told = error ?? { code: 'UNKNOWN', message: 'The model call failed without saying why.' };
  return { phase: told.code === 'LLM_RATE_LIMITED' ? 'WaitingUser' : 'Failed', error: told };
}

const cutByLength: StopPoint = {
  phase: 'WaitingUser',
  error: {
    code: 'LLM_INCOMPLETE',
    message: 'The answer reached its length limit and is cut off. Continue to let it go on.',
  },
};

const looping = (what: string): StopPoint => ({
  phase: 'WaitingUser',
  error: {
    code: 'ENGINE_LOOP_DETECTED',
    message: `The model keeps repeating calls that fail (${what}). Tell it what to do differently, or continue.`,
  },
});
