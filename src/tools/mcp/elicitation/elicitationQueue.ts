import type { RequestClock } from '../request.ts';
import {
  type ElicitationAnswer,
  type ElicitationHandler,
  elicitationContent,
  parseElicitation,
  secretField,
} from './elicitationForm.ts';

const maxPages = 3;

/**
 * Questions of one server to the user, one at a time. The user is asked by the newest open call; without a call, or for a form that cannot be
 * shown or asks for a secret, the answer is `decline`.
 */
export class ElicitationQueue {
  private readonly calls: ElicitationHandler[] = [];
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly clock: RequestClock,
    private readonly log: (text: string) => void,
  ) {}

  /** Lets a call ask the user while the work is not settled. */
  async during<Result>(ask: ElicitationHandler | undefined, work: () => Promise<Result>): Promise<Result> {
    if (!ask) return work();
    this.calls.push(ask);
    try {
      return await work();
    } finally {
      this.calls.splice(this.calls.indexOf(ask), 1);
    }
  }

  /** Answers an `elicitation/create` request. Rejects only if the call was stopped. */
  answer(params: Record<string, unknown>, signal: AbortSignal): Promise<ElicitationAnswer> {
    const answer = this.last.then(() => this.clock.pauseDuring(() => this.ask(params, signal)));
    this.last = answer.catch(() => {});
    return answer;
  }

  /** Asks to open pages, one after the other. Returns false if one was declined. */
  async openPages(pages: readonly { message: string; url: string }[], signal: AbortSignal): Promise<boolean> {
    for (const { message, url } of pages.slice(0, maxPages)) {
      const { action } = await this.answer({ mode: 'url', message, url }, signal);
      if (action !== 'accept') return false;
    }
    return true;
  }

  private async ask(params: Record<string, unknown>, signal: AbortSignal): Promise<ElicitationAnswer> {
    const call = this.calls.at(-1);
    const request = parseElicitation(params);
    if (!call || !request) return this.decline(request ? 'no call is open' : 'Towpath cannot show the form');
    const secret = request.mode === 'form' ? secretField(request.fields) : undefined;
    if (secret) return this.decline(`the field ${JSON.stringify(secret.name.slice(0, 100))} looks like a secret`);
    if (signal.aborted) return { action: 'cancel' };
    const answer = await call(request, signal);
    if (answer.action !== 'accept') return { action: answer.action };
    if (request.mode === 'url') return { action: 'accept' };
    const content = elicitationContent(request.fields, answer.content);
    return content ? { action: 'accept', content } : this.decline('the answer does not fit the form');
  }

  private decline(why: string): ElicitationAnswer {
    this.log(`It asked the user something, which was declined: ${why}.`);
    return { action: 'decline' };
  }
}
