import type { ErrorInfo } from '../../src/protocol/content/messages.ts';
import type { WorkStats } from '../../src/protocol/content/workStats.ts';
import type { ViewMessage } from '../../src/protocol/panel/panelMessages.ts';
import { linksOfEarlierVersionMessage } from '../../src/protocol/run/formerText.ts';
import {
  interruptedWork,
  interruptionMessage,
  nodeWithUndeliveredOutcome,
} from '../../src/protocol/run/interruptions.ts';
import { localizedDollars } from '../../src/protocol/run/money.ts';
import { pendingApprovalIds } from '../../src/protocol/run/pending.ts';
import { isPlanReadyToImplement, planItemsOfRun } from '../../src/protocol/run/plan.ts';
import { hasUnfinishedTurn, isBetweenTurns, isRunHeldByDenial } from '../../src/protocol/run/resumable.ts';
import {
  callsInStartOrder,
  commandEndMessageForUser,
  hasCommandFailed,
  type Run,
  standingFiles,
  unreportedCommandEnds,
} from '../../src/protocol/run/run.ts';
import { openTasks } from '../../src/protocol/run/tasks.ts';
import type { ErrorReason, RepeatedCallDetails, RunEndErrorCode } from '../../src/protocol/text/codes.ts';
import { errorMessageForUser } from '../../src/protocol/text/codeText.ts';
import { escapeInvisible, escapeInvisibleInLine } from '../../src/protocol/text/escapeInvisible.ts';
import { type LocalizedMessage, localizedCount, message, t } from '../../src/protocol/text/l10n.ts';
import { readOnlyReasonMessages } from '../../src/protocol/text/readOnlyReason.ts';
import { shortenText, truncateWithEllipsis } from '../../src/protocol/text/shorten.ts';
import { toolCallTargetText } from '../cards/cardLine.ts';
import { formatLocalNumber } from '../cards/cardText.ts';
import { formatClockTime, formatCount, formatElapsedTime } from '../time.ts';

/** End or rest of a run: a sentence with actions, the mentioned action first. */
export interface RunEndNotice {
  tone: 'error' | 'warning' | '';
  says: string;
  ways: readonly RunEndAction[];
  toolCallId?: string;
  setting?: string;
  /** Text of a network error, unfolded by *Details*. */
  details?: string;
  /** Labels that replace button names; such buttons are never primary. */
  labels?: Partial<Record<RunEndAction, string>>;
}

/**
 * Actions of the buttons. `say` focuses the message box; `review` opens the changes of the run in one editor; `do-plan` includes the draft.
 * *Another* adds the amount of the limit, with a confirmation by the host.
 */
export const runEndActions = {
  Continue: { type: 'continue' },
  Retry: { type: 'continue' },
  'Retry With…': { type: 'action', action: 'try-another-model' },
  'Pick Model': { type: 'action', action: 'try-another-model' },
  'Set API Key': { type: 'action', action: 'set-key' },
  'Set Secret…': { type: 'action', action: 'set-secret' },
  'Delete API Key': { type: 'action', action: 'forget-key' },
  'Connect to a Provider…': { type: 'action', action: 'use-endpoint' },
  'Manage Models…': { type: 'action', action: 'manage-models' },
  'Add GPU Engine…': { type: 'action', action: 'add-gpu-engine' },
  Another: { type: 'action', action: 'raise-limit' },
  'Continue After…': { type: 'action', action: 'continue-after' },
  'Run Again': { type: 'action', action: 'run-again' },
  'Take Over': { type: 'action', action: 'take-over' },
  'Manage Trust': { type: 'action', action: 'manage-trust' },
  Settings: { type: 'action', action: 'open-settings' },
  'Show Log': { type: 'action', action: 'show-log' },
  'Manage Storage…': { type: 'action', action: 'manage-storage' },
  'New Run': { type: 'new-run' },
  'New Run with Summary': { type: 'new-run', summary: true },
  'Change Instructions': 'say',
  Details: 'output',
  Review: 'review',
  'Implement Plan': 'do-plan',
  'Implement Plan in New Run': { type: 'do-plan', apart: true },
} as const satisfies Record<string, ViewMessage | 'say' | 'output' | 'review' | 'do-plan'>;
export type RunEndAction = keyof typeof runEndActions;

export const runEndActionsByCommand: Readonly<Record<string, RunEndAction>> = {
  'towpath.setKey': 'Set API Key',
  'towpath.setSecret': 'Set Secret…',
  'towpath.deleteKey': 'Delete API Key',
  'towpath.useEndpoint': 'Connect to a Provider…',
  'towpath.pickModel': 'Pick Model',
  'towpath.manageModels': 'Manage Models…',
  'towpath.addGpuEngine': 'Add GPU Engine…',
  'towpath.showLog': 'Show Log',
};

interface Kind extends Pick<RunEndNotice, 'tone' | 'ways'> {
  says?(run: Run, error: ErrorInfo): string;
}

const again = ['Retry', 'Retry With…'] as const;

/** Exhaustive by code: a new code does not compile without actions. */
export const runEndPresentationsByErrorCode: Record<RunEndErrorCode, Kind> = {
  LLM_AUTH_FAILED: { tone: 'error', ways: again },
  LLM_TIMEOUT: { tone: 'error', ways: again },
  LLM_RATE_LIMITED: { tone: 'warning', ways: again },
  LLM_HTTP_ERROR: { tone: 'error', ways: again },
  LLM_BAD_RESPONSE: { tone: 'error', ways: again },
  LLM_INCOMPLETE: { tone: 'error', ways: again },
  LLM_CONTEXT_OVERFLOW: {
    tone: 'warning',
    ways: ['New Run with Summary', 'Pick Model'],
    says: (run, error) => [errorMessageForUser(error), ...fillingWords(run)].join(' '),
  },
  LLM_CONTENT_FILTERED: { tone: '', ways: ['Retry With…'] },
  UNKNOWN: { tone: 'error', ways: again },
  STORE_FULL: { tone: 'error', ways: ['Manage Storage…', 'Retry'] },
  STORE_READONLY: { tone: 'error', ways: ['Retry'] },
  STORE_LOCKED: { tone: 'warning', ways: ['Take Over'] },
  STORE_DAMAGED: { tone: 'error', ways: ['New Run'] },
  STORE_FAILED: { tone: 'error', ways: ['Continue'] },
  STORE_AUDIT: { tone: 'error', ways: ['Settings', 'Retry'] },
  ENGINE_RUN_NOT_FOUND: { tone: 'warning', ways: ['New Run'] },
  ENGINE_RUN_EXISTS: { tone: 'warning', ways: ['Continue', 'New Run'] },
  ENGINE_ABORTED: { tone: '', ways: ['Continue'], says: (run, error) => withPlan(run, errorMessageForUser(error)) },
  ENGINE_BUSY: { tone: '', ways: [] },
  ENGINE_NOT_ASKED: { tone: '', ways: ['Continue'] },
  ENGINE_MAX_TURNS_EXCEEDED: {
    tone: 'warning',
    ways: ['Continue'],
    says: ({ took }, error) => (took ? limitSentence(took) : errorMessageForUser(error)),
  },
  ENGINE_LOOP_DETECTED: {
    tone: 'warning',
    ways: ['Change Instructions', 'Continue', 'Retry With…'],
    says: (_, { details }) => repeatedWords(details),
  },
  WORKFLOW_LIMIT_REACHED: { tone: 'warning', ways: ['Continue'] },
  LIMIT_RUN_REACHED: { tone: 'warning', ways: ['Another', 'Pick Model'] },
  LIMIT_DAY_REACHED: { tone: 'warning', ways: ['Another', 'Pick Model'] },
  LIMIT_UNREADABLE: { tone: 'warning', ways: ['Settings', 'Continue'] },
  LIMIT_DAY_UNKNOWN: { tone: 'warning', ways: ['Continue', 'Settings'] },
  WORKFLOW_NOT_FOUND: { tone: 'error', ways: ['Retry', 'New Run'] },
  WORKFLOW_INVALID: { tone: 'error', ways: ['Retry', 'New Run'] },
  WORKFLOW_UNTRUSTED: { tone: 'warning', ways: ['Manage Trust', 'Retry'] },
};

/** Actions for reasons that refine a code. */
export const runEndPresentationsByReason: Record<ErrorReason, Kind> = {
  cut: { tone: '', ways: ['Continue'] },
  empty: { tone: '', ways: ['Retry With…', 'Retry'] },
  'no-credit': { tone: 'error', ways: ['Pick Model', 'Retry'] },
  'other-model': { tone: 'error', ways: ['Pick Model', 'Retry'] },
  'no-model': { tone: 'warning', ways: ['Pick Model'] },
  'unusable-model': { tone: 'error', ways: ['Pick Model', 'Retry'] },
  unreachable: { tone: 'error', ways: ['Retry', 'Settings', 'Retry With…'] },
  'local-ended': { tone: 'error', ways: ['Continue', 'Show Log', 'Retry With…'] },
};

/** Code of a node's tool: retry. */
const ofNode: Kind = { tone: 'error', ways: ['Retry'] };
/** Code of another version. */
const unknown: Kind = { tone: 'error', ways: ['Retry'] };

/** End text of a run; undefined while running, while an answer is pending, or without anything to report. */
export function runEndNotice(run: Run): RunEndNotice | undefined {
  if (run.readOnly) return { tone: 'warning', says: t(readOnlyReasonMessages[run.readOnly]), ways: [] };
  if (run.phase === 'Running') return undefined;
  const { error } = run;
  if (pendingApprovalIds(run).length > 0 && (!error || error.code === 'ENGINE_ABORTED')) return undefined;
  if (isRunHeldByDenial(run) && (!error || error.code === 'ENGINE_ABORTED')) return undefined;
  if (run.asking?.length && (!error || error.code === 'ENGINE_ABORTED')) return undefined;
  const interrupted = interruptedEnd(run);
  if (interrupted) return interrupted;
  if (error) return ofError(run, error);
  const died = unreportedCommandEnds(run).find(([, { ended }]) => hasCommandFailed(ended));
  if (died) return diedEnd(...died);
  if (run.phase === 'Completed') return receipt(run); // a finished workflow, with or without an answer
  if (isBetweenTurns(run) || openTasks(run).length > 0)
    return { tone: '', says: withPlan(run, t('Paused.')), ways: ['Continue'] };
  if (hasUnfinishedTurn(run)) return { tone: '', says: t('Interrupted before it was done.'), ways: ['Continue'] };
  if (isPlanReadyToImplement(run))
    return { tone: '', says: t(planned), ways: ['Implement Plan', 'Implement Plan in New Run'] };
  return receipt(run);
}

function interruptedEnd(run: Run): RunEndNotice | undefined {
  if (run.error && run.error.code !== 'ENGINE_ABORTED' && run.error.code !== 'TOOL_INTERRUPTED') return undefined;
  const [work] = interruptedWork(run);
  if (!work) {
    const finished = run.error && nodeWithUndeliveredOutcome(run);
    if (!finished) return undefined;
    return {
      tone: '',
      says: t('“{0}” finished before the window closed.', escapeInvisibleInLine(finished)),
      ways: ['Continue'],
    };
  }
  const name = truncateWithEllipsis(work.label, 24);
  return {
    tone: 'warning',
    says: t(interruptionMessage({ ...work, label: truncateWithEllipsis(work.label, 80) }, formatClockTime(work.at))),
    ways: ['Continue After…', 'Run Again'],
    labels: work.items
      ? { 'Continue After…': t('Continue After Them…'), 'Run Again': t('Run Them Again') }
      : { 'Continue After…': t('Continue After “{0}”…', name), 'Run Again': t('Run “{0}” Again', name) },
  };
}

const planned = 'The plan is ready. Implement it, or describe what should be different.';

function ofError(run: Run, error: ErrorInfo): RunEndNotice {
  const kind = kindOf(run, error);
  const says = kind.says?.(run, error) ?? errorMessageForUser(error);
  const { commands = [], setting } = error.links ?? linksOfEarlierVersionMessage(error.message);
  const ways: RunEndAction[] = [...commands.flatMap((command) => runEndActionsByCommand[command] ?? []), ...kind.ways];
  const isFirst = (way: RunEndAction, place: number) => ways.findIndex((other) => doTheSame(other, way)) === place;
  const details = detailsOf(error);
  return {
    tone: kind.tone,
    says,
    ways: ways.filter(isFirst),
    ...(setting && { setting }),
    ...(details && { details }),
  };
}

function detailsOf({ details }: ErrorInfo): string | undefined {
  const { text } = Object(details) as { text?: unknown };
  return typeof text === 'string' && text !== '' ? escapeInvisible(text) : undefined;
}

const doTheSame = (one: RunEndAction, other: RunEndAction): boolean =>
  JSON.stringify(runEndActions[one]) === JSON.stringify(runEndActions[other]);

function kindOf(run: Run, { code, reason }: ErrorInfo): Kind {
  const kind =
    runEndPresentationsByReason[reason as ErrorReason] ?? runEndPresentationsByErrorCode[code as RunEndErrorCode];
  if (kind) return kind;
  return run.graph && run.graph.main.at.length > 0 ? ofNode : unknown;
}

/** Displayed sentence about a failed background command, with actions. The model is told of the failure at the next turn. */
function diedEnd(
  toolCallId: string,
  { command, ended }: ReturnType<typeof unreportedCommandEnds>[number][1],
): RunEndNotice {
  const name = escapeInvisibleInLine(shortenText(command.line, 60));
  const ways: RunEndAction[] = ended.outputId ? ['Continue', 'Details'] : ['Continue'];
  return {
    tone: 'warning',
    says: t('In the background, “{0}” {1}.', name, commandEndMessageForUser(ended)),
    ways,
    toolCallId,
  };
}

/** Summary of changes and commands; undefined for text only. */
function receipt(run: Run): RunEndNotice | undefined {
  const { work } = run;
  if (!work?.ended) return undefined;
  const since = callsInStartOrder(run).filter(([, { startedAt = 0 }]) => startedAt >= work.began);
  const calls = since.map(([, state]) => state);
  const files = new Set(calls.flatMap(standingFiles)).size;
  const standing = new Set(since.flatMap(([id, state]) => (standingFiles(state).length > 0 ? [id] : [])));
  const commands = calls.filter(({ command, step }) => command && !step).length;
  if (files + commands === 0) return undefined;
  const cost = (run.usage.cost ?? 0) - work.costBefore;
  const parts = [
    t('Done'),
    ...(files > 0 ? [t(localizedCount(files, 'file')) + linesOf(run, standing)] : []),
    ...(commands > 0 ? [t(localizedCount(commands, 'command'))] : []),
    ...(cost > 0 ? [t(localizedDollars(cost))] : []),
    formatElapsedTime(work.ended - work.began),
  ];
  return { tone: '', says: parts.join(' · '), ways: files > 0 ? ['Review'] : [] };
}

function linesOf({ messages, calls }: Run, ids: ReadonlySet<string>): string {
  const sum = { added: 0, removed: 0 };
  for (const id of ids) {
    sum.added += calls[id]?.lines?.added ?? 0;
    sum.removed += calls[id]?.lines?.removed ?? 0;
  }
  let left = ids.size;
  for (let at = messages.length - 1; at >= 0 && left > 0; at--) {
    const message = messages[at]!;
    for (const { toolCallId, content } of message.role === 'tool' ? message.toolResults : []) {
      if (!ids.has(toolCallId)) continue;
      left--;
      const { added, removed } = dataOf(content);
      if (typeof added === 'number') sum.added += added;
      if (typeof removed === 'number') sum.removed += removed;
    }
  }
  return sum.added + sum.removed === 0 ? '' : ` ${linesWords(sum.added, sum.removed)}`;
}

/** An imported run may contain anything. */
function dataOf(content: string): { added?: unknown; removed?: unknown } {
  try {
    return Object(Object(JSON.parse(content)).data);
  } catch {
    return {};
  }
}

const linesWords = (added: number, removed: number): string =>
  `+${formatLocalNumber(added)} −${formatLocalNumber(removed)}`;

function withPlan(run: Run, words: string): string {
  const items = planItemsOfRun(run);
  const left = items.filter(({ status }) => status !== 'done').length;
  if (left === 0) return words;
  return `${words.replace(/\.$/, '')} · ${t('{0} of {1} of the plan left', left, items.length)}`;
}

function limitSentence({ turns, cost, files, tokens }: WorkStats): string {
  const usage = [
    ...(cost ? [t(localizedDollars(cost))] : []),
    ...(files > 0 ? [t(localizedCount(files, 'file'))] : []),
    ...(tokens > 0 ? [t('{0} tokens', formatCount(tokens))] : []),
  ];
  return [t('Stopped at the limit of {0}', t(localizedCount(turns, 'step'))), ...usage.slice(0, 2)].join(' · ');
}

function fillingWords({ filling }: Run): string[] {
  if (!filling) return [];
  const parts: [words: LocalizedMessage, tokens: number][] = [
    [message('instructions'), filling.instructions],
    [message('tools'), filling.tools],
    [message('your messages'), filling.words],
    [message('files and output'), filling.output],
    [message('answers'), filling.answers],
    [message('a summary'), filling.summary],
  ];
  const most = parts.filter(([, tokens]) => tokens > 0).sort(([, one], [, other]) => other - one);
  const [first, second] = most.map(([words, tokens]) => t('{0} (about {1})', words, formatCount(tokens)));
  if (!first) return [];
  return [second ? t('Mostly: {0} and {1}.', first, second) : t('Mostly: {0}.', first)];
}

function repeatedWords(details: unknown): string {
  const { name, arguments: args, times } = (details ?? {}) as Partial<RepeatedCallDetails>;
  const object = escapeInvisibleInLine(toolCallTargetText(name ?? '', args ?? {}));
  return object
    ? t(
        'The same call failed {0} times without a change in between: “{1}”. Change the instructions, or continue.',
        times ?? 3,
        object,
      )
    : t(
        'The same call failed {0} times without a change in between. Change the instructions, or continue.',
        times ?? 3,
      );
}
