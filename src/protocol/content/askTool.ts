import { decodeBase64Text } from './mentionText.ts';
import type { AssistantMessage } from './messages.ts';
import type { UserQuestionAnswer, UserQuestionChoice, UserQuestions } from './questions.ts';
import type { ToolOutcome } from './tools.ts';

export const userQuestionToolName = 'ask.person';

/**
 * Error code of a user question that was open when the editor closed. The outcome is neither stored nor sent to the model: the call stays
 * without a result and is answered after the next start.
 */
export const unansweredQuestionCode = 'TOOL_UNANSWERED';

export const isUnansweredQuestion = (outcome: ToolOutcome): boolean =>
  !outcome.ok && outcome.error.code === unansweredQuestionCode;

export function isCompleteUserQuestionAnswer(
  questions: readonly UserQuestions[],
  { choices, said, attachments }: UserQuestionAnswer,
): boolean {
  const isSaid = Boolean(said?.trim()) || Boolean(attachments?.length);
  if (choices.length === 0) return isSaid;
  return (
    choices.length === questions.length &&
    choices.every((choice, index) => fits(questions[index]!, choice) && (isSaid || isChoiceAnswered(choice)))
  );
}

export const isChoiceAnswered = ({ chosen, words }: UserQuestionChoice): boolean =>
  chosen.length > 0 || Boolean(words?.trim());

function fits({ answers, many }: UserQuestions, { chosen }: UserQuestionChoice): boolean {
  const isOne = chosen.length <= 1 || many === true;
  return isOne && new Set(chosen).size === chosen.length && chosen.every((index) => index < answers.length);
}

export const hasOnlyQuestionCalls = (
  { toolCalls = [] }: AssistantMessage,
  calls: Readonly<Record<string, { answer?: UserQuestionAnswer }>>,
): boolean =>
  toolCalls.length > 0 &&
  toolCalls.every(({ id, name }) => name === userQuestionToolName && calls[id]?.answer !== undefined);

type Success = Extract<ToolOutcome, { ok: true }> & { data: Answered };

interface Answered {
  answers: { question: string; chosen: string[]; words?: string }[];
  said?: string;
  named?: { name: string; text: string }[];
}

/** Returns the outcome for the model and for workflow steps: each question with the chosen answer or text, which may be empty. */
export function userAnswerOutcome(
  questions: readonly UserQuestions[],
  { choices, said, attachments }: UserQuestionAnswer,
): Success {
  const answers = questions.map(({ question, answers }, index) => {
    const choice = choices[index];
    const chosen = choice?.chosen.flatMap((index) => answers[index]?.label ?? []) ?? [];
    const words = choice ? choice.words : said; // a text alone answers all questions
    return { question, chosen, ...(words && { words }) };
  });
  const files = attachments?.filter(({ mediaType }) => mediaType.startsWith('text/')) ?? [];
  const named = files.map(({ name = '', data }) => ({ name, text: decodeBase64Text(data) }));
  const others = attachments?.filter((one) => !files.includes(one)) ?? [];
  const data = {
    answers,
    ...(said && { said }),
    ...(named.length > 0 && { named }),
  };
  return { ok: true, data, ...(others.length > 0 && { attachments: others }) };
}
