import type { UserQuestionAnswer, UserQuestionChoice, UserQuestions } from '../../../protocol/content/questions.ts';
import { escapeInvisibleInLine } from '../../../protocol/text/escapeInvisible.ts';
import { type LocalizedMessage, message } from '../../../protocol/text/l10n.ts';
import type { Localizer } from '../../../protocol/text/localized.ts';
import { shortenText } from '../../../protocol/text/shorten.ts';
import {
  type ElicitationAnswer,
  type ElicitationRequest,
  type ElicitationValue,
  elicitationContent,
  fieldProblem,
} from './elicitationForm.ts';

type Form = Extract<ElicitationRequest, { mode: 'form' }>;
type Field = Form['fields'][number];

interface FormOptions {
  server: string;
  localizer: Localizer;
  /** Shows at most four questions with at most five answers each. */
  ask(questions: readonly UserQuestions[]): Promise<UserQuestionAnswer>;
}

const fieldsPerPage = 3; // and the question whether to send
const maxAnswers = 5;
const maxTries = 3;
const longestText = 300;

/**
 * Shows a form as questions, in pages that each end with *Send* or *Decline*; a value that does not fit is asked for again. A message in
 * place of an answer declines.
 */
export async function askForm(form: Form, options: FormOptions): Promise<ElicitationAnswer> {
  const values = new Map<string, ElicitationValue>();
  const pages = pagesOf(form.fields);
  for (const [index, page] of pages.entries()) {
    const isLast = index === pages.length - 1;
    let problem: LocalizedMessage | undefined;
    for (let tries = 0; ; tries++) {
      if (tries === maxTries) return { action: 'decline' };
      const { choices } = await options.ask(questionsOf(form, page, isLast, problem, options));
      if (choices.at(-1)?.chosen[0] !== 0) return { action: 'decline' };
      const given = page.map((field, at) => [field, givenValue(field, choices[at]!, options)] as const);
      const wrong = given.find(([field, value]) => fieldProblem(field, value) !== undefined);
      problem = wrong && message('{0}: this value does not fit.', line(wrong[0].title));
      if (problem) continue;
      for (const [{ name }, value] of given) if (value !== undefined) values.set(name, value);
      break;
    }
  }
  const content = elicitationContent(form.fields, Object.fromEntries(values));
  return content ? { action: 'accept', content } : { action: 'decline' };
}

function pagesOf(fields: readonly Field[]): Field[][] {
  const count = Math.max(1, Math.ceil(fields.length / fieldsPerPage));
  return Array.from({ length: count }, (_, page) => fields.slice(page * fieldsPerPage, (page + 1) * fieldsPerPage));
}

function questionsOf(
  { message: text }: Form,
  page: readonly Field[],
  isLast: boolean,
  problem: LocalizedMessage | undefined,
  { server, localizer }: FormOptions,
): UserQuestions[] {
  const asks = localizer(message('The MCP server {0} asks: {1}', JSON.stringify(line(server)), line(text)));
  const about = problem ? `${localizer(problem)}\n${asks}` : asks;
  const fields = page.map((field, index) => {
    const question = index === 0 ? `${about}\n${titleOf(field)}` : titleOf(field);
    return { question, answers: answersOf(field, localizer), ...(field.isMany && { many: true }) };
  });
  const send = isLast ? message('Send') : message('Continue');
  const question = page.length === 0 ? about : localizer(message('Send this to {0}?', JSON.stringify(line(server))));
  return [...fields, { question, answers: [{ label: localizer(send) }, { label: localizer(message('Decline')) }] }];
}

const line = (text: string): string => shortenText(escapeInvisibleInLine(text), longestText);

function titleOf({ title, description, choices }: Field): string {
  const isListed = choices !== undefined && choices.length >= maxAnswers;
  const list = isListed ? choices.map(({ label }) => line(label)).join(' · ') : '';
  return [line(title), description && line(description), list].filter(Boolean).join(' – ');
}

function answersOf(field: Field, localizer: Localizer): UserQuestions['answers'] {
  const { default: given, isRequired } = field;
  const offered = offeredValues(field);
  const isOffered = offered.some(({ value }) => value === given);
  const usual = given !== undefined && !isOffered ? [{ label: line(textOf(given, field, localizer)) }] : [];
  const none = isRequired || given !== undefined ? [] : [{ label: localizer(leaveOut) }];
  const answers = offered.map(({ value, label }) => ({
    label: label ?? textOf(value, field, localizer),
    ...(value === given && { why: localizer(message('Default')) }),
  }));
  return [...usual, ...answers, ...none].slice(0, maxAnswers);
}

const leaveOut = message('Leave empty');

// The values that are answers by themselves; a long list is named in the question.
function offeredValues({ type, choices }: Field): { value: ElicitationValue; label?: string }[] {
  if (type === 'boolean') return [{ value: true }, { value: false }];
  if (!choices || choices.length >= maxAnswers) return [];
  return choices.map(({ value, label }) => ({ value, label: line(label) }));
}

function textOf(value: ElicitationValue, { choices }: Field, localizer: Localizer): string {
  if (typeof value === 'boolean') return localizer(value ? message('Yes') : message('No'));
  const labelOf = (one: string) => choices?.find((choice) => choice.value === one)?.label ?? one;
  return Array.isArray(value) ? value.map(labelOf).join(', ') : labelOf(String(value));
}

/** Returns the value of an answer; undefined if it was left empty. A text of another type than the field is returned as it is. */
function givenValue(field: Field, { chosen, words }: UserQuestionChoice, { localizer }: FormOptions) {
  const answers = answersOf(field, localizer);
  const labels = chosen.map((index) => answers[index]?.label ?? '');
  if (words?.trim()) return typed(field, [...labels, ...(field.isMany ? words.split(',') : [words])]);
  if (labels.includes(localizer(leaveOut)) && !field.isRequired) return undefined;
  const offered = offeredValues(field);
  const values = labels.map((label) =>
    offered.find((one) => (one.label ?? textOf(one.value, field, localizer)) === label),
  );
  if (field.isMany && values.every((one) => one !== undefined)) return values.map((one) => String(one.value));
  return values[0] ? values[0].value : field.default;
}

function typed({ type, choices, isMany }: Field, texts: readonly string[]): ElicitationValue {
  const values = texts.map((text) => {
    const trimmed = text.trim();
    const found = choices?.find(({ value, label }) =>
      [value, label].some((one) => one.toLowerCase() === trimmed.toLowerCase()),
    );
    return found?.value ?? trimmed;
  });
  if (isMany) return values;
  const [text = ''] = values.slice(-1);
  if (type !== 'number' && type !== 'integer') return text;
  return text === '' ? text : Number(text.replace(',', '.'));
}
