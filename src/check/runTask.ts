import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { estimateTokenCount } from 'tokenx';
import type { ReadSpendingLimit } from '../engine/core/budget.ts';
import { ExecutionEngine } from '../engine/run/engine.ts';
import type { RunModel } from '../engine/run/runContext.ts';
import type { ErrorInfo } from '../protocol/content/messages.ts';
import { defaultApprovalPolicy } from '../protocol/content/policy.ts';
import type { RunEvent } from '../protocol/run/events.ts';
import { isSpendingLimitError } from '../protocol/run/money.ts';
import { message, withDigitGrouping } from '../protocol/text/l10n.ts';
import { type LocalizableText, localize, storedLocalizableText } from '../protocol/text/localized.ts';
import { onAbort } from '../protocol/values/abort.ts';
import { RunStore } from '../runs/store.ts';
import type { ApprovalRequester, ToolCallPlan } from '../tools/core/tool.ts';
import { builtinTools } from '../tools/host/builtinTools.ts';
import { createToolHost } from '../tools/host/host.ts';
import { workspaceInstructions } from '../tools/instructions/instructions.ts';
import { BackgroundCommands } from '../tools/shell/background.ts';
import { defaultChatWorkflow } from '../workflows/run/chatWorkflow.ts';
import { createCheckTaskFolderAccess, folderWorkspace } from './folderWorkspace.ts';
import { chunkText, type ModelCallMeasurements, ModelCallMeter } from './meter.ts';
import { collectCheckTaskObservations } from './seen.ts';
import { defaultCheckApproval, type ModelCheckTask } from './task.ts';
import { formatDuration } from './taskResult.ts';

/** Limits of a task: replies, output tokens (approximate) and milliseconds. */
export interface CheckTaskLimits {
  replies: number;
  written: number;
  ms: number;
}

export const defaultCheckTaskLimits: CheckTaskLimits = { replies: 12, written: 6000, ms: 15 * 60_000 };

export interface CheckTaskOptions {
  model: RunModel;
  /** Real path of the task's own folder; `runLimit` is in US dollars, 0 for no limit. */
  folder: string;
  ripgrep?: string | undefined;
  limits: CheckTaskLimits;
  runLimit: ReadSpendingLimit;
  signal: AbortSignal;
  /** Audit log of the user: `keep` receives each stored event before any effect. */
  record?: { keep(event: RunEvent): Promise<void>; onEvent(event: RunEvent): void } | undefined;
  progress(text: string): void;
}

interface CheckTaskOutcome extends ModelCallMeasurements {
  why?: LocalizableText;
  ms: number;
  /** Error without relevance for the model: unreachable, or stopped by the user. */
  unasked?: ErrorInfo;
}

/** Answer to user questions of the model. */
const nobody = 'Nobody is here to answer. Decide it by yourself.';

/** Runs a task like any other run: the same loop, tools and gate, in an otherwise empty folder. Throws only for a full disk. */
export async function runCheckTask(
  task: ModelCheckTask,
  { model, limits, signal, ...given }: CheckTaskOptions,
): Promise<CheckTaskOutcome> {
  const root = path.join(given.folder, 'harbour'); // same name for all tasks, so that all prompts share a prefix
  mkdirSync(root);
  const folder = createCheckTaskFolderAccess(root);
  for (const [name, text] of Object.entries(task.files)) folder.write(name, text);
  const workspace = folderWorkspace(root, given.ripgrep);
  const questions: ToolCallPlan[] = [];
  const approve: ApprovalRequester = async (request) => {
    questions.push(request.plan);
    return task.answers?.(request, folder) ?? defaultCheckApproval(request);
  };
  const { record } = given;
  const store = new RunStore(
    path.join(given.folder, 'runs'),
    Date.now,
    undefined,
    record && ((event) => record.keep(event)),
  );
  const background = new BackgroundCommands();
  const host = createToolHost({
    workspace,
    tools: builtinTools({ shell: { background, timeout: () => limits.ms } }),
    approve,
    policy: () => defaultApprovalPolicy,
  });
  const runId = RunStore.newId();
  const meter = new ModelCallMeter();
  let written = '';
  let isWriting = false;
  let over: LocalizableText | undefined;
  const end = (why: LocalizableText) => {
    over ??= why;
    void engine.stop(runId);
  };
  const engine: ExecutionEngine = new ExecutionEngine({
    store,
    host,
    workflow: async () => defaultChatWorkflow,
    model: async () => model,
    modelId: () => model.id,
    workspace: async () => ({ names: [path.basename(root)] }),
    instructions: workspaceInstructions({ workspace, isExcluded: () => false }),
    maxTurns: () => limits.replies,
    runLimit: given.runLimit,
    onEvent(event: RunEvent) {
      meter.onEvent(event);
      record?.onEvent(event);
      if (event.type === 'progress') given.progress(localize(event.said ?? event.text));
      if (event.type === 'request') isWriting = false;
      if (event.type === 'ask') void engine.say({ runId, userInput: nobody });
      if (event.type !== 'chunk') return;
      if (!isWriting) given.progress(localize(message('Writing the answer')));
      isWriting = true;
      written += chunkText(event);
      if (written.length > limits.written && estimateTokenCount(written) > limits.written)
        end(message('It had generated more than {0} tokens and was stopped.', withDigitGrouping(limits.written)));
    },
  });
  const stopListening = onAbort(signal, () => void engine.stop(runId));
  const late = setTimeout(
    () => end(message('It was not done after {0} and was stopped.', formatDuration(limits.ms))),
    limits.ms,
  );
  const started = performance.now();
  try {
    const { error } = await engine.start({ runId, userInput: task.asks });
    await engine.stop(runId); // waits for pending writes
    const counts = over === undefined && !error ? meter.measured : meter.measuredWithStoppedReply;
    const usage = { ...counts, ms: performance.now() - started };
    if (signal.aborted) return { ...usage, unasked: { code: 'ENGINE_ABORTED', message: 'It was stopped.' } };
    if (over !== undefined) return { ...usage, why: over };
    const run = await store.read(runId);
    const hasAnswered = run.messages.some(({ role }) => role === 'assistant');
    if (error && !isOfTheModel(error, hasAnswered)) return { ...usage, unasked: error };
    const why = error
      ? faultOf(error, limits)
      : task.judge(collectCheckTaskObservations(run, folder, questions, (name) => host.onlyReads(name)));
    return { ...usage, ...(why !== undefined && { why }) };
  } finally {
    clearTimeout(late);
    stopListening();
    await engine.close();
    await background.close();
  }
}

/** Error codes caused by the model's own output. */
const ofTheModel = [
  'LLM_BAD_RESPONSE',
  'LLM_INCOMPLETE',
  'LLM_CONTENT_FILTERED',
  'LLM_CONTEXT_OVERFLOW',
  'LLM_TIMEOUT',
];

const isOfTheModel = (error: ErrorInfo, hasAnswered: boolean): boolean =>
  !isSpendingLimitError(error) && error.code !== 'LLM_AUTH_FAILED' && (hasAnswered || ofTheModel.includes(error.code));

function faultOf(error: ErrorInfo, { replies }: CheckTaskLimits): LocalizableText {
  if (error.code === 'ENGINE_MAX_TURNS_EXCEEDED')
    return message('It did not finish and was stopped after {0} replies.', replies);
  if (error.code === 'ENGINE_LOOP_DETECTED') return message('It repeated itself. {0}', storedLocalizableText(error));
  return storedLocalizableText(error);
}
