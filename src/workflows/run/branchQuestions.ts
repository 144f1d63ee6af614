import type { StopPoint } from '../../engine/core/abortReason.ts';
import type { WorkflowContext } from '../../engine/core/workflow.ts';
import { type WorkflowTrack, workflowTrackOfBranch } from '../../protocol/run/graph.ts';
import { sortedDictionaryEntries } from '../../protocol/values/dictionary.ts';

/**
 * Coordination of user questions by agents in parallel branches. The questions appear in the run's conversation one at a time. The user's
 * next message is the answer, while other branches keep waiting.
 */
export class ParallelBranchQuestions {
  private readonly waiting: readonly string[];
  private answer: string | undefined;

  constructor(private readonly context: WorkflowContext) {
    this.waiting = this.open();
    const last = context.run.messages.at(-1);
    if (context.intent === 'continue' && last?.role === 'user' && this.waiting.length > 0) this.answer = last.content;
  }

  /** Delivers the user's message to the branch with the first open question. Returns false for a branch that must keep waiting. */
  async receive(branch: string): Promise<boolean> {
    const index = this.waiting.indexOf(branch);
    if (this.answer === undefined || index < 0 || !this.open().includes(branch)) return true;
    if (index > 0) return false;
    await this.context.emit({ type: 'message', message: { role: 'user', content: this.answer }, branch });
    return true;
  }

  async report(stop: StopPoint): Promise<StopPoint> {
    const { run, emit } = this.context;
    const [branch] = this.open();
    if (stop.phase !== 'WaitingUser' || stop.error || branch === undefined) return stop;
    const { at, messages } = workflowTrackOfBranch(run.graph!, branch)!;
    const content = `${at[0]}: ${messages!.at(-1)!.content}`;
    if (run.messages.at(-1)?.content !== content)
      await emit({ type: 'message', message: { role: 'assistant', content } });
    return stop;
  }

  private open(): string[] {
    const { graph } = this.context.run;
    if (!graph) return [];
    const startOf = ({ at: [node] }: WorkflowTrack) => (node === undefined ? 0 : (graph.nodes[node]?.startedAt ?? 0));
    const branches = sortedDictionaryEntries(graph.branches).sort(
      ([, one], [, other]) => startOf(one) - startOf(other),
    );
    return branches.filter(([, track]) => asks(track)).map(([branch]) => branch);
  }
}

function asks({ visit, messages }: WorkflowTrack): boolean {
  const last = messages?.at(-1);
  return visit !== undefined && last?.role === 'assistant' && endsWithQuestion(last.content);
}

/** Returns true if a text ends with a question, which ends the turn. */
export const endsWithQuestion = (text: string): boolean => /[?？؟][\s*_`"”’')\]]*$/u.test(text);
