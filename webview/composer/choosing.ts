import { answersAll, isGiven } from '../../src/protocol/content/askTool.ts';
import type { Choice, UserQuestions } from '../../src/protocol/content/questions.ts';
import type { PanelChoice } from '../../src/protocol/panel/panelMessages.ts';
import type { Run } from '../../src/protocol/run/run.ts';
import { savedView, saveView } from '../host.ts';

/** What a model asks now, and what is chosen of it and not sent yet: kept while the panel is hidden. */
export interface Choosing {
  runId: string;
  toolCallId: string;
  questions: readonly UserQuestions[];
  /** The question that is open. */
  at: number;
  choices: { chosen: number[]; words: string }[];
}

/** Of a few questions, the newest last, by run and call. */
const kept = new Map(savedView().choosing);
const mostKept = 8;

/** The calls of a run that ask now; one that can only be read asks nobody. */
export const asksIn = (run: Run | null): readonly string[] => (run && !run.readOnly ? (run.asking ?? []) : []);

export function choosingOf(run: Run, toolCallId: string): Choosing | undefined {
  const questions = run.calls[toolCallId]?.asked;
  if (!questions || !asksIn(run).includes(toolCallId)) return undefined;
  const saved = kept.get(keyOf(run.id, toolCallId));
  const fits = saved && saved.choices.length === questions.length && saved.at < questions.length;
  const empty = { at: 0, choices: questions.map(() => ({ chosen: [], words: '' })) };
  return { runId: run.id, toolCallId, questions, ...(fits ? saved : empty) };
}

/** The question that the message box answers: the oldest. */
export function choosingNow(run: Run | null): Choosing | undefined {
  const [oldest] = asksIn(run);
  return run && oldest !== undefined ? choosingOf(run, oldest) : undefined;
}

function keep({ runId, toolCallId, at, choices }: Choosing): void {
  const key = keyOf(runId, toolCallId);
  kept.delete(key);
  kept.set(key, { at, choices });
  saveView({ choosing: [...kept].slice(-mostKept) });
}

export function forget({ runId, toolCallId }: Choosing): void {
  kept.delete(keyOf(runId, toolCallId));
  saveView({ choosing: [...kept].slice(-mostKept) });
}

const keyOf = (runId: string, toolCallId: string) => `${runId} ${toolCallId}`;

export const isSeveral = ({ questions }: Choosing): boolean => questions.length > 1;

/** One question with one answer: choosing is answering. */
export const isDirect = ({ questions }: Choosing): boolean => questions.length === 1 && !questions[0]!.many;

/** Opens another of the questions. */
export function turnTo(choosing: Choosing, at: number): void {
  choosing.at = at;
  keep(choosing);
}

/** Chooses an answer of the open question, or takes it back where several may be chosen. */
export function choose(choosing: Choosing, place: number): void {
  const choice = choosing.choices[choosing.at]!;
  const others = choice.chosen.filter((one) => one !== place);
  if (!choosing.questions[choosing.at]!.many) choice.chosen = [place];
  else
    choice.chosen =
      others.length < choice.chosen.length ? others : [...others, place].sort((one, other) => one - other);
  keep(choosing);
}

export function setChosen(choosing: Choosing, places: number[]): void {
  choosing.choices[choosing.at]!.chosen = places;
  keep(choosing);
}

export function setAnswerText(choosing: Choosing, words: string): void {
  choosing.choices[choosing.at]!.words = words;
  keep(choosing);
}

/** The next question that has no answer yet; undefined: all have one. */
export function nextOpen({ at, choices }: Choosing): number | undefined {
  const order = choices.map((_, index) => (at + index) % choices.length);
  return order.find((index) => !isGiven(choices[index]!));
}

/** As the host takes it. */
export const chosenOf = (choosing: Choosing): PanelChoice => ({
  runId: choosing.runId,
  toolCallId: choosing.toolCallId,
  choices: choosing.choices.map(
    ({ chosen, words }): Choice => ({ chosen, ...(words.trim() && { words: words.trim() }) }),
  ),
});

export const isAnswered = (choosing: Choosing): boolean => answersAll(choosing.questions, chosenOf(choosing));

export const isBegun = ({ choices }: Choosing): boolean => choices.some(isGiven);

/**
 * The answers that a text names by their numbers (`2`; `1, 3` where several may be chosen) or one by its words. Where answers are numbers
 * themselves, only their words count.
 */
export function answersIn(text: string, { answers, many }: UserQuestions): number[] | undefined {
  const plain = (words: string) => words.trim().toLowerCase();
  const byWords = answers.findIndex(({ label }) => plain(label) === plain(text));
  if (byWords >= 0) return [byWords];
  if (answers.some(({ label }) => /^\d+$/.test(label.trim()))) return undefined;
  if (!/^\s*[1-5](?:(?:\s*,\s*|\s+)[1-5]){0,4}\s*$/.test(text)) return undefined;
  const places = (text.match(/\d/g) ?? []).map((digit) => Number(digit) - 1);
  const isChoice = new Set(places).size === places.length && (many || places.length === 1);
  return isChoice && places.every((place) => place < answers.length) ? places.sort() : undefined;
}
