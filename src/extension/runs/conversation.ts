import { suspensionBeforeCompaction } from '../../engine/core/compactionRefused.ts';
import type { UserInput } from '../../engine/input/questionQueue.ts';
import type { ExecutionEngine } from '../../engine/run/engine.ts';
import type { Attachment } from '../../protocol/content/messages.ts';
import type { Notice, PanelQuestionChoices } from '../../protocol/panel/panelMessages.ts';
import type { MessageDeliveryTiming, RunEvent } from '../../protocol/run/events.ts';
import { isSpendingLimitError } from '../../protocol/run/money.ts';
import { canContinueRun, isBetweenTurns } from '../../protocol/run/resumable.ts';
import { newRun, type Run } from '../../protocol/run/run.ts';
import { createRunDigest } from '../../protocol/run/runDigest.ts';
import { t } from '../../protocol/text/l10n.ts';
import { localizedErrorText } from '../../protocol/text/localized.ts';
import { StoreError } from '../../runs/journal.ts';
import { RunStore } from '../../runs/store.ts';
import type { BackgroundCommands } from '../../tools/shell/background.ts';
import type { ChatView } from '../view/chatView.ts';
import { PanelRunSnapshots, toRestingRun } from './runSnapshots.ts';
import { DisplayedRunIdFile } from './shownRunFile.ts';
import { takeOverNoticeAction, untrustedNotice } from './untrustedNotice.ts';

interface Refused {
  runId: string;
  again(): Promise<unknown>;
  isMessage: boolean;
  isElsewhere: boolean;
}

/** Conversation of the panel: input, stop and continuation act on the displayed run. Survives a reload of the window. */
export class PanelConversation {
  private shown?: string;
  /** Id of the next new run, so that settings can be chosen before its first message. */
  private next = RunStore.newId();
  private readonly shownRunFile: DisplayedRunIdFile;
  private readonly snapshots: PanelRunSnapshots;
  private readonly failed = new Set<string>();
  /** State of the displayed run in the panel: newest event, its time, and ownership by another window. */
  private known?: Pick<Run, 'id' | 'seq' | 'updatedAt'> & { isElsewhere: boolean };
  onShow?: (run: Run | null, isElsewhere: boolean) => void;
  /** Settles when the run displayed by the last window is displayed again. */
  readonly restored: Promise<void>;

  /** Settles when the newest message is on its way; mentions are read first. */
  private sending: Promise<void> = Promise.resolve();

  /** Work that failed because another window has the run or the input could not be recorded. */
  private refused?: Refused;
  private begun?: string;
  /** Run whose start could not be recorded; the next message starts a new run. */
  private unbegun?: string;

  constructor(
    private readonly engine: ExecutionEngine,
    private readonly store: RunStore,
    private readonly view: Pick<ChatView, 'post' | 'event'>,
    private readonly commands: Pick<BackgroundCommands, 'endRun'>,
    folder: string,
    private readonly listChanged: (runs?: true) => void,
    private readonly speaker: () => { workflowId?: string; agentId?: string } = () => ({}),
  ) {
    this.shownRunFile = new DisplayedRunIdFile(folder);
    this.snapshots = new PanelRunSnapshots(view, (runId) => engine.live(runId));
    this.restored = this.restore();
  }

  get runId(): string | undefined {
    return this.shown;
  }

  get id(): string {
    return this.shown ?? this.next;
  }

  get working(): boolean {
    return this.shown !== undefined && this.engine.liveIds.includes(this.shown);
  }

  /** True while a countdown to the next request runs. */
  get waitsToAsk(): boolean {
    const { progress } = (this.shown !== undefined && this.engine.live(this.shown)) || {};
    return (progress?.until ?? 0) > Date.now();
  }

  /** Sends the displayed run to a new page; for a long run the last messages first. */
  async snapshot(): Promise<void> {
    await this.restored;
    this.snapshots.supersede();
    if (this.shown !== undefined && !this.engine.live(this.shown)) await this.showLastMessages(this.shown);
    await this.showWhole();
  }

  private async showLastMessages(runId: string): Promise<void> {
    const [run, isElsewhere] = await Promise.all([
      this.store.readLastMessages(runId).catch(() => undefined), // reading the whole run reports the error
      this.store.isElsewhere(runId),
    ]);
    if (run && runId === this.shown && !this.engine.live(runId)) this.snapshots.postEnd(toRestingRun(run, isElsewhere));
  }

  private async showWhole(): Promise<void> {
    const { shown } = this;
    const run = shown && (this.engine.live(shown) ?? (await this.readStored(shown)));
    const isElsewhere = shown !== undefined && (await this.store.isElsewhere(shown));
    if (shown === this.shown)
      await this.show(run ? (this.working ? run : toRestingRun(run, isElsewhere)) : null, isElsewhere);
  }

  private async show(run: Run | null, isElsewhere = false): Promise<void> {
    this.known = run ? { id: run.id, seq: run.seq, updatedAt: run.updatedAt, isElsewhere } : undefined;
    if (await this.snapshots.post(run)) this.onShow?.(run, isElsewhere);
  }

  /** Updates the displayed run from disk while another window works on it, because that window receives the events. */
  async catchUp(): Promise<void> {
    const { shown } = this;
    if (shown === undefined || this.working) return;
    const isElsewhere = await this.store.isElsewhere(shown);
    const now = await this.store.listed(shown).catch(() => undefined);
    if (this.known?.id !== shown || shown !== this.shown || this.working) return;
    const isBehind =
      !isElsewhere && now !== undefined && now.phase !== 'Running' && now.updatedAt > this.known.updatedAt;
    if (isBehind || isElsewhere !== this.known.isElsewhere) await this.showWhole();
  }

  onEvent(event: RunEvent): void {
    if (event.type === 'phase' && event.error?.code.startsWith('STORE_')) this.failed.add(event.runId);
    if (event.type === 'run-start') this.begun = event.runId;
    if (event.runId !== this.shown) return;
    const { known } = this;
    if (known && known.id === event.runId) {
      const isBehind = event.seq > known.seq + 1; // another window continued the run before this window
      known.seq = Math.max(known.seq, event.seq);
      known.updatedAt = Math.max(known.updatedAt, event.at);
      if (isBehind) return void this.showWhole();
    }
    this.view.event(event);
  }

  /**
   * Sends a message to the displayed run.
   *
   * @param chosen choices for a user question of the run
   * @param when delivery time for a running run
   * @param named mentions being read
   * @param task for a run at rest; a working run gets the text only
   */
  async send(
    userInput: string,
    pictures?: Attachment[],
    chosen?: PanelQuestionChoices,
    when?: MessageDeliveryTiming,
    named?: Promise<Attachment[]>,
    task?: UserInput['task'],
  ): Promise<void> {
    await this.restored;
    this.view.post({ type: 'notice', notice: null });
    const [meant, isNew] = [this.id, this.shown === undefined || this.shown === this.unbegun];
    const before = this.sending;
    let sent = () => {};
    this.sending = new Promise((resolve) => {
      sent = resolve;
    });
    try {
      const files = [...(pictures ?? []), ...((await named) ?? [])];
      const input = { userInput, ...(files.length > 0 && { attachments: files }), ...(task && { task }) };
      await before;
      if (isNew && (this.shown !== meant || this.unbegun === meant))
        return await this.begin({ ...this.speaker(), ...input }, sent, textOf(input));
      const sending = this.sendTo(meant, { ...input, ...(chosen?.runId === meant && { chosen }) }, when);
      sent();
      await sending;
    } finally {
      sent();
    }
  }

  /** Changes a queued message. Text for a message that was delivered meanwhile is sent as a new message. */
  async changeWaiting(
    runId: string,
    queued: number,
    { text, when }: { text?: string; when: MessageDeliveryTiming },
    named: Attachment[] = [],
  ): Promise<void> {
    const one = (await this.waitingIn(runId)).find((waiting) => waiting.queued === queued);
    if (!one && text === undefined) return;
    const files = [...(one?.attachments ?? []), ...named];
    const input = { userInput: text ?? one!.text, ...(files.length > 0 && { attachments: files }) };
    const isChanged = one && (await this.engine.changeWaiting(runId, queued, { ...input, when }));
    if (!isChanged && text !== undefined) return this.sendTo(runId, input, when);
    if (isChanged && when === 'now') await this.work(runId, () => this.engine.continue({ runId }));
  }

  takeBack(runId: string, queued: number): Promise<void> {
    return this.engine.takeBack(runId, queued);
  }

  async waitingIn(runId: string): Promise<Run['queued']> {
    return (this.engine.live(runId) ?? (await this.readStored(runId)))?.queued ?? [];
  }

  /** Answers a user question of a run, displayed or not. A late answer is ignored. */
  async answer(chosen: PanelQuestionChoices): Promise<void> {
    await this.restored;
    await this.sendTo(chosen.runId, { userInput: '', chosen });
  }

  async sendTo(runId: string, input: UserInput, when?: MessageDeliveryTiming): Promise<void> {
    const { task: _, ...message } = input;
    if (!(await this.engine.say({ runId, ...message, ...(when && { when }) })))
      return void (await this.work(runId, () => this.engine.continue({ runId, ...input }), textOf(input)));
    if (when === 'now') await this.work(runId, () => this.engine.continue({ runId }));
  }

  /**
   * Starts and displays a run.
   *
   * @param text text that returns to the message box on failure
   */
  async begin(
    start: Omit<Parameters<ExecutionEngine['start']>[0], 'runId'>,
    begun = () => {},
    text = start.workflowId === undefined ? textOf(start) : undefined,
  ): Promise<void> {
    await this.restored;
    this.view.post({ type: 'notice', notice: null });
    const runId = this.shown === undefined ? this.next : RunStore.newId();
    await this.choose(runId);
    void this.show(newRun(runId));
    const enter = () => {
      const started = this.engine.start({ runId, ...start });
      begun();
      return started;
    };
    const again = () => this.begin(start, undefined, text);
    if ((await this.work(runId, enter, text, again)) && this.begun !== runId) this.unbegun = runId;
  }

  /**
   * Continues the displayed run, first with a compaction that a spending limit had stopped.
   *
   * @param model overrides all models until the next rest
   */
  async goOn(model?: string): Promise<void> {
    await this.restored;
    const { shown, refused } = this;
    if (refused && refused.runId === shown && !refused.isElsewhere) return this.tryRefused(refused);
    const run = shown && (this.engine.live(shown) ?? (await this.readStored(shown)));
    if (!shown || !run) {
      if (!shown)
        this.notice({ level: 'info', text: t('No run is shown. Open the run to continue, or write a message.') });
    } else if (this.working && run.held) {
      await this.endHold(shown);
      const now = this.working ? undefined : await this.readStored(shown);
      if (now && !now.held && isBetweenTurns(now)) await this.work(shown, () => this.engine.continue({ runId: shown })); // the run rested first
    } else if (this.working) this.notice({ level: 'info', text: t('This run is already in progress.') });
    else if (!canContinueRun(run))
      this.notice({ level: 'info', text: t('This run is finished. Send a message to continue.') });
    else if (suspensionBeforeCompaction(run.error)) await this.compact(model);
    else await this.work(shown, () => this.engine.continue({ runId: shown, ...(model && { model }) }));
  }

  /** Requests the pending approvals of an earlier window again. */
  async resume(runId: string): Promise<void> {
    await this.restored;
    await this.work(runId, () => this.engine.continue({ runId, onlyApprovals: true }));
    if (!this.engine.liveIds.includes(runId)) await this.catchUp(); // another window may have answered
  }

  async summary(): Promise<string | undefined> {
    await this.restored;
    const { shown } = this;
    const run = shown && (this.engine.live(shown) ?? (await this.readStored(shown)));
    return run ? createRunDigest(run) : undefined;
  }

  retryNow(): void {
    if (this.shown) this.engine.retryNow(this.shown);
  }

  async run(): Promise<Run | undefined> {
    await this.restored;
    const { shown } = this;
    return shown === undefined ? undefined : (this.engine.live(shown) ?? this.readStored(shown));
  }

  async compact(model?: string): Promise<void> {
    await this.restored;
    const { shown } = this;
    if (shown === undefined)
      return this.notice({ level: 'info', text: t('No run is shown. Open the run to compact.') });
    const compacted = this.engine.compact(shown, model);
    this.listChanged();
    const made = await compacted;
    this.listChanged();
    if (made === 'later')
      this.notice({ level: 'info', text: t('The conversation will be compacted before the next step of this run.') });
    else if (made === false) this.notice({ level: 'info', text: t('Nothing to compact yet.') });
    else if (typeof made === 'object' && !isSpendingLimitError(made))
      this.notice({ level: 'error', text: localizedErrorText(made) });
  }

  /** Stops the given runs; by default the displayed run, or all running runs if the displayed run is at rest and not held. */
  async stop(runIds?: readonly string[]): Promise<void> {
    const run = runIds || this.working ? undefined : await this.run();
    if (run?.held) return this.endHold(run.id);
    await this.stopAll(runIds ?? this.meant);
  }

  private async stopAll(runIds: readonly string[]): Promise<void> {
    await Promise.all(runIds.map((runId) => this.engine.stop(runId)));
    this.listChanged(); // ended before its events were on disk
  }

  /** Continues a held run without feedback. */
  private async endHold(runId: string): Promise<void> {
    const error = await this.engine.endHold(runId);
    if (error) this.notice({ level: 'error', text: localizedErrorText(error) });
  }

  pause(): void {
    for (const runId of this.meant) this.engine.pause(runId);
  }

  private get meant(): string[] {
    return this.working ? [this.shown!] : this.engine.liveIds;
  }

  async open(runId: string | undefined): Promise<void> {
    await this.restored;
    const stored = this.choose(runId);
    this.view.post({ type: 'notice', notice: null });
    await this.snapshot();
    await stored;
  }

  /** Stops a run with its background commands and deletes the run; returns the name for its restoration. Undefined: failed. */
  async delete(runId: string): Promise<string | undefined> {
    await this.engine.stop(runId);
    await this.commands.endRun(runId);
    const name = await this.changing(() => this.store.delete(runId));
    if (name === undefined) return undefined;
    this.engine.forget(runId);
    if (this.shown === runId) await this.open(undefined);
    return name;
  }

  async bringBack(name: string, show: boolean): Promise<void> {
    const runId = await this.changing(() => this.store.deleted.restore(name));
    if (runId !== undefined && show) await this.open(runId);
  }

  private async changing<Value>(change: () => Promise<Value>): Promise<Value | undefined> {
    try {
      return await change();
    } catch (error) {
      this.notice({ level: 'error', text: localizedErrorText(StoreError.from(error)) });
      return undefined;
    } finally {
      this.listChanged(true);
    }
  }

  notice(notice: Notice): void {
    this.view.post({ type: 'notice', notice });
  }

  /**
   * Runs an engine call and reports failures to open the run; other errors are events of the run.
   *
   * @param text text that returns to the message box on failure
   * @param again retries the work after a takeover
   * @returns true if the input was not recorded
   */
  private async work(
    runId: string,
    enter: () => ReturnType<ExecutionEngine['start']>,
    text?: string,
    again: Refused['again'] = () => this.work(runId, enter, text),
  ): Promise<boolean> {
    const entered = enter();
    this.listChanged();
    const result = await entered;
    this.listChanged();
    const isReported = this.failed.delete(runId);
    const { error, isUnheard = false } = result;
    const { code = '' } = error ?? {};
    if (code === 'ENGINE_UNTRUSTED' && this.shown === runId) this.notice(untrustedNotice());
    const isElsewhere = code === 'STORE_LOCKED';
    const isRefused = /^(STORE|ENGINE_RUN)_/.test(code) && (isUnheard || (isElsewhere && !isReported));
    if (code === 'ENGINE_ABORTED' && isUnheard && text !== undefined && this.shown === runId)
      this.view.post({ type: 'unheard', text }); // it was stopped while it waited
    this.refused = isRefused ? { runId, again, isMessage: text !== undefined, isElsewhere } : undefined;
    if (!error || !/^(STORE|ENGINE_RUN)_/.test(code) || this.shown !== runId) return isRefused && isUnheard;
    if (isUnheard && text !== undefined) this.view.post({ type: 'unheard', text: text });
    if (!isReported)
      this.notice({
        level: 'error',
        text: localizedErrorText(error),
        ...(isElsewhere && { action: takeOverNoticeAction() }),
      });
    return isRefused && isUnheard;
  }

  /** Reloads the run and repeats the work that another window prevented. Resolves to true if there was any. */
  async goOnWithRefused(runId: string): Promise<boolean> {
    const refused = this.refused;
    this.refused = undefined;
    await this.open(runId);
    if (refused?.runId !== runId) return false;
    await this.tryRefused(refused);
    return true;
  }

  private async tryRefused({ again, isMessage }: Refused): Promise<void> {
    this.refused = undefined;
    if (isMessage) this.view.post({ type: 'say-unheard' });
    else await again();
  }

  private async choose(runId: string | undefined): Promise<void> {
    this.shown = runId;
    this.next = RunStore.newId();
    this.listChanged(true);
    await this.shownRunFile.write(this.shown);
  }

  /** Stores the displayed run when the window closes. The last closing window wins, which restores the run after a reload. */
  async leave(): Promise<void> {
    await this.restored;
    await this.shownRunFile.write(this.shown);
  }

  private async restore(): Promise<void> {
    const runId = await this.shownRunFile.read();
    if (runId && (await this.store.has(runId))) this.shown = runId;
  }

  private async readStored(runId: string): Promise<Run | undefined> {
    try {
      return await this.store.read(runId);
    } catch (error) {
      if (this.engine.liveIds.includes(runId)) return newRun(runId); // just started, its first line is being written
      this.notice({ level: 'error', text: localizedErrorText(StoreError.from(error)) });
      return undefined;
    }
  }
}

const textOf = ({ userInput, attachments }: Partial<UserInput>): string | undefined =>
  userInput || attachments?.length ? (userInput ?? '') : undefined;
