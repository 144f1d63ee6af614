// @invariant record-before-effect: A call with effects starts only after its reply and its `tool-start` are on disk.
import { randomUUID } from 'node:crypto';
import { truncateToolCall } from '../../llm/core/truncate.ts';
import { isUnansweredQuestion } from '../../protocol/content/askTool.ts';
import type { ToolCall } from '../../protocol/content/messages.ts';
import { failedToolOutcome, outcomeDetails, type ToolOutcome } from '../../protocol/content/tools.ts';
import { createConcurrencyLimiter } from '../../protocol/values/concurrency.ts';
import { skippedCallOutcome } from '../input/messageQueue.ts';

/** Maximum characters in the arguments of a call, above the limit of any tool. */
const maxArgumentCharacters = 5_100_000;
const storedArgumentCharacters = 2000;

/** Maximum calls per reply. Every wire passes all calls on; only this limit refuses the rest. */
const callLimit = 64;
const parallelReads = 8;

interface Running {
  call: ToolCall;
  outcome: Promise<ToolOutcome>;
  beyond?: true;
}

/**
 * `isKnown`: the id exists in the run; duplicate provider ids are replaced. `runsBeside`: the call is not free, and runs beside others of its
 * kind.
 */
interface ToolCallRunnerOptions {
  isKnown(id: string): boolean;
  isFree(call: ToolCall): boolean;
  runsBeside?(call: ToolCall): boolean;
  execute(call: ToolCall, following: readonly ToolCall[]): Promise<ToolOutcome>;
  isInterrupted?(call: ToolCall): boolean;
}

/**
 * Runs the calls of one reply. Reads start in parallel as soon as they are complete in the stream. A call with effects waits for the
 * complete reply and all earlier calls; a read after a change waits for the change. Tasks wait for earlier changes and run side by side.
 */
export class ToolCallRunner {
  private readonly noticed: ToolCall[] = [];
  private readonly started = new Map<ToolCall, Running>();
  private changeSeen = false;
  private readonly limitReads = createConcurrencyLimiter(parallelReads, true);
  private readonly oversized = new Set<ToolCall>();

  constructor(private readonly options: ToolCallRunnerOptions) {}

  notice(proposed: ToolCall): void {
    const call = this.name(proposed);
    if (!this.options.isFree(call)) this.changeSeen = true;
    else if (!this.changeSeen && this.noticed.length <= callLimit) this.start(call, this.read(call));
  }

  get begun(): ToolCall[] {
    return this.noticed.filter((call) => this.started.has(call));
  }

  named(proposed: readonly ToolCall[]): ToolCall[] {
    return proposed.map((call, index) => this.noticed[index] ?? this.name(call));
  }

  runAll(calls: readonly ToolCall[]): Running[] {
    let change: Promise<ToolOutcome | undefined> = Promise.resolve(undefined);
    const before: Promise<ToolOutcome>[] = [];
    return calls.map((call, index) => {
      if (index >= callLimit) return { call, outcome: Promise.resolve(tooMany), beyond: true };
      const following = calls
        .slice(index + 1, callLimit)
        .filter((one) => !this.options.isFree(one) && !this.options.runsBeside?.(one));
      const running = this.started.get(call) ?? this.start(call, this.later(call, change, [...before], following));
      if (!this.options.isFree(call) && !this.options.runsBeside?.(call)) change = running.outcome;
      before.push(running.outcome);
      return running;
    });
  }

  runBegun(): Running[] {
    return this.begun.map((call) => this.started.get(call)!);
  }

  private async later(
    call: ToolCall,
    change: Promise<ToolOutcome | undefined>,
    before: Promise<ToolOutcome>[],
    following: readonly ToolCall[],
  ) {
    const isFree = this.options.isFree(call);
    const outcomes = isFree || this.options.runsBeside?.(call) ? [await change] : await Promise.all(before); // each call sees the effects of the calls before
    const open = outcomes.find((outcome) => outcome && isUnansweredQuestion(outcome));
    if (open) return open; // not its turn yet
    if (this.options.isInterrupted?.(call)) return skippedCallOutcome;
    if (this.oversized.has(call)) return tooLong;
    return isFree ? this.read(call) : this.options.execute(call, following);
  }

  private read(call: ToolCall): Promise<ToolOutcome> {
    return this.limitReads(async () => {
      if (this.options.isInterrupted?.(call)) return skippedCallOutcome;
      return this.oversized.has(call) ? tooLong : this.options.execute(call, []);
    });
  }

  private start(call: ToolCall, outcome: Promise<ToolOutcome>): Running {
    const running = { call, outcome };
    this.started.set(call, running);
    return running;
  }

  private name(proposed: ToolCall): ToolCall {
    const taken = this.options.isKnown(proposed.id) || this.noticed.some((call) => call.id === proposed.id);
    const usable = /^[\w.:|-]{1,128}$/.test(proposed.id) && !(proposed.id in {}) && !taken;
    const named = usable ? proposed : { ...proposed, id: `call_${randomUUID()}` };
    const isOversized = charactersIn(named.arguments) + (named.malformed?.length ?? 0) > maxArgumentCharacters;
    const call = isOversized ? truncateToolCall(named, storedArgumentCharacters) : named;
    if (isOversized) this.oversized.add(call);
    this.noticed.push(call);
    return call;
  }
}

const tooLong = failedToolOutcome(
  'TOOL_ARGS_INVALID',
  `The arguments are longer than ${maxArgumentCharacters.toLocaleString('en')} characters. They were not stored, and nothing was run. Send them in parts.`,
);

function charactersIn(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, one) => sum + charactersIn(one), 0);
}

const tooMany = failedToolOutcome(
  'TOOL_DENIED',
  `Too many calls in one answer: only the first ${callLimit} are looked at. This one did not run, and nobody was asked about it; ask again for what is still needed.`,
  outcomeDetails('TOO_MANY_CALLS'),
);
