import { isChoiceAnswered, isCompleteUserQuestionAnswer } from '../../src/protocol/content/askTool.ts';
import type { UserQuestionChoice, UserQuestions } from '../../src/protocol/content/questions.ts';
import type { PanelQuestionChoices } from '../../src/protocol/panel/panelMessages.ts';
import type { Run } from '../../src/protocol/run/run.ts';
import { savedWebviewState, saveWebviewState } from '../host.ts';

/** Unsent choices for a user question, preserved while the panel is hidden. `at`: index of the open question. */
export interface PendingQuestionAnswer {
  runId: string;
  toolCallId: string;
  questions: readonly UserQuestions[];
  at: number;
  choices: { chosen: number[]; words: string }[];
}

const kept = new Map(savedWebviewState().choosing);
const maxKept = 8;

/** Calls with open user questions; none for a read-only run. */
export const pendingQuestionCallIds = (run: Run | null): readonly string[] =>
  run && !run.readOnly ? (run.asking ?? []) : [];

export function pendingQuestionAnswer(run: Run, toolCallId: string): PendingQuestionAnswer | undefined {
  const questions = run.calls[toolCallId]?.asked;
  if (!questions || !pendingQuestionCallIds(run).includes(toolCallId)) return undefined;
  const saved = kept.get(keyOf(run.id, toolCallId));
  const fits = saved && saved.choices.length === questions.length && saved.at < questions.length;
  const empty = { at: 0, choices: questions.map(() => ({ chosen: [], words: '' })) };
  return { runId: run.id, toolCallId, questions, ...(fits ? saved : empty) };
}

export function currentQuestionAnswer(run: Run | null): PendingQuestionAnswer | undefined {
  const [oldest] = pendingQuestionCallIds(run);
  return run && oldest !== undefined ? pendingQuestionAnswer(run, oldest) : undefined;
}

function keep({ runId, toolCallId, at, choices }: PendingQuestionAnswer): void {
  const key = keyOf(runId, toolCallId);
  kept.delete(key);
  kept.set(key, { at, choices });
  saveWebviewState({ choosing: [...kept].slice(-maxKept) });
}

export function discardQuestionAnswer({ runId, toolCallId }: PendingQuestionAnswer): void {
  kept.delete(keyOf(runId, toolCallId));
  saveWebviewState({ choosing: [...kept].slice(-maxKept) });
}

const keyOf = (runId: string, toolCallId: string) => `${runId} ${toolCallId}`;

export const hasSeveralQuestions = ({ questions }: PendingQuestionAnswer): boolean => questions.length > 1;

/** True for a single question with one answer: selecting sends the answer. */
export const isAnswerSentOnSelection = ({ questions }: PendingQuestionAnswer): boolean =>
  questions.length === 1 && !questions[0]!.many;

export function showQuestionAt(choosing: PendingQuestionAnswer, at: number): void {
  choosing.at = at;
  keep(choosing);
}

export function toggleAnswerChoice(choosing: PendingQuestionAnswer, place: number): void {
  const choice = choosing.choices[choosing.at]!;
  const others = choice.chosen.filter((one) => one !== place);
  if (!choosing.questions[choosing.at]!.many) choice.chosen = [place];
  else
    choice.chosen =
      others.length < choice.chosen.length ? others : [...others, place].sort((one, other) => one - other);
  keep(choosing);
}

export function setAnswerChoices(choosing: PendingQuestionAnswer, places: number[]): void {
  choosing.choices[choosing.at]!.chosen = places;
  keep(choosing);
}

export function setAnswerText(choosing: PendingQuestionAnswer, words: string): void {
  choosing.choices[choosing.at]!.words = words;
  keep(choosing);
}

export function nextUnansweredQuestion({ at, choices }: PendingQuestionAnswer): number | undefined {
  const order = choices.map((_, index) => (at + index) % choices.length);
  return order.find((index) => !isChoiceAnswered(choices[index]!));
}

export const toPanelQuestionChoices = (choosing: PendingQuestionAnswer): PanelQuestionChoices => ({
  runId: choosing.runId,
  toolCallId: choosing.toolCallId,
  choices: choosing.choices.map(
    ({ chosen, words }): UserQuestionChoice => ({ chosen, ...(words.trim() && { words: words.trim() }) }),
  ),
});

export const areQuestionsAnswered = (choosing: PendingQuestionAnswer): boolean =>
  isCompleteUserQuestionAnswer(choosing.questions, toPanelQuestionChoices(choosing));

export const isAnswerBegun = ({ choices }: PendingQuestionAnswer): boolean => choices.some(isChoiceAnswered);

/** Matches a text to answers: by number (`2`; `1, 3` for multiple choice) or by label. Numeric answers match by label only. */
export function parseAnswerText(text: string, { answers, many }: UserQuestions): number[] | undefined {
  const plain = (words: string) => words.trim().toLowerCase();
  const byWords = answers.findIndex(({ label }) => plain(label) === plain(text));
  if (byWords >= 0) return [byWords];
  if (answers.some(({ label }) => /^\d+$/.test(label.trim()))) return undefined;
  if (!/^\s*[1-5](?:(?:\s*,\s*|\s+)[1-5]){0,4}\s*$/.test(text)) return undefined;
  const places = (text.match(/\d/g) ?? []).map((digit) => Number(digit) - 1);
  const isChoice = new Set(places).size === places.length && (many || places.length === 1);
  return isChoice && places.every((place) => place < answers.length) ? places.sort() : undefined;
}
