import { isDeepStrictEqual } from 'node:util';
import { answersAll, unanswered } from '../../protocol/content/askTool.ts';
import type { Attachment } from '../../protocol/content/messages.ts';
import type { Answer, UserQuestions } from '../../protocol/content/questions.ts';
import type { PanelChoice } from '../../protocol/panel/panelMessages.ts';
import type { Run } from '../../protocol/run/run.ts';
import { ToolError } from '../../tools/core/tool.ts';
import { isClosing } from '../core/abortReason.ts';
import type { RunLog } from '../core/runLog.ts';

/** What a person says to a run. Empty `userInput`: the attachments, or what was chosen, speak for themselves. */
export interface UserInput {
  userInput: string;
  attachments?: readonly Attachment[];
  /** Of a question of the run's model. */
  chosen?: Omit<PanelChoice, 'runId'>;
}

/** The questions that calls of a run at work ask by themselves. Who answers first wins; a late answer is no answer. */
export class UserQuestionQueue {
  private readonly waiting = new Map<string, (answer: Answer) => void>();

  constructor(
    private readonly log: RunLog,
    private readonly signal: AbortSignal,
  ) {}

  /** A call that was answered before its node was begun anew has its answer. */
  async ask(toolCallId: string, questions: readonly UserQuestions[]): Promise<Answer> {
    const { run, emit } = this.log;
    const before = run.calls[toolCallId];
    if (before?.answer && isDeepStrictEqual(before.asked, questions)) return before.answer;
    let stop = () => {};
    const answer = new Promise<Answer>((resolve, reject) => {
      stop = () => {
        this.waiting.delete(toolCallId);
        reject(isClosing(this.signal) ? leftOpen() : stopped());
      };
      this.waiting.set(toolCallId, resolve);
      if (this.signal.aborted) stop();
      this.signal.addEventListener('abort', stop);
    });
    answer.catch(() => {}); // it may be stopped before anybody waits for it
    try {
      await emit({ type: 'ask', toolCallId, questions: [...questions] });
      return await answer;
    } finally {
      this.waiting.delete(toolCallId);
      this.signal.removeEventListener('abort', stop);
    }
  }

  /** Resolves to false when these words are for no question. */
  async hear(input: UserInput): Promise<boolean> {
    const meant = answerIn(this.log.run, input, (id) => this.waiting.has(id));
    const settle = meant && this.waiting.get(meant.toolCallId);
    if (!settle) return false;
    this.waiting.delete(meant.toolCallId);
    try {
      await this.log.emit({ type: 'answer', toolCallId: meant.toolCallId, ...meant.answer });
      settle(meant.answer);
      return true;
    } catch {
      return false; // the run ends with its record
    }
  }
}

/**
 * Which open question the words answer, and how: the one that something was chosen of, else the oldest. What was chosen of a question
 * that is settled, or does not fit it, counts for nothing.
 */
export function answerIn(
  { asking = [], calls }: Run,
  { userInput, attachments, chosen }: UserInput,
  isOpen: (toolCallId: string) => boolean = () => true,
): { toolCallId: string; answer: Answer } | undefined {
  const open = asking.filter(isOpen);
  const said = {
    ...(userInput.trim() !== '' && { said: userInput }),
    ...(attachments?.length && { attachments: [...attachments] }),
  };
  const given = (toolCallId: string | undefined, choices: Answer['choices']) => {
    const asked = toolCallId === undefined ? undefined : calls[toolCallId]?.asked;
    const answer = { choices, ...said };
    return asked && answersAll(asked, answer) ? { toolCallId: toolCallId!, answer } : undefined;
  };
  const isChosen = chosen && open.includes(chosen.toolCallId);
  return (isChosen ? given(chosen.toolCallId, chosen.choices) : undefined) ?? given(open[0], []);
}

/** Something was chosen and nothing said: it is for a question, or for nothing. */
export const isOnlyChosen = ({ userInput, attachments, chosen }: UserInput): boolean =>
  chosen !== undefined && userInput.trim() === '' && !attachments?.length;

/** It is for a question that is not open any more. */
export const isLate = (run: Run, input: UserInput): boolean =>
  isOnlyChosen(input) && answerIn(run, input) === undefined;

/** Words for a run that rests with a question open are the answer to it; what was chosen too late is not heard. */
export async function answerAtRest({ run, emit }: RunLog, inputs: UserInput[]): Promise<void> {
  for (const input of [...inputs]) {
    const meant = answerIn(run, input);
    if (meant) await emit({ type: 'answer', toolCallId: meant.toolCallId, ...meant.answer });
    if (meant || isOnlyChosen(input)) inputs.splice(inputs.indexOf(input), 1);
  }
}

const stopped = () => new ToolError('TOOL_INTERRUPTED', 'Stopped before the person answered.');
const leftOpen = () => new ToolError(unanswered, 'The person has not answered yet.');
