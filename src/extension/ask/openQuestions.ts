import type { ErrorInfo } from '../../protocol/content/messages.ts';
import type { RunEvent } from '../../protocol/run/events.ts';

/** Question of a thread without an answer. `isQueued`: the run has not received the message. */
interface OpenQuestion<Thread> {
  thread: Thread;
  runId: string;
  isQueued: boolean;
  text: string;
}

/** Answer to a question: the last text of the model, possibly empty, and the error that ended the work. */
interface ThreadAnswer<Thread> {
  thread: Thread;
  text: string;
  error?: ErrorInfo | undefined;
}

/** Questions of threads without an answer. A run answers before it rests, or before it receives the next message. */
export class OpenQuestions<Thread> {
  private open: OpenQuestion<Thread>[] = [];

  /** Returns a function that withdraws the question, and returns false if the question was answered. */
  add(thread: Thread, runId: string, isQueued: boolean): () => boolean {
    const question = { thread, runId, isQueued, text: '' };
    this.open.push(question);
    return () => this.take((one) => one === question).length > 0;
  }

  hasRun(runId: string): boolean {
    return this.open.some((one) => one.runId === runId);
  }

  hasThread(thread: Thread): boolean {
    return this.open.some((one) => one.thread === thread);
  }

  remove(thread: Thread): void {
    this.take((one) => one.thread === thread);
  }

  /** Returns the answers that an event completes. */
  receive(event: RunEvent): ThreadAnswer<Thread>[] {
    const received = this.open.filter(({ runId, isQueued }) => runId === event.runId && !isQueued);
    if (event.type === 'phase' && event.phase !== 'Running')
      return this.take((one) => received.includes(one)).map(({ thread, text }) => ({
        thread,
        text,
        error: event.error,
      }));
    if (event.type !== 'message' || event.branch !== undefined) return [];
    const { message } = event;
    if (message.role === 'assistant' && message.content.trim() !== '')
      for (const one of received) one.text = message.content;
    if (message.role !== 'user') return [];
    const answered = this.take((one) => received.includes(one) && one.text !== '');
    for (const one of this.open) if (one.runId === event.runId) one.isQueued = false;
    return answered.map(({ thread, text }) => ({ thread, text }));
  }

  private take(isMeant: (one: OpenQuestion<Thread>) => boolean): OpenQuestion<Thread>[] {
    const taken = this.open.filter(isMeant);
    this.open = this.open.filter((one) => !taken.includes(one));
    return taken;
  }
}
