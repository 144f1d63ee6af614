import type { StopPoint } from '../../engine/core/abortReason.ts';
import type { WorkflowContext } from '../../engine/core/workflow.ts';
import { type Track, trackOf } from '../../protocol/run/graph.ts';
import { entriesOf } from '../../protocol/values/dictionary.ts';

/**
 * Questions that agents in parallel branches have for the person. They are told in the run's conversation, one at a time;
 * what the person says next is the answer to it, and the other branches go on waiting.
 */
export class BranchQuestions {
  private readonly waiting: readonly string[];
  private words: string | undefined;

  constructor(private readonly context: WorkflowContext) {
    this.waiting = this.open();
    const last = context.run.messages.at(-1);
    if (context.intent === 'continue' && last?.role === 'user' && this.waiting.length > 0) this.words = last.content;
  }

  /** Gives a branch the words that are for it. False: it waits until its own question is answered. */
  async hear(branch: string): Promise<boolean> {
    const place = this.waiting.indexOf(branch);
    if (this.words === undefined || place < 0 || !this.open().includes(branch)) return true;
    if (place > 0) return false;
    await this.context.emit({ type: 'message', message: { role: 'user', content: this.words }, branch });
    return true;
  }

  /** Tells the first question that is open, when the run rests for it. */
  async tell(stop: StopPoint): Promise<StopPoint> {
    const { run, emit } = this.context;
    const [branch] = this.open();
    if (stop.phase !== 'WaitingUser' || stop.error || branch === undefined) return stop;
    const { at, messages } = trackOf(run.graph!, branch)!;
    const content = `${at[0]}: ${messages!.at(-1)!.content}`;
    if (run.messages.at(-1)?.content !== content)
      await emit({ type: 'message', message: { role: 'assistant', content } });
    return stop;
  }

  /** Branches whose agent waits for the person, in the order in which they began. */
  private open(): string[] {
    const { graph } = this.context.run;
    if (!graph) return [];
    const startOf = ({ at: [node] }: Track) => (node === undefined ? 0 : (graph.nodes[node]?.startedAt ?? 0));
    const branches = entriesOf(graph.branches).sort(([, one], [, other]) => startOf(one) - startOf(other));
    return branches.filter(([, track]) => asks(track)).map(([branch]) => branch);
  }
}

function asks({ visit, messages }: Track): boolean {
  const last = messages?.at(-1);
  return visit !== undefined && last?.role === 'assistant' && isQuestion(last.content);
}

/** An answer that ends with a question is the person's turn. */
export const isQuestion = (text: string): boolean => /[?？؟][\s*_`"”’')\]]*$/u.test(text);
