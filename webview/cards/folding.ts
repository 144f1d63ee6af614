import type { Message, ToolCall } from '../../src/protocol/content/messages.ts';
import { planToolName } from '../../src/protocol/run/plan.ts';
import type { CallState, Run } from '../../src/protocol/run/run.ts';
import { callWithCorrectedArguments } from '../../src/protocol/run/understoodArguments.ts';
import { t } from '../../src/protocol/text/l10n.ts';
import type { CardStatusIcon } from './cardLine.ts';
import { toolTextFor } from './toolText.ts';

/**
 * Consecutive read-only calls across replies without text in between. `key`: id of the first call, stable while the fold grows. `at`: index
 * of its first message.
 */
export interface CallFold {
  key: string;
  at: number;
  items: { at: number; calls: ToolCall[] }[];
  calls: ToolCall[];
}

/** Rendered parts of a reply's calls. `within`: the calls belong to a fold of an earlier message and are rendered there. */
interface FoldedCalls {
  parts: (ToolCall | CallFold)[];
  within: boolean;
}

/** Folds of a run. Settled messages are not examined again, so that an update costs only its new messages. */
export class RunCallFolds {
  private run: Run | undefined;
  private seen = '';
  private readonly folded = new Map<number, FoldedCalls>();
  private readonly before = new Map<number, CallFold>();
  private restart = 0;
  newest: CallFold | undefined;

  at(place: number): FoldedCalls {
    return this.folded.get(place) ?? { parts: [], within: false };
  }

  of(place: number): CallFold[] {
    const begun = this.at(place).parts.flatMap((part) => ('calls' in part ? [part] : []));
    const before = this.before.get(place);
    return before ? [before, ...begun] : begun;
  }

  /**
   * Processes new messages.
   *
   * @param parted tells whether something is rendered before the message at this index
   */
  look(run: Run, parted: (place: number) => boolean): void {
    const isOther = run !== this.run;
    const seen = `${run.seq}:${run.phase}:${run.messages.length}`;
    if (!isOther && seen === this.seen) return;
    this.run = run;
    this.seen = seen;
    if (isOther) {
      this.folded.clear();
      this.before.clear();
      this.restart = 0;
    }
    let open: CallFold | undefined;
    for (let at = this.restart; at < run.messages.length; at++) {
      this.before.delete(at);
      open = this.take(run, at, parted(at) ? undefined : open);
    }
    this.newest = open;
    const last = run.messages.findLastIndex(({ role }) => role === 'assistant');
    let from = open?.at ?? Math.max(0, last);
    if (last >= 0) from = Math.min(from, last);
    while (this.before.has(from)) from = this.before.get(from)!.at;
    this.restart = from;
  }

  private take(run: Run, at: number, before: CallFold | undefined): CallFold | undefined {
    const message = run.messages[at]!;
    if (message.role === 'tool') return before;
    if (message.role !== 'assistant') return undefined;
    const calls = (message.toolCalls ?? []).filter((call) => !isPlanCall(call));
    const isSilent = message.content.trim() === '' && !(calls.length === 0 && message.thinking);
    let open = isSilent && (calls.length === 0 || isFolded(run, calls[0]!)) ? before : undefined;
    if (open) this.before.set(at, open);
    const within = open !== undefined && calls.length > 0;
    const parts: FoldedCalls['parts'] = [];
    if (within) open!.items.push({ at, calls: [] });
    for (const call of calls) {
      if (!isFolded(run, call)) {
        open = undefined;
        parts.push(call);
        continue;
      }
      if (!open) {
        open = { key: call.id, at, items: [{ at, calls: [] }], calls: [] };
        parts.push(open);
      }
      open.items.at(-1)!.calls.push(call);
      open.calls.push(call);
    }
    this.folded.set(at, { parts, within });
    return hasEnding(message) ? undefined : open;
  }
}

/** Plan calls, which have no card. */
export const isPlanCall = ({ name }: Pick<ToolCall, 'name'>): boolean => name === planToolName;

export const isEmptyLiveReply = ({ content, thinking, calls }: NonNullable<Run['live']>): boolean =>
  content.trim() === '' && thinking === '' && calls.every(isPlanCall);

const hasEnding = (message: Message): boolean =>
  message.role === 'assistant' && Boolean(message.incomplete || message.warnings?.length);

const notRead = new Set(['TOOL_DENIED', 'TOOL_NOT_RUN', 'TOOL_INTERRUPTED']);

/** True for a read-only call that ran without an approval request, successfully or not. */
function isFolded(run: Run, call: ToolCall): boolean {
  if (!toolTextFor(call.name).many) return false;
  const state: CallState | undefined = run.calls[call.id];
  if (state === undefined) return run.phase === 'Running';
  const { status, decision, automatic, code, ok } = state;
  if (status === 'asking' || (decision !== undefined && automatic === undefined) || decision === 'deny') return false;
  if (ok === undefined && run.phase !== 'Running') return false;
  return code === undefined || !notRead.has(code);
}

interface FoldText {
  words: string;
  failed: number;
  mark: CardStatusIcon;
}

export function callFoldText(run: Run, calls: readonly ToolCall[]): FoldText {
  const byTool = grouped(calls);
  const told = [...byTool].map(([name, some]) => {
    const places = new Set(
      some.map((call) => {
        const { path, id } = callWithCorrectedArguments(call, run.calls[call.id]).arguments;
        return typeof path === 'string' ? path : String(id ?? '.');
      }),
    );
    return toolTextFor(name).many!(some.length, places.size);
  });
  const words = told.map((one) => t(one)).join(', ');
  const states = calls.map(({ id }) => run.calls[id]);
  const failed = states.filter((state) => state?.ok === false).length;
  const isWorking = run.phase === 'Running' && states.some((state) => state?.ok === undefined);
  return {
    words: `${words[0]!.toUpperCase()}${words.slice(1)}`,
    failed,
    // A model recovers from failed reads: the failures are marked, the fold has not failed.
    mark: isWorking ? 'working' : failed === 0 ? 'check' : failed < calls.length ? 'dot' : 'cross',
  };
}

function grouped(calls: readonly ToolCall[]): Map<string, ToolCall[]> {
  const groups = new Map<string, ToolCall[]>();
  for (const call of calls) {
    const group = groups.get(call.name);
    if (group) group.push(call);
    else groups.set(call.name, [call]);
  }
  return groups;
}
