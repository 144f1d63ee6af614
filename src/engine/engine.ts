import type { LlmAdapter } from '../llm/adapter.ts';
import { type Attachment, type ErrorInfo, pendingCalls, userMessage } from '../protocol/messages.ts';
import type { Run, RunEvent, RunPhase } from '../protocol/run.ts';
import { failure, toToolResult } from '../protocol/tools.ts';
import { StoreError } from '../runs/journal.ts';
import type { OpenRun, RunStore } from '../runs/store.ts';
import type { ToolHost } from '../tools/host.ts';
import type { Workspace } from '../tools/workspace.ts';
import { systemPrompt } from './composer.ts';
import { RunLog } from './log.ts';
import { runTurns, type StopPoint, Stopped } from './loop.ts';
import { type UndoAnswer, type UndoQuestion, type UndoRequest, type UndoResult, undo } from './undo.ts';
import type { Workflow } from './workflow.ts';

export interface EngineResult {
  success: boolean;
  phase: RunPhase;
  assistantText?: string | null;
  error?: ErrorInfo;
}

/** The model a run talks to, made dependable. */
export interface RunModel {
  /** `provider/model` as people pick it. */
  id: string;
  /** The model's name on its wire. */
  model: string;
  adapter: LlmAdapter;
  maxTokens?: number;
  /** Tokens that the model keeps in view, when known. */
  contextWindow?: number;
}

export interface EngineOptions {
  store: RunStore;
  host: ToolHost;
  workflow: Workflow;
  /** The model chosen now. Throws an `Error` with a sentence for the person when there is none to talk to. */
  model(): Promise<RunModel>;
  /** Folder names and the text of AGENTS.md. */
  workspace(): Promise<{ names: string[]; instructions?: string }>;
  maxTurns(): number;
  tell(event: RunEvent): void;
  now?(): number;
}

interface Active {
  log?: RunLog;
  controller: AbortController;
  /** Said before the loop listens: what the run is entered with, and what came while it was being opened. */
  early: UserInput[];
  done: Promise<EngineResult>;
}

/** What a person says to a run. Empty `userInput`: the attachments speak for themselves. */
export interface UserInput {
  userInput: string;
  attachments?: readonly Attachment[];
}

const newActive = (early: UserInput[] = []): Active => ({
  controller: new AbortController(),
  early,
  done: Promise.resolve(failedWith('', '')),
});

/** Runs at work in this window, by id. Every method resolves with a result; none throws for what a model or a disk does. */
export class ExecutionEngine {
  private readonly active = new Map<string, Active>();
  private readonly grants = new Map<string, Set<string>>();

  constructor(private readonly options: EngineOptions) {}

  /** Begins a run with the person's first words. `runId` comes from `RunStore.newId()`. */
  start({ runId, ...input }: { runId: string } & UserInput): Promise<EngineResult> {
    return this.enter(runId, [input], () => this.options.store.create(runId));
  }

  /** Goes on with a kept run: with new words, or (after a limit, a broken stream, a reload) without. */
  continue({ runId, ...input }: { runId: string } & Partial<UserInput>): Promise<EngineResult> {
    const { userInput, attachments } = input;
    const said = userInput === undefined ? [] : [{ userInput, attachments }];
    return this.enter(runId, said, () => this.options.store.open(runId));
  }

  /** Words for a run that is at work: given at the next turn. Resolves to false when it is not at work. */
  async say({ runId, ...input }: { runId: string } & UserInput): Promise<boolean> {
    const active = this.active.get(runId);
    if (!active || active.controller.signal.aborted) return false;
    const { userInput: text, attachments } = input;
    if (active.log)
      await active.log.emit({ type: 'queued', text, ...(attachments && { attachments: [...attachments] }) });
    else active.early.push(input);
    return true;
  }

  /** Ends the run's work at once. Resolves when it has ended; a run that is not at work is left alone. */
  async stop(runId: string): Promise<void> {
    const active = this.active.get(runId);
    active?.controller.abort(Stopped.byPerson());
    await active?.done;
  }

  /** Takes changes of a run at rest back. Resolves to an error when the run is at work or cannot be opened or written. */
  async undo(
    runId: string,
    request: UndoRequest,
    workspace: Workspace,
    ask: (question: UndoQuestion) => Promise<UndoAnswer>,
  ): Promise<UndoResult | ErrorInfo> {
    if (this.active.has(runId))
      return { code: 'ENGINE_BUSY', message: 'This run is at work. Stop it, then undo its changes.' };
    const { store, tell, now = Date.now } = this.options;
    const active = newActive();
    this.active.set(runId, active); // nobody starts it meanwhile
    let log: RunLog | undefined;
    try {
      log = new RunLog(await store.open(runId), tell, now);
      return await undo(log, { store, workspace }, request, ask);
    } catch (error) {
      return toInfo(error);
    } finally {
      await log?.end().catch(() => {});
      this.active.delete(runId);
    }
  }

  /** The editor closes: everything at work comes to rest, to go on with the next start. */
  async close(): Promise<void> {
    for (const active of this.active.values()) active.controller.abort(Stopped.byClosing());
    await Promise.all([...this.active.values()].map((active) => active.done));
  }

  /** The run as it is now, when it is at work in this window. */
  live(runId: string): Run | undefined {
    return this.active.get(runId)?.log?.run;
  }

  get liveIds(): string[] {
    return [...this.active.keys()];
  }

  private enter(runId: string, said: UserInput[], open: () => Promise<OpenRun>): Promise<EngineResult> {
    if (this.active.has(runId)) return Promise.resolve(failedWith('ENGINE_BUSY', 'This run is at work already.'));
    const active: Active = {
      controller: new AbortController(),
      early: said,
      done: Promise.resolve(failedWith('', '')),
    };
    this.active.set(runId, active);
    active.done = this.work(active, open).finally(() => this.active.delete(runId));
    return active.done;
  }

  private async work(active: Active, open: () => Promise<OpenRun>): Promise<EngineResult> {
    let log: RunLog;
    try {
      log = new RunLog(await open(), this.options.tell, this.options.now ?? Date.now);
    } catch (error) {
      return { success: false, phase: 'Failed', error: toInfo(error) };
    }
    active.log = log;
    try {
      const stop = await this.turns(log, active);
      await log.emit({ type: 'phase', ...stop });
      return resultOf(log.run, stop);
    } catch (error) {
      // The record could not be written. What was not recorded did not happen; the panel is told, the journal cannot be.
      const stop: StopPoint = { phase: 'Failed', error: toInfo(error) };
      log.tellOnly({ type: 'phase', ...stop });
      return resultOf(log.run, stop);
    } finally {
      await log.end().catch(() => {});
    }
  }

  private async turns(log: RunLog, active: Active): Promise<StopPoint> {
    const { options } = this;
    const { workflow } = options;
    const { run } = log;
    if (run.seq === 0)
      await log.emit({ type: 'run-start', workflowId: workflow.id, agentId: workflow.agent.id, model: '' });
    await answerLooseEnds(log);
    for (const { userInput, attachments } of active.early.splice(0))
      await log.emit({ type: 'message', message: userMessage(userInput, attachments) });
    await log.emit({ type: 'phase', phase: 'Running' });

    let chosen: RunModel;
    try {
      chosen = await options.model();
    } catch (error) {
      return { phase: 'Failed', error: toInfo(error) };
    }
    const { signal } = active.controller;
    await options.host.prepare(signal, (text) => void log.emit({ type: 'progress', text }));
    const agentId = run.agentId;
    const callContext = {
      runId: run.id,
      agentId,
      signal,
      grants: this.grantsOf(run.id),
      emit: log.emit,
      keep: (content: string) => options.store.contents.keep(run.id, content),
      keptOutput: async (id: string) => {
        const whole = Object.values(run.calls).find((call) => call.outputId?.startsWith(id))?.outputId;
        return whole && options.store.contents.read(run.id, whole);
      },
    };
    return runTurns({
      log,
      adapter: chosen.adapter,
      prefix: {
        model: chosen.model,
        systemPrompt: systemPrompt(workflow.agent, await options.workspace()),
        tools: options.host.getVisibleTools({ agentId, contextWindow: chosen.contextWindow }),
        cacheKey: run.id,
        ...(chosen.maxTokens && { maxTokens: chosen.maxTokens }),
      },
      isFree: (call) => options.host.isFree(call),
      execute: (call, following) => options.host.executeToolCall(call, callContext, following),
      isComplete: () => workflow.isComplete(run),
      maxTurns: options.maxTurns(),
      signal,
    });
  }

  /** Grants last as long as the window: after a reload everything is asked again. */
  private grantsOf(runId: string): Set<string> {
    const grants = this.grants.get(runId) ?? new Set();
    this.grants.set(runId, grants);
    return grants;
  }
}

/**
 * Calls that the editor's end left without a result. One that was started may have had its effect: `TOOL_INTERRUPTED`,
 * never repeated by itself. One that was not started did not run: an unanswered question is a no.
 */
async function answerLooseEnds(log: RunLog): Promise<void> {
  for (const call of pendingCalls(log.run.messages)) {
    const state = log.run.calls[call.id];
    const begun = state?.startedAt !== undefined;
    const outcome = begun
      ? failure(
          'TOOL_INTERRUPTED',
          'The editor closed while this was running. It may have had its effect: check before doing it again.',
        )
      : failure('TOOL_DENIED', 'The editor closed before this was answered. It did not run.', { words: 'closed' });
    if (state?.status !== 'done')
      await log.emit({
        type: 'tool-end',
        toolCallId: call.id,
        name: call.name,
        ok: false,
        ms: 0,
        code: outcome.error.code,
      });
    await log.emit({
      type: 'message',
      message: { role: 'tool', content: '', toolResults: [toToolResult(call.id, outcome)] },
    });
  }
}

function resultOf(run: Run, stop: StopPoint): EngineResult {
  const last = run.messages.findLast((message) => message.role === 'assistant');
  return {
    success: stop.error === undefined,
    phase: stop.phase,
    assistantText: last?.content || null,
    ...(stop.error && { error: stop.error }),
  };
}

function failedWith(code: string, message: string): EngineResult {
  return { success: false, phase: 'Failed', error: { code, message } };
}

function toInfo(error: unknown): ErrorInfo {
  if (error instanceof StoreError) return { code: error.code, message: error.message };
  if (error instanceof EngineError) return { code: error.code, message: error.message };
  return { code: 'UNKNOWN', message: error instanceof Error ? error.message : String(error) };
}

/** Why a run cannot go on, as a sentence for the person; thrown by what the engine is given. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}
