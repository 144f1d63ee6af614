import { answersAll, isGiven } from '../../src/protocol/content/askTool.ts';
import type { Choice, UserQuestions } from '../../src/protocol/content/questions.ts';
import type { PanelChoice } from '../../src/protocol/panel/panelMessages.ts';
import type { Run } from '../../src/protocol/run/run.ts';
import { savedView, saveView } from '../host.ts';

/** Unsent choices for a user question, preserved while the panel is hidden. `at`: index of the open question. */
export interface Choosing {
  runId: string;
  toolCallId: string;
  questions: readonly UserQuestions[];
  at: number;
  choices: { chosen: number[]; words: string }[];
}

const kept = new Map(savedView().choosing);
const maxKept = 8;

/** Calls with open user questions; none for a read-only run. */
export const asksIn = (run: Run | null): readonly string[] => (run && !run.readOnly ? (run.asking ?? []) : []);

export function choosingOf(run: Run, toolCallId: string): Choosing | undefined {
  const questions = run.calls[toolCallId]?.asked;
  if (!questions || !asksIn(run).includes(toolCallId)) return undefined;
  const saved = kept.get(keyOf(run.id, toolCallId));
  const fits = saved && saved.choices.length === questions.length && saved.at < questions.length;
  const empty = { at: 0, choices: questions.map(() => ({ chosen: [], words: '' })) };
  return { runId: run.id, toolCallId, questions, ...(fits ? saved : empty) };
}

export function choosingNow(run: Run | null): Choosing | undefined {
  const [oldest] = asksIn(run);
  return run && oldest !== undefined ? choosingOf(run, oldest) : undefined;
}

function keep({ runId, toolCallId, at, choices }: Choosing): void {
  const key = keyOf(runId, toolCallId);
  kept.delete(key);
  kept.set(key, { at, choices });
  saveView({ choosing: [...kept].slice(-maxKept) });
}

export function forget({ runId, toolCallId }: Choosing): void {
  kept.delete(keyOf(runId, toolCallId));
  saveView({ choosing: [...kept].slice(-maxKept) });
}

const keyOf = (runId: string, toolCallId: string) => `${runId} ${toolCallId}`;

export const isSeveral = ({ questions }: Choosing): boolean => questions.length > 1;

/** True for a single question with one answer: selecting sends the answer. */
export const isDirect = ({ questions }: Choosing): boolean => questions.length === 1 && !questions[0]!.many;

export function turnTo(choosing: Choosing, at: number): void {
  choosing.at = at;
  keep(choosing);
}

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

export function nextOpen({ at, choices }: Choosing): number | undefined {
  const order = choices.map((_, index) => (at + index) % choices.length);
  return order.find((index) => !isGiven(choices[index]!));
}

export const chosenOf = (choosing: Choosing): PanelChoice => ({
  runId: choosing.runId,
  toolCallId: choosing.toolCallId,
  choices: choosing.choices.map(
    ({ chosen, words }): Choice => ({ chosen, ...(words.trim() && { words: words.trim() }) }),
  ),
});

export const isAnswered = (choosing: Choosing): boolean => answersAll(choosing.questions, chosenOf(choosing));

export const isBegun = ({ choices }: Choosing): boolean => choices.some(isGiven);

/** Matches a text to answers: by number (`2`; `1, 3` for multiple choice) or by label. Numeric answers match by label only. */
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
