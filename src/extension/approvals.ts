import * as vscode from 'vscode';
import type { Rule } from '../protocol/policy.ts';
import { visibleLine } from '../protocol/visible.ts';
import { coverage, rulesFor } from '../tools/gate/rules.ts';
import type { ApprovalAnswer, ApprovalRequest, Approve } from '../tools/tool.ts';
import { scopes } from './approvalsMenu.ts';
import type { Policies } from './policies.ts';
import { batchText, buttonsOf, isListable, labels, listLimit, questionText, withoutLinks } from './questionText.ts';
import type { Reviews } from './reviews.ts';

const { review, allow, allowChanged, allowRun, allowAlways, oneByOne, denyWithWords } = labels;

/** Milliseconds without a key after which a person counts as not typing in an editor. */
const idleMs = 1500;

interface Waiting {
  request: ApprovalRequest;
  answer(answer: ApprovalAnswer): void;
  /** Put aside to be reviewed: shown again when the person asks for it. */
  aside: boolean;
  /** Asked about by itself, though others came with it. */
  single: boolean;
  /** Closes the notification that it waits. */
  unremind?(): void;
}

/**
 * Questions to the person, as native modals, one at a time, in the order they were asked; those of one answer of the model
 * together. Closing the dialog is a no. The first button is *Review…*, so that Enter never allows. A question waits while
 * somebody types, and while the window is not in front.
 */
export class Approvals implements vscode.Disposable {
  private readonly waiting: Waiting[] = [];
  private readonly settled = new vscode.EventEmitter<void>();
  private readonly listeners: vscode.Disposable;
  private open = false;
  private typingInPanel = false;
  private typingInEditor?: NodeJS.Timeout;
  private comingUp?: NodeJS.Immediate;

  constructor(
    private readonly reviews: Reviews,
    private readonly policies: Policies,
    private readonly changed: (waiting: number) => void,
  ) {
    this.listeners = vscode.Disposable.from(
      this.settled,
      vscode.window.onDidChangeWindowState(({ focused }) => focused && this.next()),
      vscode.window.onDidChangeTextEditorSelection(({ kind }) => {
        if (kind === vscode.TextEditorSelectionChangeKind.Keyboard) this.typed();
      }),
    );
  }

  dispose(): void {
    this.listeners.dispose();
    clearTimeout(this.typingInEditor);
  }

  readonly approve: Approve = (request, signal) =>
    new Promise((resolve) => {
      const waiting: Waiting = {
        request,
        aside: false,
        single: false,
        answer: (answer) => {
          const place = this.waiting.indexOf(waiting);
          if (place < 0) return; // settled before: a late answer is no answer
          this.waiting.splice(place, 1);
          signal.removeEventListener('abort', gone);
          waiting.unremind?.();
          this.reviews.forget(request).catch(() => {}); // a tab that stays open does no harm: nothing hears it any more
          this.changed(this.waiting.length);
          this.settled.fire();
          resolve(answer);
          this.next();
        },
      };
      const gone = () => waiting.answer({ decision: 'deny' });
      if (signal.aborted) return resolve({ decision: 'deny' });
      signal.addEventListener('abort', gone);
      this.waiting.push(waiting);
      this.changed(this.waiting.length);
      this.next();
    });

  /** Whether a message is being typed: a dialog under a person's fingers gets answered by accident. */
  setTyping(typing: boolean): void {
    this.typingInPanel = typing;
    if (!typing) this.next();
  }

  /** Brings a question, by its id or its call's (or the oldest one), to the front. */
  show(id?: string): void {
    const chosen = this.find(id);
    if (!chosen) return;
    for (const one of this.togetherWith(chosen)) one.aside = false;
    this.waiting.sort((one, other) => Number(other === chosen) - Number(one === chosen));
    this.typingInPanel = false;
    this.stopTyping();
    this.next();
  }

  /** A no with words, for a question and those that are asked with it. An empty box is a plain no, a closed one no answer. */
  async denyWithWords(id?: string): Promise<void> {
    const chosen = this.find(id);
    if (chosen) await this.alone(() => this.askForWords(this.togetherWith(chosen)));
    this.next();
  }

  /** The buttons above a review; `uri` is what it shows. */
  answerReview(how: 'allow' | 'deny' | 'words', uri: vscode.Uri | undefined): void {
    const reviewed = this.waiting.find(({ request }) => request.id === this.reviews.idOf(uri));
    if (!reviewed) return;
    reviewed.single = true;
    if (how === 'words') void this.denyWithWords(reviewed.request.id);
    else if (how === 'deny') reviewed.answer({ decision: 'deny' });
    else reviewed.answer(yes(this.reviews.edited(reviewed.request)));
  }

  get count(): number {
    return this.waiting.length;
  }

  private find(id?: string): Waiting | undefined {
    return this.waiting.find(({ request }) => !id || request.id === id || request.call.id === id);
  }

  /** Soon, so that questions which are asked at the same time are all here. */
  private next(): void {
    if (this.comingUp) return;
    this.comingUp = setImmediate(() => {
      this.comingUp = undefined;
      void this.alone(() => this.askNext());
    });
  }

  /** One dialog at a time. What fails is a no. */
  private async alone(ask: () => Promise<void>): Promise<void> {
    if (this.open) return;
    this.open = true;
    try {
      await ask();
    } finally {
      this.open = false;
    }
  }

  private async askNext(): Promise<void> {
    for (;;) {
      const first = this.waiting.find((one) => !one.aside);
      if (!first || this.typingInPanel || this.typingInEditor) return;
      const group = this.togetherWith(first);
      if (!vscode.window.state.focused) return this.remind(group);
      for (const one of group) one.unremind?.();
      try {
        await (group.length > 1 ? this.askAll(group.slice(0, listLimit)) : this.ask(first));
      } catch {
        first.answer({ decision: 'deny' }); // a question that cannot be asked is a no
      }
      await new Promise((resolve) => setImmediate(resolve)); // an answer may have settled others
    }
  }

  /** A question with those that one dialog can ask about together with it. */
  private togetherWith(one: Waiting): Waiting[] {
    if (one.single || !isListable(one.request)) return [one];
    return this.ofBatch(one).filter((other) => !other.single && isListable(other.request));
  }

  private ofBatch(one: Waiting): Waiting[] {
    return this.waiting.filter(({ request }) => request.batch === one.request.batch);
  }

  private async ask(waiting: Waiting): Promise<void> {
    const { request } = waiting;
    const edited = this.reviews.edited(request);
    const reviewed = this.reviews.has(request);
    const { message, detail } = questionText(request, edited, reviewed);
    const others = this.ofBatch(waiting);
    const offered = rulesFor(request);
    const buttons = buttonsOf(request, {
      edited,
      reviewed,
      always: offered.length > 0,
      waiting: others.length,
      oneByOne: waiting.single,
    });
    const chosen = await vscode.window.showWarningMessage(message, { modal: true, detail }, ...buttons);
    if (chosen === review) await this.review([waiting]);
    else if (chosen === allowAlways) await this.allowAlways(waiting, offered);
    else if (chosen === allow || chosen === allowChanged) waiting.answer(yes(edited));
    else if (chosen === allowRun) waiting.answer({ decision: 'allow-run' });
    else for (const one of chosen?.startsWith('Deny All') ? others : [waiting]) one.answer({ decision: 'deny' });
  }

  /** Without a choice the question is still open, and is shown again. */
  private async allowAlways(waiting: Waiting, offered: readonly Rule[][]): Promise<void> {
    const rules = scopes().flatMap(({ scope, words }) =>
      offered.map((rules) => ({
        label: `${visibleLine(rules.map(coverage).join(' and '))} ${words}`,
        made: { rules, scope },
      })),
    );
    const items = [{ label: '$(arrow-left) Back to the question', made: undefined }, ...rules]; // what Enter does
    const title = 'Always allow, without a question';
    const placeHolder = 'Towpath: Approvals… shows these rules and deletes them';
    const cancel = new vscode.CancellationTokenSource();
    const gone = this.settled.event(() => !this.waiting.includes(waiting) && cancel.cancel());
    const chosen = await vscode.window.showQuickPick(items, { title, placeHolder, ignoreFocusOut: true }, cancel.token);
    gone.dispose();
    cancel.dispose();
    if (!chosen?.made || !this.waiting.includes(waiting)) return;
    try {
      await this.policies.add(chosen.made.scope, ...chosen.made.rules);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      void vscode.window.showErrorMessage(withoutLinks(`The rule could not be kept: ${why}`));
      return;
    }
    waiting.answer({ decision: 'allow', always: true });
  }

  /** Several in one dialog. Cancel is a no to everything that was asked at the same time. */
  private async askAll(group: Waiting[]): Promise<void> {
    const all = this.ofBatch(group[0]!);
    const edits = new Map(group.map((one) => [one, this.reviews.edited(one.request)]));
    const changed = group.filter((one) => edits.get(one) !== undefined).map(({ request }) => request);
    const requests = group.map(({ request }) => request);
    const { message, detail } = batchText(requests, all.length, new Set(changed));
    const allowAll = `Allow All (${group.length})`;
    const buttons = [review, allowAll, oneByOne, denyWithWords];
    const chosen = await vscode.window.showWarningMessage(message, { modal: true, detail }, ...buttons);
    if (chosen === review) await this.review(group);
    else if (chosen === oneByOne) for (const one of all) one.single = true;
    else if (chosen === denyWithWords) await this.askForWords(all);
    else if (chosen === allowAll) for (const one of group) one.answer(yes(edits.get(one)));
    else for (const one of all) one.answer({ decision: 'deny' });
  }

  private async review(group: Waiting[]): Promise<void> {
    for (const one of group) one.aside = true;
    await this.reviews.open(group.map(({ request }) => request));
    this.remind(group);
  }

  private async askForWords(group: Waiting[]): Promise<void> {
    const cancel = new vscode.CancellationTokenSource();
    const ids = new Set(group.map(({ request }) => request.id));
    const stillThere = () => this.waiting.filter(({ request }) => ids.has(request.id));
    const gone = this.settled.event(() => stillThere().length === 0 && cancel.cancel());
    const input = {
      title: 'Say no, and why',
      prompt: 'The model is told your words. Nothing is run.',
      placeHolder: 'What should it do instead?',
      ignoreFocusOut: true,
    };
    const words = await vscode.window.showInputBox(input, cancel.token);
    gone.dispose();
    cancel.dispose();
    if (words !== undefined) for (const one of stillThere()) one.answer({ decision: 'deny', words });
    else this.putAside(stillThere());
  }

  private putAside(group: Waiting[]): void {
    for (const one of group) one.aside = true;
    this.remind(group);
  }

  /** A notification as long as they wait and no dialog shows them: the editor is free to read and write in. */
  private remind(group: Waiting[]): void {
    const waiting = group.filter((one) => this.waiting.includes(one) && !one.unremind);
    const [first] = waiting;
    if (!first) return;
    const { request } = first;
    const what = waiting.length > 1 ? `${waiting.length} questions` : withoutLinks(request.plan.what);
    const link = (text: string, command: string) =>
      `[${text}](command:${command}?${encodeURIComponent(JSON.stringify([request.id]))})`;
    const ways = `${link('Answer…', 'towpath.answer')} · ${link(denyWithWords, 'towpath.denyWithWords')}`;
    const title = `Towpath waits: ${ways} · ${what}`;
    void vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title }, () => {
      return new Promise<void>((close) => {
        const unremind = () => {
          close();
          for (const one of waiting) one.unremind = undefined;
          setImmediate(() => this.remind(waiting.filter((one) => one.aside))); // the others, when one was answered by itself
        };
        for (const one of waiting) one.unremind = unremind;
      });
    });
  }

  private typed(): void {
    clearTimeout(this.typingInEditor);
    this.typingInEditor = setTimeout(() => {
      this.stopTyping();
      this.next();
    }, idleMs);
  }

  private stopTyping(): void {
    clearTimeout(this.typingInEditor);
    this.typingInEditor = undefined;
  }
}

const yes = (edited: string | undefined): ApprovalAnswer => ({
  decision: 'allow',
  ...(edited !== undefined && { edited }),
});
