import * as vscode from 'vscode';
import { isSameToolCall, type ToolCallKey } from '../../protocol/content/callKey.ts';
import type { PermissionRule } from '../../protocol/content/rule.ts';
import type { Notice } from '../../protocol/panel/panelMessages.ts';
import { t } from '../../protocol/text/l10n.ts';
import { onAbort } from '../../protocol/values/abort.ts';
import { folderAccessTool } from '../../tools/core/commandSandbox.ts';
import type { ApprovalAnswer, ApprovalRequest, ApprovalRequester } from '../../tools/core/tool.ts';
import { alwaysAllowRuleChoices } from '../../tools/policy/rules.ts';
import {
  type ApprovalOrigin,
  type ApprovalText,
  approvalBatchText,
  approvalButtonLabels,
  approvalButtons,
  approvalText,
  fitsApprovalList,
  maxListedApprovals,
  orderDialogButtons,
} from '../dialogs/approvalText.ts';
import { notify } from '../dialogs/notify.ts';
import { msUntilIdleCheck } from '../view/idleDetection.ts';
import type { UserActivity } from '../view/userActivity.ts';
import type { AllowRulesAddedInWindow } from './addedRules.ts';
import { DialogLock } from './dialogSlot.ts';
import { approvalCallKey, approvalsOfSameReply, findApproval, type PendingApproval } from './findApproval.ts';
import { ApprovalReminders, type RemindableApproval } from './reminders.ts';
import type { ApprovalReviewEditors } from './reviews.ts';
import { outsideChoice, type RuleChoice, ruleChoices } from './ruleChoices.ts';

interface Waiting extends RemindableApproval, PendingApproval {
  request: ApprovalRequest;
  answer(answer: ApprovalAnswer): void;
  single: boolean;
  /** Requested by the user: no wait for idle time. */
  called: boolean;
}

interface Dependencies {
  reviews: ApprovalReviewEditors;
  addedRules: AllowRulesAddedInWindow;
  presence: UserActivity;
  changed(waiting: number): void;
  shown(): string | undefined;
  otherRun(runId: string): string | undefined;
  taskOf(key: ToolCallKey): string | undefined;
  notice(notice: Notice): void;
  /** Shows a notification of the system; null closes it. */
  systemNotification(text: string | null): void;
  needsInstructions(runId: string): void;
}

/**
 * Queue of approval dialogs: native modal dialogs, one at a time, in order of request; requests of a reply share a dialog. Closing the
 * dialog denies, and the message box then asks for instructions. The first button is *Review…*, so Enter never allows. A request waits
 * during user activity and while the window is inactive.
 *
 * The first answer wins: dialog, review or message box. Some desktops lose a dialog without a result, so nothing depends on the end of a
 * dialog: *Answer…* abandons the dialog, and a late result is ignored. While an abandoned dialog exists (the editor would queue others
 * behind it), the user answers requests in the review.
 */
export class ApprovalDialogQueue implements vscode.Disposable {
  private readonly waiting: Waiting[] = [];
  private readonly settled = new vscode.EventEmitter<void>();
  private readonly listeners: vscode.Disposable;
  private readonly front = new DialogLock(() => this.next());
  private readonly reminders: ApprovalReminders<Waiting>;
  private requested = 0;
  private expected?: { key: ToolCallKey; response: 'show' | 'deny' };
  private comingUp?: NodeJS.Immediate;
  private lookingAgain?: NodeJS.Timeout;

  constructor(private readonly parts: Dependencies) {
    this.listeners = vscode.Disposable.from(
      this.settled,
      vscode.window.onDidChangeWindowState(({ focused }) => {
        if (!focused) return;
        this.reminders.windowFocused();
        this.next();
      }),
    );
    this.reminders = new ApprovalReminders({
      all: () => [...this.waiting].sort((one, other) => one.order - other.order),
      isWaiting: (one) => this.waiting.includes(one),
      panelInView: () => parts.presence.panelInView,
      otherRun: (runId) => parts.otherRun(runId),
      taskOf: (key) => parts.taskOf(key),
      notice: (notice) => parts.notice(notice),
      systemNotification: (text) => parts.systemNotification(text),
    });
  }

  dispose(): void {
    this.listeners.dispose();
    clearTimeout(this.lookingAgain);
  }

  readonly approve: ApprovalRequester = (request, signal) =>
    new Promise((resolve) => {
      const isMeant = this.expected !== undefined && isSameToolCall(this.expected.key, approvalCallKey(request));
      const response = isMeant ? this.expected!.response : undefined;
      if (isMeant) this.expected = undefined;
      if (response === 'deny' && !signal.aborted) {
        resolve(denialOf(request));
        void this.takeInstructions([request]);
        return;
      }
      const waiting: Waiting = {
        request,
        order: ++this.requested,
        isDeferred: false,
        single: false,
        called: response === 'show',
        isReminded: false,
        answer: (answer) => {
          const index = this.waiting.indexOf(waiting);
          if (index < 0) return; // already settled: a late answer is ignored
          this.waiting.splice(index, 1);
          stopListening();
          resolve(answer); // first: the run continues even if the display fails
          waiting.unremind?.();
          this.parts.reviews.forget(request).catch(() => {}); // an open tab is harmless without a listener
          this.parts.changed(this.waiting.length);
          this.settled.fire();
          this.next();
        },
      };
      if (signal.aborted) return resolve(no);
      const stopListening = onAbort(signal, () => waiting.answer(no));
      this.waiting.push(waiting);
      this.parts.changed(this.waiting.length);
      this.next();
    });

  /** Denies or shows the next request of this call at once: the user chose this on the card before the plan was recomputed. */
  expect(key: ToolCallKey, response: 'show' | 'deny'): void {
    this.expected = { key, response };
  }

  async show(key?: ToolCallKey): Promise<void> {
    const chosen = this.find(key);
    if (!chosen) return;
    const group = this.togetherWith(chosen);
    for (const one of group) Object.assign(one, { isDeferred: false, called: true });
    this.waiting.sort((one, other) => Number(other === chosen) - Number(one === chosen));
    if (this.front.isComingUp) return;
    this.front.giveUp();
    if (this.front.isBlocked) await this.front.take(() => this.review(group.slice(0, maxListedApprovals)));
    this.next();
  }

  async deny(key?: ToolCallKey): Promise<void> {
    const chosen = this.find(key);
    if (!chosen) return;
    this.front.giveUp();
    await this.denyEach([chosen]);
  }

  /** Handles the buttons and keys of a review; `uri` is the review, by default the active editor. */
  async answerReview(response: 'allow' | 'deny', uri: vscode.Uri | undefined): Promise<void> {
    const reviewed = this.reviewed(uri);
    if (!reviewed) return;
    reviewed.single = true;
    await this.answerReviewed(response, [reviewed]);
  }

  /** Copies the command of a review as it stands there, with the edits of the user. */
  async copyReviewedCommand(uri: vscode.Uri | undefined): Promise<void> {
    const request = this.reviewed(uri)?.request;
    const command = request && (this.parts.reviews.edited(request) ?? request.plan.command);
    if (command !== undefined) await vscode.env.clipboard.writeText(command);
  }

  private reviewed(uri: vscode.Uri | undefined): Waiting | undefined {
    const id = uri ? this.parts.reviews.idOf(uri) : this.parts.reviews.oneInFront;
    return this.waiting.find(({ request }) => request.id === id);
  }

  async answerReviews(response: 'allow' | 'deny'): Promise<void> {
    const shown = this.parts.reviews.severalInFront();
    const group = this.waiting.filter(({ request }) => shown.has(request.id));
    await this.answerReviewed(response, group);
  }

  /** Answers exactly the text at the moment of the button press; the focus returns first. */
  private async answerReviewed(response: 'allow' | 'deny', group: Waiting[]): Promise<void> {
    if (group.length === 0) return;
    this.front.giveUp(); // the review is usable, so the dialog is not visible
    const answers = group.map((one) => {
      const answer = response === 'deny' ? denialOf(one.request) : yes(this.parts.reviews.edited(one.request));
      return () => one.answer(answer);
    });
    await this.parts.presence.back('nowhere');
    for (const answer of answers) answer();
    if (response === 'deny') await this.takeInstructions(group.map(({ request }) => request));
  }

  private async denyEach(group: readonly Waiting[]): Promise<void> {
    for (const one of group) one.answer(denialOf(one.request));
    await this.takeInstructions(group.map(({ request }) => request));
  }

  /** Focuses the message box and asks for instructions after a denial that holds the run. */
  private async takeInstructions([request]: readonly ApprovalRequest[]): Promise<void> {
    if (!request?.canHold) return;
    if (request.runId === this.parts.shown()) await this.parts.presence.back('nowhere');
    else this.parts.needsInstructions(request.runId);
  }

  get count(): number {
    return this.waiting.length;
  }

  has(runId: string, toolCallId?: string): boolean {
    return this.waiting.some(
      ({ request }) => request.runId === runId && (toolCallId === undefined || request.call.id === toolCallId),
    );
  }

  /** Tests if the user sees an approval: the review is active, or the run is shown. */
  get inFront(): boolean {
    const { reviewed, shown } = this.looking;
    return this.waiting.some(({ request }) => reviewed.has(request.id) || request.runId === shown);
  }

  private get looking() {
    return { reviewed: this.parts.reviews.inFront(), shown: this.parts.shown() };
  }

  private find(key?: ToolCallKey): Waiting | undefined {
    return findApproval(this.waiting, key, this.looking);
  }

  /** Schedules the next dialog, so that simultaneous requests are collected first. */
  private next(): void {
    if (this.comingUp) return;
    this.comingUp = setImmediate(() => {
      this.comingUp = undefined;
      if (!this.front.isTaken) void this.front.take((over) => this.askNext(over));
    });
  }

  private async askNext(over: AbortSignal): Promise<void> {
    clearTimeout(this.lookingAgain);
    while (!over.aborted) {
      const first = this.waiting.find((one) => !one.isDeferred);
      if (!first) return;
      if (this.front.isBlocked || !vscode.window.state.focused) return this.reminders.remind(this.togetherWith(first));
      const look = await this.parts.presence.look();
      if (over.aborted || first.isDeferred || !this.waiting.includes(first) || !vscode.window.state.focused) continue;
      const wait = first.called ? 0 : msUntilIdleCheck(look);
      if (wait > 0) {
        if (look.panel === 'silent') this.reminders.notify(this.togetherWith(first)); // the panel may be unable to show the request
        this.lookingAgain = setTimeout(() => this.next(), wait);
        return;
      }
      const group = this.togetherWith(first);
      for (const one of group) {
        one.isReminded = false;
        one.unremind?.();
      }
      try {
        await (group.length > 1 ? this.askAll(group.slice(0, maxListedApprovals), over) : this.ask(first, over));
      } catch (error) {
        if (isCanceled(error)) return this.reminders.remind(group); // the window closes without an answer
        if (!over.aborted) first.answer(no); // a request that cannot be shown counts as denied
      }
      await new Promise((resolve) => setImmediate(resolve)); // an answer may have settled others
    }
  }

  /** Returns the pressed button of a native dialog; rejects if abandoned. */
  private async dialog({ message, detail }: ApprovalText, buttons: string[], over: AbortSignal) {
    const shown = vscode.window.showWarningMessage(message, { modal: true, detail }, ...orderDialogButtons(buttons));
    const chosen = await this.front.ended(shown, over);
    // A list or a review needs the focus, so it must not return to the panel.
    if (chosen !== t(approvalButtonLabels.allowAlways) && chosen !== t(approvalButtonLabels.review))
      await this.parts.presence.back();
    over.throwIfAborted();
    return chosen;
  }

  private togetherWith(one: Waiting): Waiting[] {
    if (one.single || !fitsApprovalList(one.request)) return [one];
    const ofReply = approvalsOfSameReply(this.waiting, one);
    return ofReply.filter((other) => !other.single && fitsApprovalList(other.request));
  }

  private originOf(request: ApprovalRequest): ApprovalOrigin {
    const [run, task] = [this.parts.otherRun(request.runId), this.parts.taskOf(approvalCallKey(request))];
    return { ...(run !== undefined && { run }), ...(task !== undefined && { task }) };
  }

  private async ask(waiting: Waiting, over: AbortSignal): Promise<void> {
    const { request } = waiting;
    const edited = this.parts.reviews.edited(request);
    const reviewed = this.parts.reviews.has(request);
    const text = approvalText(request, edited, reviewed, this.originOf(request));
    const offered = alwaysAllowRuleChoices(request);
    const buttons = approvalButtons(request, { edited, reviewed, always: offered.length > 0 });
    const chosen = await this.dialog(text, buttons, over);
    const is = (label: keyof typeof approvalButtonLabels) => chosen === t(approvalButtonLabels[label]);
    if (is('review')) await this.review([waiting]);
    else if (is('allowFolder')) await this.allowFolder(waiting);
    else if (is('allowAlways')) await this.allowAlways(waiting, offered, over);
    else if (is('allow') || is('runOutside') || is('allowChanged')) waiting.answer(yes(edited));
    else if (is('allowRun')) waiting.answer({ decision: 'allow-run' });
    else await this.denyEach([waiting]);
  }

  private async allowAlways(waiting: Waiting, offered: readonly PermissionRule[][], over: AbortSignal): Promise<void> {
    const title = t('Always Allow');
    const placeholder = t('Towpath: Approvals… shows these rules and can delete them');
    const pick = (choices: RuleChoice[]) =>
      this.whileWaiting([waiting], over, (gone) => pickNumbered(t('Back'), choices, { title, placeholder }, gone));
    const own = waiting.request.plan.offersOutside ? [outsideChoice()] : [];
    let chosen = await pick([...ruleChoices(offered), ...own]);
    if (chosen?.outside) return over.aborted ? undefined : waiting.answer({ decision: 'deny', outside: true });
    if (chosen && !chosen.made && !over.aborted) chosen = await pick(ruleChoices(offered, true));
    const made = chosen?.made;
    if (!made || over.aborted || !this.waiting.includes(waiting)) return;
    if (await this.addRules(waiting, made)) waiting.answer({ decision: 'allow', always: true });
  }

  /** Allows the folder that the sandbox did not let the command write. The command is decided again, and runs inside. */
  private async allowFolder(waiting: Waiting): Promise<void> {
    const rule = { effect: 'allow', tool: folderAccessTool, location: waiting.request.plan.allowableFolder! } as const;
    if (await this.addRules(waiting, { rules: [rule], scope: 'workspace' }))
      waiting.answer({ decision: 'allow', isDecidedAgain: true });
  }

  private async addRules({ request }: Waiting, made: NonNullable<RuleChoice['made']>): Promise<boolean> {
    try {
      await this.parts.addedRules.add({ key: approvalCallKey(request), ...made });
      return true;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      notify('error', t('The rule could not be stored: {0}', why));
      return false;
    }
  }

  /** Shows several requests in a common dialog. Cancel denies all requests of the batch. */
  private async askAll(group: Waiting[], over: AbortSignal): Promise<void> {
    const all = approvalsOfSameReply(this.waiting, group[0]!);
    const edits = new Map(group.map((one) => [one, this.parts.reviews.edited(one.request)]));
    const changed = group.filter((one) => edits.get(one) !== undefined).map(({ request }) => request);
    const requests = group.map(({ request }) => request);
    const text = approvalBatchText(requests, all.length, new Set(changed), this.originOf(requests[0]!));
    const allowAll = t('Allow All ({0})', group.length);
    const [review, oneByOne] = [t(approvalButtonLabels.review), t(approvalButtonLabels.oneByOne)];
    const chosen = await this.dialog(text, [review, allowAll, oneByOne], over);
    if (chosen === review) await this.review(group);
    else if (chosen === oneByOne) for (const one of all) one.single = true;
    else if (chosen === allowAll) for (const one of group) one.answer(yes(edits.get(one)));
    else await this.denyEach(all);
  }

  /** Opens the review with the focus, to read, edit and answer by keyboard; Enter inserts a line. */
  private async review(group: Waiting[]): Promise<void> {
    const still = this.stillWaiting(group);
    if (still.length === 0) return;
    for (const one of still) one.isDeferred = true;
    await this.parts.reviews.open(still.map(({ request }) => request));
    const open = this.stillWaiting(still);
    this.reminders.remind(open);
    // The editor does not focus a multi-file diff; a review that was answered on its card while it opened has taken the focus and closes.
    if (still.length > 1 || open.length === 0) await this.parts.presence.back('nowhere');
  }

  private async whileWaiting<Given>(
    group: Waiting[],
    over: AbortSignal,
    open: (gone: vscode.CancellationToken) => Thenable<Given>,
  ): Promise<Given> {
    const cancel = new vscode.CancellationTokenSource();
    const close = () => cancel.cancel();
    const stopListening = onAbort(over, close);
    const gone = this.settled.event(() => this.stillWaiting(group).length === 0 && close());
    try {
      return await open(cancel.token);
    } finally {
      gone.dispose();
      cancel.dispose();
      stopListening();
      if (!over.aborted) await this.parts.presence.back();
    }
  }

  runShown(): void {
    if (this.parts.presence.panelInView) this.reminders.showNotice();
  }

  panelTurned(): void {
    this.reminders.panelTurned(this.waiting);
  }

  private stillWaiting(group: Waiting[]): Waiting[] {
    return group.filter((one) => this.waiting.includes(one));
  }
}

const isCanceled = (error: unknown): boolean => error instanceof Error && error.name === 'Canceled';

const no: ApprovalAnswer = { decision: 'deny' };

const denialOf = ({ canHold }: ApprovalRequest): ApprovalAnswer => ({ ...no, ...(canHold && { holds: true }) });

const yes = (edited: string | undefined): ApprovalAnswer => ({
  decision: 'allow',
  ...(edited !== undefined && { edited }),
});

/**
 * Shows a list with numeric shortcuts that stays open until answered. Enter alone goes back, because a held key may reach the list.
 * @param back first entry
 * @param choices numbered from 1, up to one digit
 * @param gone closes the list
 */
async function pickNumbered<Choice extends vscode.QuickPickItem>(
  back: string,
  choices: readonly Choice[],
  { title, placeholder }: { title: string; placeholder: string },
  gone: vscode.CancellationToken,
): Promise<Choice | undefined> {
  const picker = vscode.window.createQuickPick<vscode.QuickPickItem & { choice?: Choice }>();
  Object.assign(picker, { title, placeholder, ignoreFocusOut: true });
  picker.items = [
    { label: `$(arrow-left) ${back}` },
    ...choices.map((choice, at) => ({
      ...choice,
      label: at < 9 ? `${at + 1} · ${choice.label}` : choice.label,
      choice,
    })),
  ];
  try {
    return await new Promise((resolve) => {
      picker.onDidChangeValue((typed) => /^[1-9]$/.test(typed) && choices[+typed - 1] && resolve(choices[+typed - 1]));
      picker.onDidAccept(() => resolve(picker.selectedItems[0]?.choice));
      picker.onDidHide(() => resolve(undefined));
      gone.onCancellationRequested(() => resolve(undefined));
      picker.show();
    });
  } finally {
    picker.dispose();
  }
}
