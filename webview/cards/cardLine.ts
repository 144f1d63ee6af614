import type { CommandEnd } from '../../src/protocol/content/commandRecord.ts';
import type { ToolCall } from '../../src/protocol/content/messages.ts';
import type { ToolOutcome } from '../../src/protocol/content/tools.ts';
import type { RunPhase } from '../../src/protocol/run/events.ts';
import { outcomeReasonOf } from '../../src/protocol/run/formerText.ts';
import { isAwaitingApproval } from '../../src/protocol/run/pending.ts';
import {
  type CallState,
  commandEndMessageForUser,
  hasCommandFailed,
  pathsToUndo,
  type StreamedCallDraft,
} from '../../src/protocol/run/run.ts';
import { callWithCorrectedArguments } from '../../src/protocol/run/understoodArguments.ts';
import { formatAge } from '../../src/protocol/text/ago.ts';
import type { OutcomeReason } from '../../src/protocol/text/codes.ts';
import { t } from '../../src/protocol/text/l10n.ts';
import { truncateWithEllipsis } from '../../src/protocol/text/shorten.ts';
import { formatElapsedTime } from '../time.ts';
import { type CardTextPiece, pieceText, toPlainTextPiece } from './cardText.ts';
import { exitCodeMeaning } from './exitText.ts';
import { decidingRulesText, failedCallReason } from './failureReason.ts';
import { parsePartialArguments } from './partialArguments.ts';
import { hasRecordedChanges, recordedChangePieces } from './recordedChanges.ts';
import { type DescribedCall, localizeToolText, type ToolText, toolInfinitive, toolTextFor } from './toolText.ts';

/**
 * Status icon of a card. `dot`: ran with a doubtful result. `none`: did not run, without a failure. `going`: the command continues in the
 * background.
 */
export type CardStatusIcon = 'working' | 'asks' | 'waits' | 'check' | 'dot' | 'cross' | 'none' | 'undone' | 'going';

/** `waiting`: not its turn yet. `skipped`: the run rests without the call. */
export type CardStatus = CallState['status'] | 'writing' | 'waiting' | 'skipped' | 'going';

/** First line of a card. `joint` separates the outcome: `: ` before the reason of a failure. */
export interface CardLine {
  status: CardStatus;
  mark: CardStatusIcon;
  verb: string;
  object: CardTextPiece[];
  outcome: CardTextPiece[];
  joint: ': ' | ' · ';
  time: string;
}

/**
 * Input of a card line. `stopped`: the user stopped the run. `elsewhere`: another window owns the run. `now`: epoch milliseconds. `going`:
 * the background command runs in this window. `held`: the denial of the call holds the run. `progress`: preparation of the call.
 */
export interface CardLineInput {
  call: ToolCall;
  state?: CallState;
  outcome?: ToolOutcome;
  phase: RunPhase;
  stopped?: boolean;
  elsewhere?: boolean;
  now: number;
  going?: boolean;
  lineOf?: DescribedCall['lineOf'];
  held?: boolean;
  progress?: string;
}

export function cardLine(given: CardLineInput): CardLine {
  const seen = { ...given, call: callWithCorrectedArguments(given.call, given.state) };
  const { call, state, outcome } = seen;
  const known: DescribedCall = {
    name: call.name,
    args: call.arguments,
    data: outcome?.ok ? (Object(outcome.data) as DescribedCall['data']) : {},
    ...(state && { state }),
    ...(seen.lineOf && { lineOf: seen.lineOf }),
  };
  const words = toolTextFor(call.name);
  const { tense, outcome: came = [], joint = ' · ', time = '', ...rest } = standing(seen, known, words);
  const object = words.object(known).filter((piece) => pieceText(piece) !== '');
  return { ...rest, verb: inTense(words, known, tense), object, outcome: came, joint, time };
}

export function streamedCallCardLine({ name, argumentsText }: StreamedCallDraft): CardLine {
  const known: DescribedCall = { name, args: parsePartialArguments(argumentsText), data: {} };
  const words = toolTextFor(name);
  const object = name === '' ? [] : words.object(known).filter((piece) => pieceText(piece) !== '');
  const verb = name === '' ? t('Writing') : inTense(words, known, 'doing');
  return { status: 'writing', mark: 'working', verb, object, outcome: [], joint: ' · ', time: '' };
}

export const toolCallTargetText = (name: string, args: DescribedCall['args']): string =>
  toolTextFor(name).object({ name, args, data: {} }).map(pieceText).join(' ').trim();

/** Describes the call of a workflow node from its record, because no message contains its arguments. */
export function workflowNodeCallLine(
  name: string,
  state: CallState,
  tense: 'doing' | 'done',
): Pick<CardLine, 'verb' | 'object'> {
  const known: DescribedCall = { name, args: state.about ?? {}, data: {}, state };
  const words = toolTextFor(name);
  return { verb: inTense(words, known, tense), object: words.object(known).filter((piece) => pieceText(piece) !== '') };
}

export function cardLineAriaLabel({ verb, object, outcome, joint, time }: CardLine): string {
  const what = [verb, ...object.map(pieceText)].filter(Boolean).join(' ');
  const came = outcome.map(pieceText).join(' · ');
  return [came ? `${what}${joint}${came}` : what, time].filter(Boolean).join(' · ');
}

/** Text of an approval that was open when its window closed. */
export const interruptedApprovalText = 'Interrupted when the window closed · needs your approval';

type Tense = 'doing' | 'done' | 'to do' | 'could not' | 'none';

function inTense(words: ToolText, known: DescribedCall, tense: Tense): string {
  if (tense === 'none') return '';
  if (tense === 'doing' || tense === 'done') return localizeToolText(words[tense], known);
  const verb = toolInfinitive(words, known);
  if (tense === 'could not') return t(`Could not ${verb}` as const);
  const told = t(verb);
  return `${told[0]!.toUpperCase()}${told.slice(1)}`;
}

type Standing = Pick<CardLine, 'status' | 'mark'> & Partial<CardLine> & { tense: Tense };

function standing(seen: CardLineInput, known: DescribedCall, words: ToolText): Standing {
  const { state, outcome, phase, call } = seen;
  if (state?.asked) return asked(seen, state);
  if (state?.decision === 'deny') return denied(seen, state);
  if (state?.background) return inBackground(seen, state);
  if (state?.status === 'done' || outcome) return ended(seen, known, words);
  const running = phase === 'Running';
  if (!running && !seen.elsewhere && isAwaitingApproval(state))
    return { status: 'asking', mark: 'asks', tense: 'to do', outcome: [toPlainTextPiece(t(interruptedApprovalText))] };
  if (!running)
    return state?.startedAt === undefined
      ? {
          status: 'skipped',
          mark: 'none',
          tense: 'to do',
          outcome: [toPlainTextPiece(t(seen.stopped ? 'Not run: stopped' : 'Not run'))],
        }
      : {
          status: 'skipped',
          mark: 'none',
          tense: 'to do',
          outcome: [toPlainTextPiece(t(seen.stopped ? 'Stopped' : 'Interrupted when the window closed'))],
        };
  if (seen.progress)
    return { status: 'allowed', mark: 'working', tense: 'to do', outcome: [toPlainTextPiece(seen.progress)] };
  switch (state?.status) {
    case 'asking':
      return { status: 'asking', mark: 'asks', tense: 'to do', outcome: [toPlainTextPiece(t('Waiting for approval'))] };
    case 'running': {
      const elapsed = seen.now - (state.startedAt ?? seen.now);
      return {
        status: 'running',
        mark: 'working',
        tense: 'doing',
        time: elapsed < 1000 ? '' : formatElapsedTime(elapsed),
      };
    }
    case 'allowed':
      return { status: 'allowed', mark: 'working', tense: 'doing' };
    default:
      return call.malformed === undefined
        ? { status: 'waiting', mark: 'waits', tense: 'to do', outcome: [toPlainTextPiece(t('Queued'))] }
        : {
            status: 'waiting',
            mark: 'none',
            tense: 'could not',
            joint: ': ',
            outcome: [toPlainTextPiece(failedCallReason(call.name, 'TOOL_ARGS_INVALID_JSON', undefined))],
          };
  }
}

function asked({ phase }: CardLineInput, { answer, ok }: CallState): Standing {
  if (!answer && ok !== false && phase === 'Running')
    return {
      status: 'asking',
      mark: 'asks',
      tense: 'doing',
      outcome: [toPlainTextPiece(t('Waiting for your answer'))],
    };
  return answer
    ? { status: 'done', mark: 'check', tense: 'done', outcome: [toPlainTextPiece(t('You answered'))] }
    : { status: 'done', mark: 'none', tense: 'done', outcome: [toPlainTextPiece(t('Not answered'))] };
}

function denied({ outcome, held }: CardLineInput, state: CallState): Standing {
  const { automatic, feedback } = state;
  const base = { status: 'done', mark: 'none', tense: 'to do' } as const;
  if (automatic !== undefined) return { ...base, outcome: [toPlainTextPiece(decidingRulesText(state, 'deny')!)] };
  if (held)
    return { ...base, outcome: [toPlainTextPiece(t('Denied')), toPlainTextPiece(t('waiting for your instructions'))] };
  const { words } = Object(outcome?.ok === false ? outcome.error.details : undefined) as { words?: unknown };
  const said = feedback ?? words;
  if (typeof said !== 'string') return { ...base, outcome: [toPlainTextPiece(t('Denied'))] };
  return {
    ...base,
    outcome: [{ text: t('Denied: “{0}”', truncateWithEllipsis(said.replace(/\s+/g, ' ').trim(), longestFeedback)) }],
  };
}

const longestFeedback = 200;

function ended(seen: CardLineInput, known: DescribedCall, words: ToolText): Standing {
  const { call, state, outcome } = seen;
  const ok = state?.ok ?? outcome?.ok ?? true;
  const isCommand = call.name === 'shell.run';
  const ms = state?.ms ?? 0;
  const time = ms >= 1000 || (isCommand && state?.ms !== undefined) ? formatElapsedTime(ms) : '';
  if (!ok) return { ...failed(seen), time };
  const gave = words.gave?.(known) ?? [];
  const notes = notesOf(state).map(toPlainTextPiece);
  const undone = undoneWords(state);
  if (undone)
    return { status: 'done', mark: 'undone', tense: 'done', outcome: [toPlainTextPiece(undone), ...gave], time };
  const base = { status: 'done', tense: 'done', time } as const;
  const recorded = state && hasRecordedChanges(state) ? recordedChangePieces(state) : [];
  if (!isCommand) return { ...base, mark: 'check', outcome: [...gave, ...recorded, ...notes] };
  const { mark, words: how } = exit(seen, known);
  return { ...base, mark, outcome: [...(how ? [toPlainTextPiece(how)] : []), ...recorded, ...notes] };
}

/** Check: exit code 0. Dot: another exit code. Cross: terminated. */
function exit({ call, state }: CardLineInput, { data }: DescribedCall): { mark: CardStatusIcon; words?: string } {
  const exitCode = data.exitCode === undefined ? state?.exitCode : (data.exitCode as number | null);
  if (exitCode === 0 || exitCode === undefined) return { mark: 'check' };
  if (typeof data.signal === 'string') return { mark: 'cross', words: t('was killed') };
  if (exitCode === null)
    return { mark: 'cross', words: t(data.cut ? 'was stopped: it wrote too much' : 'was stopped') };
  const line = typeof call.arguments.command === 'string' ? call.arguments.command : '';
  const answer = exitCodeMeaning(line, exitCode);
  return answer === undefined
    ? { mark: 'dot', words: t('exit code {0}', exitCode) }
    : { mark: 'check', words: t(answer) };
}

function failed({ call, state, outcome }: CardLineInput): Standing {
  const error = outcome?.ok === false ? outcome.error : undefined;
  const code = state?.code ?? error?.code;
  const reason = error && outcomeReasonOf(error);
  const base = { status: 'done', outcome: [] } as const;
  const not = (words: string): Standing => ({
    ...base,
    mark: 'none',
    tense: 'to do',
    outcome: [toPlainTextPiece(words)],
  });
  if (code === 'TOOL_NOT_RUN') return not(t('Not run: you sent a message first'));
  if (code === 'TOOL_DENIED') {
    if (!error || reason === 'RUN_ENDED') return not(t('Not run: it was not answered'));
    if (reason === 'TOO_MANY_CALLS') return not(t('Not run: too many at once'));
    return not(t('Not allowed'));
  }
  const isCommand = call.name === 'shell.run' && state?.startedAt !== undefined;
  const tense = isCommand ? 'done' : 'could not';
  const cross = (words: string): Standing => ({
    ...base,
    mark: 'cross',
    tense,
    joint: isCommand ? ' · ' : ': ',
    outcome: [toPlainTextPiece(words)],
  });
  if ((Object(error?.details) as { stale?: unknown }).stale === true)
    return not(t('The file has changed; the edit no longer applies.'));
  if (code === 'TOOL_INTERRUPTED') return interrupted(state, error ? reason : 'RUN_ENDED', not, cross);
  if (code === 'TOOL_TIMEOUT' && isCommand) return cross(t('timed out'));
  if (code === 'TOOL_EXEC_FAILED' && isCommand && reason && Object.hasOwn(limitTexts, reason))
    return cross(t(limitTexts[reason as keyof typeof limitTexts]));
  return {
    ...base,
    mark: 'cross',
    tense: 'could not',
    joint: ': ',
    outcome: [toPlainTextPiece(failedCallReason(call.name, code, error))],
  };
}

const limitTexts = {
  OUTPUT_LIMIT: 'was stopped: it wrote too much',
  MEMORY_LIMIT: 'was stopped: not enough memory',
  PROCESS_LIMIT: 'was stopped: too many processes',
  DISK_LIMIT: 'was stopped: not enough disk space',
} as const;

function interrupted(
  state: CallState | undefined,
  reason: OutcomeReason | undefined,
  not: (words: string) => Standing,
  cross: (words: string) => Standing,
) {
  if (reason === 'IMPORTED') return not(t('Not run here: the run was imported'));
  if (reason !== 'RUN_ENDED') return cross(t('you stopped it'));
  if (!state?.stillRunning?.length) return cross(t('interrupted when the window closed'));
  return cross(t('interrupted when the window closed, and continued: {0}', state.stillRunning.join(', ')));
}

function notesOf(state: CallState | undefined): string[] {
  const { sandbox, blocked } = state ?? {};
  const ofSandbox = [
    ...(sandbox === 'outside' ? [t('Ran outside the sandbox')] : []),
    ...(blocked ? [t('Blocked by the sandbox: network access to {0}', blocked.join(', '))] : []),
  ];
  if (state?.edited) return [t('Changed by you before approval'), ...ofSandbox];
  const rule = state?.automatic === undefined ? undefined : decidingRulesText(state, 'allow');
  return rule === undefined ? ofSandbox : [rule, ...ofSandbox];
}

const undoneWords = (state: CallState | undefined): string | undefined =>
  state?.undone?.length ? t(pathsToUndo(state).length > 0 ? 'Partly undone' : 'Undone') : undefined;

function inBackground({ now, going, call }: CardLineInput, state: CallState): Standing {
  const { ended: end, startedAt } = state;
  const name = { tense: 'none' } as const;
  const undone = undoneWords(state);
  const changed = undone ? [toPlainTextPiece(undone)] : recordedChangePieces(state);
  if (!end) {
    if (!going)
      return {
        ...name,
        status: 'done',
        mark: 'none',
        outcome: [toPlainTextPiece(t('Its window was closed')), ...changed],
      };
    const began = startedAt ?? now;
    const age = now - began < 60_000 ? t('just started') : formatAge(began, now);
    return { ...name, status: 'going', mark: 'going', outcome: [toPlainTextPiece(age), ...changed] };
  }
  const left = end.stillRunning?.length ? `. ${t('Still running: {0}', end.stillRunning.join(', '))}` : '';
  const isOwn = end.by === 'itself' && !end.signal;
  const line = typeof call.arguments.command === 'string' ? call.arguments.command : '';
  const answer = isOwn && typeof end.exitCode === 'number' ? exitCodeMeaning(line, end.exitCode) : undefined;
  const words = answer ? t(answer) : backgroundEnd(end);
  const mark: CardStatusIcon = isOwn
    ? end.exitCode === 0 || answer
      ? 'check'
      : 'dot'
    : hasCommandFailed(end)
      ? 'cross'
      : 'none';
  return { ...name, status: 'done', mark, outcome: [toPlainTextPiece(words + left), ...changed] };
}

function backgroundEnd(end: CommandEnd): string {
  return end.by === 'itself' && end.signal ? t('was killed') : t(commandEndMessageForUser(end));
}
