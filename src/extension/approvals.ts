import * as vscode from 'vscode';
import { visible, visibleLine } from '../protocol/visible.ts';
import type { ApprovalAnswer, ApprovalRequest, Approve } from '../tools/tool.ts';
import type { Diffs } from './diffs.ts';

const allow = 'Allow';
const allowRun = 'Allow for This Run';
const review = 'Review…';

interface Waiting {
  request: ApprovalRequest;
  answer(answer: ApprovalAnswer): void;
  /** Put aside to be reviewed: shown again when the person asks for it. */
  aside: boolean;
}

/**
 * Questions to the person, as native modals, one at a time, in the order they were asked. Closing the dialog is a no. The
 * first button is *Review…*, so that Enter never allows. A question waits while a message is being typed.
 */
export class Approvals {
  private readonly waiting: Waiting[] = [];
  private open = false;
  private typing = false;

  constructor(
    private readonly diffs: Diffs,
    private readonly changed: (waiting: number) => void,
  ) {}

  readonly approve: Approve = (request, signal) =>
    new Promise((resolve) => {
      const waiting: Waiting = {
        request,
        aside: false,
        answer: (answer) => {
          const place = this.waiting.indexOf(waiting);
          if (place < 0) return; // answered or stopped before: a late answer is no answer
          this.waiting.splice(place, 1);
          signal.removeEventListener('abort', gone);
          this.diffs.forget(request.id);
          this.changed(this.waiting.length);
          resolve(answer);
        },
      };
      const gone = () => waiting.answer({ decision: 'deny' });
      if (signal.aborted) return resolve({ decision: 'deny' });
      signal.addEventListener('abort', gone);
      this.waiting.push(waiting);
      this.changed(this.waiting.length);
      void this.next();
    });

  /** Whether a message is being typed: a dialog under a person's fingers gets answered by accident. */
  setTyping(typing: boolean): void {
    this.typing = typing;
    if (!typing) void this.next();
  }

  /** Brings the question of a call (or the oldest one) to the front. */
  show(toolCallId?: string): void {
    const chosen = this.waiting.find(({ request }) => !toolCallId || request.call.id === toolCallId);
    if (!chosen) return;
    chosen.aside = false;
    this.typing = false;
    void this.next();
  }

  get count(): number {
    return this.waiting.length;
  }

  private async next(): Promise<void> {
    const waiting = this.waiting.find((one) => !one.aside);
    if (!waiting || this.open || this.typing) return;
    this.open = true;
    try {
      await this.ask(waiting);
    } catch {
      waiting.answer({ decision: 'deny' }); // a question that cannot be asked is a no
    } finally {
      this.open = false;
    }
    void this.next();
  }

  private async ask(waiting: Waiting): Promise<void> {
    const { request } = waiting;
    const { plan } = request;
    const detail = [plan.command && shorten(plan.command), plan.where, plan.why].filter(Boolean).join('\n\n');
    const buttons = [review, allow, ...(plan.grant ? [allowRun] : [])];
    const chosen = await vscode.window.showWarningMessage(
      visibleLine(plan.what),
      { modal: true, detail: visible(detail) },
      ...buttons,
    );
    if (chosen === allow) return waiting.answer({ decision: 'allow' });
    if (chosen === allowRun) return waiting.answer({ decision: 'allow-run' });
    if (chosen !== review) return waiting.answer({ decision: 'deny' });
    waiting.aside = true;
    await this.diffs.review(request);
    void this.remind(waiting);
  }

  /** After a review the editor is free to read in; this asks again without standing in the way. */
  private async remind(waiting: Waiting): Promise<void> {
    const answer = 'Answer…';
    const chosen = await vscode.window.showInformationMessage(
      `Towpath waits for your answer: ${visibleLine(waiting.request.plan.what)}`,
      answer,
    );
    if (chosen === answer && this.waiting.includes(waiting)) this.show(waiting.request.call.id);
  }
}

/** A dialog shows about 20 lines; a longer command is for *Review…*, and the dialog says so. */
function shorten(command: string): string {
  const lines = command.split('\n');
  const text = lines.slice(0, 12).join('\n').slice(0, 1200);
  return text.length < command.length
    ? `${text}\n… (${command.length - text.length} more characters: Review… shows all)`
    : text;
}
