import type { Message, ToolCall } from '../../src/protocol/content/messages.ts';
import { planTool } from '../../src/protocol/run/plan.ts';
import type { CallState, Run } from '../../src/protocol/run/run.ts';
import { understoodCall } from '../../src/protocol/run/understoodArguments.ts';
import { t } from '../../src/protocol/text/l10n.ts';
import type { CardMark } from './cardLine.ts';
import { toolTextFor } from './toolText.ts';

/** Calls that only read, with no words between them, across replies. */
export interface FoldState {
  /** The id of the first call: the same as long as the fold grows. */
  key: string;
  /** The message in which it begins. */
  at: number;
  /** In order, by message. */
  items: { at: number; calls: ToolCall[] }[];
  calls: ToolCall[];
}

/** What is drawn of a reply's calls: cards, and folds that begin among them. What it reads into an earlier fold is drawn there. */
interface FoldedCalls {
  parts: (ToolCall | FoldState)[];
  /** It is within a fold that began before: nothing of it is drawn where it stands. */
  within: boolean;
}

/** The folds of a run. What has settled is not looked at again: a look costs what is new, however long the run is. */
export class Folding {
  private run: Run | undefined;
  private seen = '';
  private readonly folded = new Map<number, FoldedCalls>();
  /** The fold that a message goes on with. */
  private readonly before = new Map<number, FoldState>();
  private restart = 0;
  /** The one at the end of the run, that may grow. */
  newest: FoldState | undefined;

  /** What is drawn of the calls of a message. `parts` of what it has none of is empty. */
  at(place: number): FoldedCalls {
    return this.folded.get(place) ?? { parts: [], within: false };
  }

  /** The folds that have calls of a message. */
  of(place: number): FoldState[] {
    const begun = this.at(place).parts.flatMap((part) => ('calls' in part ? [part] : []));
    const before = this.before.get(place);
    return before ? [before, ...begun] : begun;
  }

  /** Looks at what is new. @param parted something is drawn before the message at this place */
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
    let open: FoldState | undefined;
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

  /** Gives the fold that is open behind the message. */
  private take(run: Run, at: number, before: FoldState | undefined): FoldState | undefined {
    const message = run.messages[at]!;
    if (message.role === 'tool') return before;
    if (message.role !== 'assistant') return undefined;
    const calls = (message.toolCalls ?? []).filter((call) => !isPlan(call));
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

/** It has no card: the plan says it. */
export const isPlan = ({ name }: Pick<ToolCall, 'name'>): boolean => name === planTool;

/** Of a reply that is being written there is nothing to be seen yet. */
export const saysNothing = ({ content, thinking, calls }: NonNullable<Run['live']>): boolean =>
  content.trim() === '' && thinking === '' && calls.every(isPlan);

const hasEnding = (message: Message): boolean =>
  message.role === 'assistant' && Boolean(message.incomplete || message.warnings?.length);

const notRead = new Set(['TOOL_DENIED', 'TOOL_NOT_RUN', 'TOOL_INTERRUPTED']);

/** It only reads, nobody was asked about it, and it was let read: whether it could does not matter. */
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
  mark: CardMark;
}

/** `Read 13 files, searched twice`. */
export function foldText(run: Run, calls: readonly ToolCall[]): FoldText {
  const byTool = grouped(calls);
  const told = [...byTool].map(([name, some]) => {
    const places = new Set(
      some.map((call) => {
        const { path, id } = understoodCall(call, run.calls[call.id]).arguments;
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
    // A model recovers from some failed reads: they are noted, the work has not failed.
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
