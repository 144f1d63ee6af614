// @invariant interrupted-calls-never-repeat: No interrupted call is repeated unless the user decides so.
import { userAnswerOutcome } from '../../protocol/content/askTool.ts';
import type { BackgroundCommandStart, RecordedCommandLine } from '../../protocol/content/commandRecord.ts';
import { failedToolOutcome, outcomeDetails, type ToolOutcome, toToolResult } from '../../protocol/content/tools.ts';
import type { RunEventBody } from '../../protocol/run/events.ts';
import { callsToContinue, pendingApprovalIds, pendingCalls } from '../../protocol/run/pending.ts';
import { type CallState, callsInStartOrder, callsWithOrphanedCommand, type Run } from '../../protocol/run/run.ts';
import { openTasks } from '../../protocol/run/tasks.ts';
import { limitOutcomeSize } from '../../tools/core/outcome.ts';
import type { ToolHost } from '../../tools/host/host.ts';
import { pathsForModel } from '../../tools/policy/pathsForModel.ts';
import type { BackgroundCommands } from '../../tools/shell/background.ts';
import { isProcessAlive, type OrphanedCommands } from '../../tools/shell/orphanedCommands.ts';
import type { RecordedChanges } from '../../tools/snapshot/fileRecording.ts';
import type { RunLog } from '../core/runLog.ts';

/** Checks the files and processes of calls without a recorded end. */
export interface InterruptedCallProbe {
  standing: ToolHost['standing'];
  /** Compares the files with the state before an interrupted call. */
  recorded(snapshot: string): Promise<RecordedChanges>;
  forgetRecorded: ToolHost['forgetRecorded'];
  left: Pick<OrphanedCommands, 'look'>;
  /** True for a background command with a living window, which will report its end. */
  isAttended(command: RecordedCommandLine, background: BackgroundCommandStart): Promise<boolean>;
}

export const createCommandOwnerCheck =
  (background: Pick<BackgroundCommands, 'has'> | undefined): InterruptedCallProbe['isAttended'] =>
  async ({ marker }, { owner }) =>
    background?.has(marker) || (owner !== undefined && owner.pid !== process.pid && (await isProcessAlive(owner)));

export const unsettledCallIds = (run: RunLog['run']): string[] => [
  ...new Set([
    ...pendingApprovalIds(run),
    ...callsToContinue(run.messages, run.calls).map(({ id }) => id),
    ...openTasks(run).flatMap(([task, { messages }]) =>
      callsToContinue(messages, run.calls, `${task}:`).map(({ id }) => `${task}:${id}`),
    ),
  ]),
];

/**
 * Adds results to calls left open by the end of the editor, a storage failure or an ignored stop. No call is repeated automatically; a
 * recorded end determines the result.
 *
 * @param but calls to leave open
 */
export async function settleInterruptedCalls(
  log: RunLog,
  evidence: InterruptedCallProbe,
  lastAt: number,
  but: readonly string[] = [],
): Promise<void> {
  await endUnfinishedCalls(log, evidence, but, lastAt);
  for (const { id } of pendingCalls(log.run.messages)) {
    if (but.includes(id)) continue;
    const toolResults = [toToolResult(id, lostOutcome(log.run, id))];
    await log.emit({ type: 'message', message: { role: 'tool', content: '', toolResults } });
  }
}

/**
 * Ends calls without a recorded end, including calls of workflow nodes. A call without a start did not run: an unanswered approval is a
 * denial. For a started call, the files show its effect and the processes show a running command.
 *
 * @param but calls to leave open
 * @param lastAt last activity of the run before opening (epoch milliseconds)
 */
export async function endUnfinishedCalls(
  { run, emit }: RunLog,
  evidence: InterruptedCallProbe,
  but: readonly string[] = [],
  lastAt?: number,
): Promise<void> {
  const names = new Map(pendingCalls(run.messages).map(({ id, name }) => [id, name]));
  const interruptedAt = lastAt ?? run.updatedAt;
  const open = callsInStartOrder(run).filter(([, { ok }]) => ok === undefined);
  for (const toolCallId of new Set([...open.map(([id]) => id), ...names.keys()])) {
    const state = run.calls[toolCallId];
    if (state?.ok !== undefined || but.includes(toolCallId)) continue;
    const snapshot = state?.snapshot;
    const end = state?.startedAt === undefined ? denied : await endOf(state, run.id, toolCallId, evidence);
    await emit({
      type: 'tool-end',
      toolCallId,
      name: names.get(toolCallId) ?? '',
      ms: 0,
      ...end,
      ...(end.code === 'TOOL_INTERRUPTED' && { interruptedAt }),
    });
    if (snapshot !== undefined) evidence.forgetRecorded(snapshot);
  }
  if (run.unmade) await evidence.standing({ changes: run.unmade }); // completes partial writes
  await endCommands({ run, emit }, evidence);
}

async function endCommands({ run, emit }: Pick<RunLog, 'run' | 'emit'>, evidence: InterruptedCallProbe): Promise<void> {
  const orphaned: ReturnType<typeof callsWithOrphanedCommand> = [];
  let isAttended = false;
  for (const one of callsWithOrphanedCommand(run)) {
    const [, { command, background, ended }] = one;
    if (!background || ended) continue;
    if (await evidence.isAttended(command, background)) isAttended = true;
    else orphaned.push(one);
  }
  for (const [toolCallId, { command, process }] of orphaned) {
    const snapshot = isAttended ? undefined : run.backgroundSnapshot; // else it is that of the living window
    const recorded = snapshot === undefined ? {} : await evidence.recorded(snapshot);
    const stillRunning = await evidence.left.look({ runId: run.id, toolCallId, command, process });
    const unknown = (isAttended || stillRunning?.length) && { unrecorded: 'background' as const };
    if (snapshot !== undefined || unknown) await emit({ type: 'command-changes', toolCallId, ...recorded, ...unknown });
    if (snapshot !== undefined) evidence.forgetRecorded(snapshot);
    await emit({ type: 'command-end', toolCallId, by: 'lost', ...(stillRunning?.length && { stillRunning }) });
  }
}

type End = Omit<Extract<RunEventBody, { type: 'tool-end' }>, 'type' | 'toolCallId' | 'name' | 'ms'>;
const denied: End = { ok: false, code: 'TOOL_DENIED' };

async function endOf(
  state: CallState,
  runId: string,
  toolCallId: string,
  evidence: InterruptedCallProbe,
): Promise<End> {
  const { changes, moved, command, process, snapshot } = state;
  if (state.answer) return { ok: true };
  const recorded = snapshot === undefined ? {} : await evidence.recorded(snapshot); // before anything else runs
  const stillRunning = command && (await evidence.left.look({ runId, toolCallId, command, process }));
  const interrupted = {
    ok: false,
    code: 'TOOL_INTERRUPTED',
    ...(stillRunning && { stillRunning }),
    ...recorded,
    ...(stillRunning?.length && { unrecorded: 'background' as const }),
  };
  if (!changes && !moved) return interrupted;
  const standing = await evidence.standing({ changes, moved });
  const all = [...standing.changes, ...(standing.moved ? [standing.moved] : [])];
  if (all.every((one) => one === 'after')) return { ok: true, changes, moved };
  const made = (changes ?? []).filter((_, index) => standing.changes[index] !== 'before');
  return { ...interrupted, changes: made, ...(standing.moved !== 'before' && { moved }) };
}

/** Outcome for the model of a call with a lost result. The calls of a tool with its own model are reported as partial work. */
export function lostOutcome(run: Pick<Run, 'calls'>, id: string): ToolOutcome {
  const { calls } = run;
  const isPartly =
    calls[id]?.startedAt === undefined &&
    callsInStartOrder(run).some(([one, { startedAt }]) => startedAt !== undefined && one.startsWith(`${id}:`));
  return isPartly
    ? failedToolOutcome('TOOL_INTERRUPTED', partly, outcomeDetails('RUN_ENDED'))
    : recoveredCallOutcome(calls[id]);
}

const partly =
  'The run ended while this was running. Some of what it does was done: check what, before doing the rest.';

export function recoveredCallOutcome(state: CallState | undefined): ToolOutcome {
  if (state?.asked && state.answer) return limitOutcomeSize(userAnswerOutcome(state.asked, state.answer));
  if (state?.ok) return { ok: true, data: { note: noteOf(state), ...(state.outputId && outputOf(state.outputId)) } };
  if (state?.decision === 'deny')
    return failedToolOutcome('TOOL_DENIED', 'The person did not allow this. It did not run.');
  const { code = 'TOOL_DENIED' } = state ?? {};
  if (code === 'TOOL_INTERRUPTED') return failedToolOutcome(code, interruption(state!), outcomeDetails('RUN_ENDED'));
  if (code !== 'TOOL_DENIED')
    return { ok: false, error: { code, message: 'It failed. What else it said was lost when the run ended.' } };
  return failedToolOutcome(
    code,
    'The run ended before this was answered. It did not run.',
    outcomeDetails('RUN_ENDED'),
  );
}

const outputOf = (outputId: string) => ({ outputId: outputId.slice(0, 12) });

function noteOf({ changes, moved, command, background }: CallState): string {
  const paths = [...(changes ?? []).map(({ path }) => path), ...(moved ? [moved.to] : [])];
  if (paths.length > 0) return `The run ended while this ran, but it was done: ${listed(paths)}. Do not repeat it.`;
  if (background)
    return `It went on in the background, as ${background.id}. What it said first was lost when the run ended.`;
  const lost = command ? 'its exit code and what it printed were' : 'what it gave was';
  return `It ran to its end, but ${lost} lost when the run ended.`;
}

function interruption({ changes, moved, stillRunning, asked }: CallState): string {
  if (asked) return 'The run ended before the person answered. Ask again if it still matters.';
  const ended = 'The run ended while this was running.';
  if (stillRunning?.length)
    return `${ended} Its command went on and is still at work: ${listedNames(stillRunning)}. It is not run a second time beside itself: wait for its end, or ask the person to end it.`;
  if (stillRunning)
    return `${ended} Its command is not at work any more. It may have had its effect: check before doing it again.`;
  const paths = [...(changes ?? []).map(({ path }) => path), ...(moved ? [moved.to] : [])];
  if (paths.length > 0)
    return `${ended} These hold neither what they did nor what it was to leave, or only a part was done: ${listed(paths)}. Read them before you go on; the person can put back what was there with Undo.`;
  if (changes) return 'The run ended before this had changed anything. It did not run.';
  return `${ended} It may have had its effect: check before doing it again.`;
}

const listed = (paths: readonly string[]) => listedNames(pathsForModel(paths));

const listedNames = (names: readonly string[]) =>
  [...names.slice(0, 20), ...(names.length > 20 ? [`${names.length - 20} more`] : [])].join(', ');
