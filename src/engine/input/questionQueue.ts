import { isDeepStrictEqual } from 'node:util';
import { isCompleteUserQuestionAnswer, unansweredQuestionCode } from '../../protocol/content/askTool.ts';
import type { Attachment } from '../../protocol/content/messages.ts';
import type { UserQuestionAnswer, UserQuestions } from '../../protocol/content/questions.ts';
import type { PanelQuestionChoices } from '../../protocol/panel/panelMessages.ts';
import { answerableQuestionIds } from '../../protocol/run/pending.ts';
import type { Run } from '../../protocol/run/run.ts';
import { onAbort } from '../../protocol/values/abort.ts';
import { ToolError } from '../../tools/core/tool.ts';
import { isAbortedByEditorClose } from '../core/abortReason.ts';
import type { RunLog } from '../core/runLog.ts';
import type { TaskRequest } from '../tasks/taskOptions.ts';

/**
 * Input of the user to a run. `userInputPromptBlock` may be empty if there are attachments or choices. `chosen`: choices for a user question.
 * `task`: the user delegates, and a call of `task.run` follows the input without a request to the model. Only for a run at rest.
 */
export interface UserInput {
  userInput: string;
  attachments?: readonly Attachment[];
  chosen?: Omit<PanelQuestionChoices, 'runId'>;
  task?: TaskRequest;
}

/** Open user questions of a running run. The first answer counts. */
export class UserQuestionQueue {
  private readonly waiting = new Map<string, (answer: UserQuestionAnswer) => void>();

  constructor(
    private readonly log: RunLog,
    private readonly signal: AbortSignal,
  ) {}

  /** @param by MCP server that asks during its call */
  async ask(toolCallId: string, questions: readonly UserQuestions[], by?: string): Promise<UserQuestionAnswer> {
    const { run, emit } = this.log;
    const before = run.calls[toolCallId];
    if (before?.answer && isDeepStrictEqual(before.asked, questions)) return before.answer;
    let stopListening = () => {};
    const answer = new Promise<UserQuestionAnswer>((resolve, reject) => {
      this.waiting.set(toolCallId, resolve);
      stopListening = onAbort(this.signal, () => {
        this.waiting.delete(toolCallId);
        reject(isAbortedByEditorClose(this.signal) ? leftOpen() : stopped());
      });
    });
    answer.catch(() => {}); // may be stopped before anyone awaits the answer
    try {
      await emit({ type: 'ask', toolCallId, questions: [...questions], ...(by !== undefined && { by }) });
      return await answer;
    } finally {
      this.waiting.delete(toolCallId);
      stopListening();
    }
  }

  async receive(input: UserInput): Promise<boolean> {
    const meant = findAnsweredQuestion(this.log.run, input, (id) => this.waiting.has(id));
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

/** Matches input to an open question: the question of the choices, else the oldest. Choices for closed or other questions are ignored. */
function findAnsweredQuestion(
  { asking = [], calls }: Run,
  { userInput, attachments, chosen }: UserInput,
  isOpen: (toolCallId: string) => boolean = (id) => answerableQuestionIds({ asking, calls }).includes(id),
): { toolCallId: string; answer: UserQuestionAnswer } | undefined {
  const open = asking.filter(isOpen);
  const typedAnswer = {
    ...(userInput.trim() !== '' && { said: userInput }),
    ...(attachments?.length && { attachments: [...attachments] }),
  };
  const given = (toolCallId: string | undefined, choices: UserQuestionAnswer['choices']) => {
    const asked = toolCallId === undefined ? undefined : calls[toolCallId]?.asked;
    const answer = { choices, ...typedAnswer };
    return asked && isCompleteUserQuestionAnswer(asked, answer) ? { toolCallId: toolCallId!, answer } : undefined;
  };
  const isChosen = chosen && open.includes(chosen.toolCallId);
  return (isChosen ? given(chosen.toolCallId, chosen.choices) : undefined) ?? given(open[0], []);
}

export const hasOnlyChoices = ({ userInput, attachments, chosen }: UserInput): boolean =>
  chosen !== undefined && userInput.trim() === '' && !attachments?.length;

export const isLateChoice = (run: Run, input: UserInput): boolean =>
  hasOnlyChoices(input) && findAnsweredQuestion(run, input) === undefined;

/** Delivers input to open questions of a run at rest; late choices are dropped. */
export async function answerQuestionsAtRest({ run, emit }: RunLog, inputs: UserInput[]): Promise<void> {
  for (const input of [...inputs]) {
    const meant = findAnsweredQuestion(run, input);
    if (meant) await emit({ type: 'answer', toolCallId: meant.toolCallId, ...meant.answer });
    if (meant || hasOnlyChoices(input)) inputs.splice(inputs.indexOf(input), 1);
  }
}

const stopped = () => new ToolError('TOOL_INTERRUPTED', 'Stopped before the person answered.');
const leftOpen = () => new ToolError(unansweredQuestionCode, 'The person has not answered yet.');
