import { isDeepStrictEqual } from 'node:util';
import type { EventBody, RunEvent, When } from '../protocol/events.ts';
import { type ErrorInfo, userMessage } from '../protocol/messages.ts';
import type { Run, Waiting } from '../protocol/run.ts';
import { StoreError } from '../runs/journal.ts';
import type { OpenRun, RunStore } from '../runs/store.ts';
import type { ToolHost } from '../tools/host.ts';
import type { BackgroundCommands } from '../tools/shell/background.ts';
import { LeftCommands } from '../tools/shell/left.ts';
import type { Workspace } from '../tools/workspace.ts';
import { type Active, newActive } from './active.ts';
import { Asking, answerAtRest, isLate, isOnlyChosen, type UserInput } from './asking.ts';
import { tellCommandEnds } from './commandEnds.ts';
import { type AskedModel, createContext, type RunModel } from './context.ts';
import { tellDamage } from './damage.ts';
import { EngineError, toInfo } from './errors.ts';
import { RunLog } from './log.ts';
import { answerLooseEnds, attendedBy, type Evidence, endCalls } from './looseEnds.ts';
import { attach, note } from './notes.ts';
import { afterStop, heeding, patience, type Worked, withinPatience } from './patience.ts';
import { type EngineResult, failedWith, type Rest, resultOf } from './result.ts';
import { type StopPoint, Stopped, stopPointOf } from './stop.ts';
import { nameRun } from './title.ts';
import { measureWork } from './took.ts';
import { type UndoAnswer, type UndoQuestion, type UndoRequest, type UndoResult, undo } from './undo.ts';
import { type ChangedWaiting, give, giveWaiting, whenDone } from './waiting.ts';
import type { Agent, Workflow } from './workflow.ts';

export interface EngineOptions {
  store: RunStore;
  /** Always this one, or what gives it once a run first needs it; what that throws is the run's failure. */
  host: ToolHost | (() => Promise<ToolHost>);
  /** Throws an `EngineError` with a sentence for the person when there is none of this id, or it is not in order. */
  workflow(id: string): Promise<Workflow>;
  /**
   * The model chosen now, or the one called so (`provider/model`, or a name at the chosen provider) by the person or the file
   * that a run follows. Throws an `Error` with a sentence for the person when there is none to talk to.
   */
  model(asked?: AskedModel): Promise<RunModel>;
  /** The model for small work (summaries) where the person has one for it; else the run's own does it. Throws as `model`. */
  small?(): Promise<RunModel | undefined>;
  /** The one that names runs, where there is one that is in nobody's way; without it their first words do. Throws as `model`. */
  naming?(): Promise<RunModel | undefined>;
  /** What the model chosen now is called (`provider/model`), known before there is one to talk to: for the record. */
  modelId?(): string;
  /** Folder names and the text of AGENTS.md. */
  workspace(): Promise<{ names: string[]; instructions?: string }>;
  /** Model calls before the person is asked whether it should go on; 20 unless said. */
  maxTurns?(): number;
  /** Commands that outlived an editor. */
  left?: LeftCommands;
  /** Commands that go on in this window. */
  background?: Pick<BackgroundCommands, 'has'>;
  tell(event: RunEvent): void;
  now?(): number;
}

interface Plan {
  workflowId: string;
  values: Record<string, unknown>;
  /** In the place of every model that would be asked. */
  model?: string;
}

/** How a run begins: on which workflow, with what values of its state. */
type Start = { runId: string } & Partial<Omit<Plan, 'model'>> & UserInput;

const plainPlan: Plan = { workflowId: 'chat', values: {} };

/** Runs at work in this window, by id. Every method resolves with a result; none throws for what a model or a disk does. */
export class ExecutionEngine {
  /** Those at work, and those that have ended and are not on disk yet. */
  private readonly active = new Map<string, Active>();
  private readonly grants = new Map<string, Set<string>>();
  /** Of runs whose record failed: the number of the event that said so. */
  private readonly failedAt = new Map<string, number>();

  constructor(private readonly options: EngineOptions) {}

  /** Begins a run with the person's first words. `runId` comes from `RunStore.newId()`; `workflowId` is `chat` unless said. */
  start({ runId, workflowId = 'chat', values = {}, ...input }: Start): Promise<EngineResult> {
    return this.enter(runId, [input], () => this.options.store.create(runId), { workflowId, values });
  }

  /**
   * Goes on with a kept run: with new words, or (after a limit, a broken stream, a reload) without. With a `model`
   * (`provider/model`) all of its work goes there until it rests, also what a file names another one for. Words to a run that rests
   * with a question of its model open are the answer; only an answer, to a question that is not open any more, leaves it as it is.
   */
  continue({ runId, model, ...input }: { runId: string; model?: string } & Partial<UserInput>): Promise<EngineResult> {
    const { userInput } = input;
    const said = userInput === undefined ? [] : [{ ...input, userInput }];
    const plan = { ...plainPlan, ...(model !== undefined && { model }) };
    return this.enter(runId, said, () => this.options.store.open(runId), plan);
  }

  /**
   * Words for a run that is at work: the answer to what its model asks, else given `when` it is said: at the next turn, once it is
   * done, or now, for which it is stopped: whoever goes on with it then lets them be heard. Resolves to false when it is not at work.
   */
  async say({ runId, when = 'turn', ...input }: { runId: string; when?: When } & UserInput): Promise<boolean> {
    const active = this.active.get(runId);
    if (!active || active.ended || active.controller.signal.aborted) return false;
    if (!active.log) return active.early.push({ ...input, when }) > 0;
    if (when === 'turn' && ((await active.asking?.hear(input)) || isOnlyChosen(input))) return true;
    const emitted = active.log.emit({ type: 'queued', ...saidOf(input), ...(when !== 'turn' && { when }) });
    if (!(await isKept(emitted))) return false; // it has just ended: who speaks now begins anew
    if (when === 'now') active.controller.abort(Stopped.byPerson());
    return true;
  }

  /**
   * Changes what waits under a number, in a run at work or at rest. Resolves to false when it waits no more: it was given, or taken back.
   * To be said now, a run at work is stopped: whoever goes on with it then lets it be heard.
   */
  async changeWaiting(runId: string, queued: number, { when, ...input }: ChangedWaiting): Promise<boolean> {
    if (!(await this.waiting(runId, queued))) return false;
    await this.note(runId, { type: 'queued-change', queued, ...saidOf(input), when });
    const now = await this.waiting(runId, queued);
    const isChanged = now?.text === input.userInput && now.when === when;
    if (isChanged && when === 'now') this.active.get(runId)?.controller.abort(Stopped.byPerson());
    return isChanged;
  }

  /** Takes back what waits under a number. */
  async takeBack(runId: string, queued: number): Promise<void> {
    if (await this.waiting(runId, queued)) await this.note(runId, { type: 'queued-remove', queued });
  }

  private async waiting(runId: string, queued: number): Promise<Waiting | undefined> {
    const run = this.live(runId) ?? (await this.options.store.read(runId));
    return run.queued.find((one) => one.queued === queued);
  }

  /**
   * Ends the run's work at once: what started it has its result, and the end is told, without waiting for a slow disk.
   * Resolves when all of it is on disk, too. A run that is not at work is left alone.
   */
  async stop(runId: string): Promise<void> {
    const active = this.active.get(runId);
    active?.controller.abort(Stopped.byPerson());
    await active?.closed;
  }

  /** Lets the run rest where it is whole: after the turn, or the node, that it is at. */
  pause(runId: string): void {
    const active = this.active.get(runId);
    if (!active || active.ended) return;
    active.pausing = true;
    void active.log?.emit({ type: 'pausing' });
  }

  /** Takes changes of a run at rest back. Resolves to an error when the run is at work or cannot be opened or written. */
  async undo(
    runId: string,
    request: UndoRequest,
    workspace: Workspace,
    ask: (question: UndoQuestion) => Promise<UndoAnswer>,
  ): Promise<UndoResult | ErrorInfo> {
    const before = this.active.get(runId);
    if (before && !before.ended)
      return { code: 'ENGINE_BUSY', message: 'This run is at work. Stop it, then undo its changes.' };
    const { store, tell, now = Date.now } = this.options;
    const active = newActive();
    this.active.set(runId, active); // nobody starts it meanwhile
    let log: RunLog | undefined;
    try {
      await before?.closed;
      log = new RunLog(await store.open(runId), tell, now);
      attach(active, log);
      const place = await this.undoPlace(log, workspace);
      await endCalls(
        log,
        this.evidence(log, await this.host(), async () => place.workspace),
        log.run.asking, // these can still be answered
      ); // what a kill left is judged before it is undone
      return await undo(log, { store, ...place }, request, ask);
    } catch (error) {
      return toInfo(error);
    } finally {
      await log?.end().catch(() => {}); // what could not be kept has been thrown already
      this.active.delete(runId);
    }
  }

  /** Records what befell a command of a run, at whatever moment. Never rejects. */
  async note(runId: string, body: EventBody): Promise<void> {
    await this.noted(runId, body);
  }

  /** The person's own title for a run, at whatever moment; empty: it is called by its words again. Resolves to why it could not be kept. */
  rename(runId: string, title: string): Promise<ErrorInfo | undefined> {
    return this.recorded(runId, { type: 'title', title, by: 'person' });
  }

  /** Keeps a run among the first in the list, or no longer. Resolves to why that could not be kept. */
  pin(runId: string, pinned: boolean): Promise<ErrorInfo | undefined> {
    return this.recorded(runId, { type: 'pin', pinned });
  }

  private async recorded(runId: string, body: EventBody): Promise<ErrorInfo | undefined> {
    const active = this.active.get(runId);
    if (active && !active.ended && !active.log?.run.seq) return toInfo(new EngineError('ENGINE_BUSY', beginning));
    const failure = await this.noted(runId, body);
    return failure === undefined ? undefined : toInfo(failure);
  }

  private noted(runId: string, body: EventBody): Promise<unknown> {
    const { store, tell, now = Date.now } = this.options;
    const hold = (closed: Promise<void>) => ({ ...newActive(), ended: true, closed });
    const open = async (id: string) => new RunLog(await store.open(id), tell, now, { toldUpTo: this.failedAt.get(id) });
    return note({ active: this.active, hold, open }, runId, body);
  }

  /** @param place what the run's tools saw in place of the workspace */
  private evidence({ run }: RunLog, host: ToolHost, place: () => Promise<Workspace | undefined>): Evidence {
    const { store, left = new LeftCommands(), background } = this.options;
    const kept = (id: string) => store.contents.read(run.id, id);
    return {
      left,
      isAttended: attendedBy(background),
      standing: async (doing) => host.standing(doing, await place(), kept),
    };
  }

  /** As the run's tools saw it. `problem`: why its own place is not there. */
  private async undoPlace(log: RunLog, workspace: Workspace): Promise<{ workspace: Workspace; problem?: string }> {
    try {
      const workflow = await this.options.workflow(log.run.workflowId);
      return { workspace: (await workflow.undoing?.(log)) ?? workspace };
    } catch (error) {
      return { workspace, problem: toInfo(error).message };
    }
  }

  /** The editor closes: everything at work comes to rest, to go on with the next start. */
  async close(): Promise<void> {
    for (const active of this.active.values()) active.controller.abort(Stopped.byClosing());
    await Promise.all([...this.active.values()].map((active) => active.closed));
  }

  /** The run as it is now, when it is at work in this window or not yet on disk. */
  live(runId: string): Run | undefined {
    return this.active.get(runId)?.log?.run;
  }

  get liveIds(): string[] {
    return [...this.active].filter(([, { ended }]) => !ended).map(([runId]) => runId);
  }

  private enter(runId: string, said: UserInput[], open: () => Promise<OpenRun>, plan: Plan): Promise<EngineResult> {
    const before = this.active.get(runId);
    if (before && !before.ended && !before.controller.signal.aborted)
      return Promise.resolve(failedWith('ENGINE_BUSY', 'This run is at work already.'));
    const active = newActive(said);
    this.active.set(runId, active);
    const opened = async () => {
      await before?.closed; // nothing is begun on a run that is not on disk
      return open();
    };
    const work = this.work(runId, active, opened, plan);
    const { signal } = active.controller;
    const unopened = () => (active.log ? undefined : { success: false, ...stopPointOf(signal) });
    active.done = withinPatience(signal, work, unopened).finally(() => {
      active.ended = true;
    });
    active.closed = Promise.all([work.then(({ closed }) => closed), active.done]).then(() => {
      if (this.active.get(runId) === active) this.active.delete(runId);
    });
    return active.done;
  }

  private async work(
    runId: string,
    active: Active,
    open: () => Promise<OpenRun>,
    plan: Plan,
  ): Promise<Worked<EngineResult>> {
    const { signal } = active.controller;
    const { tell, now = Date.now } = this.options;
    let log: RunLog;
    try {
      log = new RunLog(await open(), tell, now, {
        hurry: afterStop(signal, patience.disk),
        toldUpTo: this.failedAt.get(runId),
        onFailure: (error) => active.controller.abort(Stopped.byStore(toInfo(error))),
      });
    } catch (error) {
      return { result: { success: false, phase: 'Failed', error: toInfo(error) }, closed: Promise.resolve() };
    }
    attach(active, log);
    if (active.early.length > 0 && active.early.every((input) => isLate(log.run, input)))
      return {
        result: failedWith('ENGINE_NOT_ASKED', 'This question does not wait for an answer any more.'),
        closed: log.end(),
      };
    active.asking = new Asking(log, signal);
    let stop: Rest;
    let isTold = false;
    const failing = (error: unknown) => {
      const point: StopPoint = { phase: 'Failed', error: toInfo(error) };
      if (!isTold) this.tellFailure(log, point);
      isTold = true;
      return point;
    };
    try {
      stop = await heeding(signal, log.run, this.untilHeard(log, active, plan));
      const told = log.emit({ type: 'phase', ...stop });
      if (signal.aborted) log.leave();
      await told;
    } catch (error) {
      stop = failing(error);
    }
    const result = resultOf(log.run, stop);
    return { result, closed: log.end().catch((error) => void failing(error)) };
  }

  /** The record could not be written. What was not recorded did not happen; the panel is told, the journal cannot be. */
  private tellFailure(log: RunLog, point: StopPoint): void {
    log.tellOnly({ type: 'phase', ...point });
    this.failedAt.set(log.run.id, log.run.seq);
  }

  /** Words that come when the loop has just looked for them the last time are heard all the same. */
  private async untilHeard(log: RunLog, active: Active, plan: Plan): Promise<Rest> {
    for (let unheard = Number.POSITIVE_INFINITY; ; ) {
      const stop = await this.advance(log, active, plan);
      await log.idle();
      const waiting = log.run.queued.filter(({ when }) => when !== 'done').length;
      const next = active.pausing || waiting > 0 ? undefined : whenDone(log.run, stop);
      if (next) {
        await give(log, next);
        continue;
      }
      if (stop.error || active.pausing || waiting === 0 || waiting >= unheard) {
        active.ended = true; // in this very moment: who speaks now begins anew
        return stop;
      }
      unheard = waiting;
    }
  }

  private async advance(log: RunLog, active: Active, { workflowId, values, model: instead }: Plan): Promise<Rest> {
    const { run } = log;
    const restedAt = run.seq;
    const intent = restedAt === 0 ? 'start' : 'continue';
    const workflow = await this.options.workflow(run.workflowId || workflowId).catch(toInfo);
    if (intent === 'start') {
      const { id: agentId, model = this.options.modelId?.() ?? '' } = 'agent' in workflow ? workflow.agent : nobody;
      await log.emit({ type: 'run-start', workflowId, agentId, model });
    }
    const outline = 'agent' in workflow ? workflow.outline : undefined;
    if (outline && !isDeepStrictEqual(outline, run.outline)) await log.emit({ type: 'outline', outline });
    await answerAtRest(log, active.early);
    const host = await this.host().catch(toInfo);
    if (!('prepare' in host)) {
      // What became of its last calls cannot be found out now: what is said comes after that.
      for (const { userInput, attachments } of active.early.splice(0))
        await log.emit({ type: 'queued', text: userInput, ...(attachments && { attachments: [...attachments] }) });
      return { phase: 'Failed', error: host };
    }
    const place = () => ('agent' in workflow ? workflow.undoing?.(log) : undefined);
    await answerLooseEnds(
      log,
      this.evidence(log, host, async () => place()?.catch(() => undefined)),
    );
    await tellDamage(log);
    await tellCommandEnds(log); // before what the person says to it
    if (active.early.length > 0) await giveWaiting(log, restedAt); // it was said before
    for (const { when, ...input } of active.early.splice(0)) {
      if (when === 'done') await log.emit({ type: 'queued', ...saidOf(input), when });
      else await log.emit({ type: 'message', message: userMessage(input.userInput, input.attachments) });
    }
    await log.emit({ type: 'phase', phase: 'Running' });
    if (!('agent' in workflow)) return { phase: 'Failed', error: workflow };

    const { signal } = active.controller;
    const took = measureWork(run, this.options.now ?? Date.now);
    const grants = this.grantsOf(run.id);
    const isPausing = () => active.pausing ?? false;
    const context = createContext({
      maxTurns: () => 20,
      ...this.options,
      host,
      log,
      signal,
      intent,
      values,
      grants,
      isPausing,
      ...(instead !== undefined && { instead }),
      asking: active.asking!,
    });
    const naming = outline ? undefined : nameRun(log, this.options.naming);
    try {
      await host.prepare(signal, (text) => void log.emit({ type: 'progress', text }));
      const { turns, ...stop } = await workflow.advance(context);
      return turns === undefined ? stop : { ...stop, took: took(turns) };
    } catch (error) {
      if (error instanceof StoreError) throw error;
      return signal.aborted ? stopPointOf(signal) : { phase: 'Failed', error: toInfo(error) };
    } finally {
      await naming?.end();
    }
  }

  private async host(): Promise<ToolHost> {
    const { host } = this.options;
    return typeof host === 'function' ? host() : host;
  }

  /** What was allowed for this run is asked about again. */
  forget(runId: string): void {
    this.grants.delete(runId);
  }

  /** Grants last as long as the window: after a reload everything is asked again. */
  private grantsOf(runId: string): Set<string> {
    const grants = this.grants.get(runId) ?? new Set();
    this.grants.set(runId, grants);
    return grants;
  }
}

const saidOf = ({ userInput: text, attachments }: UserInput) => ({
  text,
  ...(attachments?.length && { attachments: [...attachments] }),
});

const isKept = (emitted: Promise<void>): Promise<boolean> =>
  emitted.then(
    () => true,
    () => false,
  );
/** A record begins with how the run began. */
const beginning = 'This run is only just beginning. Try it again in a moment.';

/** Whose run it is that follows nothing that can be read. */
const nobody: Pick<Agent, 'id' | 'model'> = { id: '' };
