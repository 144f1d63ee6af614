import { html, nothing, type TemplateResult } from 'lit-html';
import { userQuestionToolName } from '../../src/protocol/content/askTool.ts';
import type { UserQuestions } from '../../src/protocol/content/questions.ts';
import type { CallState, Run } from '../../src/protocol/run/run.ts';
import { taskOfCall } from '../../src/protocol/run/tasks.ts';
import { escapeInvisibleInProseLine, escapeInvisibleProse } from '../../src/protocol/text/escapeInvisible.ts';
import { t } from '../../src/protocol/text/l10n.ts';
import { reportMessageSent } from '../activityReport.ts';
import type { PanelContext } from '../context.ts';
import { icons } from '../icons.ts';
import { longTextView } from '../longText.ts';
import { firstPendingApproval } from '../store.ts';
import { messageImagesView } from './attachedImages.ts';
import {
  areQuestionsAnswered,
  discardQuestionAnswer,
  hasSeveralQuestions,
  isAnswerSentOnSelection,
  nextUnansweredQuestion,
  type PendingQuestionAnswer,
  parseAnswerText,
  pendingQuestionAnswer,
  pendingQuestionCallIds,
  setAnswerText,
  showQuestionAt,
  toggleAnswerChoice,
  toPanelQuestionChoices,
} from './choosing.ts';
import { composerDraft, focusComposer } from './draft.ts';
import { messageMentionsView } from './mentions.ts';

/** Card of a user question, answered by click, by keys 1 to 5, or by text in the message box. */
export function userQuestionCard(context: PanelContext, run: Run, toolCallId: string, about = ''): TemplateResult {
  const choosing = pendingQuestionAnswer(run, toolCallId)!;
  const { questions, at } = choosing;
  const name = `ask-${toolCallId}`;
  return html`<section class="card ask" data-call=${toolCallId} data-tool=${userQuestionToolName} data-status="asking" aria-label=${t('Towpath has a question')}
      @keydown=${(event: KeyboardEvent) => onKey(context, choosing, event)}>
    ${about ? html`<p class="ask-about quiet">${about}</p>` : nothing}
    ${questions.map((question, index) =>
      index === at ? opened(context, choosing, question, `${name}-${index}`) : folded(context, choosing, index),
    )}
    ${foot(context, choosing)}
  </section>`;
}

/** User questions of calls outside the conversation: of workflow nodes and parallel branches. Those of tasks are on the cards of the tasks. */
export function detachedQuestionCards(context: PanelContext, run: Run): TemplateResult[] {
  const ids = pendingQuestionCallIds(run);
  if (ids.length === 0) return [];
  const last = run.messages.findLast(({ role }) => role === 'assistant');
  const inMessage = new Set(last?.role === 'assistant' ? last.toolCalls?.map(({ id }) => id) : []);
  return ids
    .filter((id) => !inMessage.has(id) && taskOfCall(run, id) === undefined)
    .map((id) =>
      userQuestionCard(context, run, id, t('Node {0} asks', escapeInvisibleInProseLine(id.split(':', 1)[0]!))),
    );
}

function opened(
  context: PanelContext,
  choosing: PendingQuestionAnswer,
  question: UserQuestions,
  name: string,
): TemplateResult {
  const { at, choices, questions } = choosing;
  const { chosen, words } = choices[at]!;
  const typed = parseAnswerText(composerDraft(), question) ?? [];
  const type = (event: Event) => {
    setAnswerText(choosing, (event.target as HTMLInputElement).value);
    context.refresh();
  };
  return html`<div class="ask-question">
      <span class="card-icon">${icons.question}</span>
      <span class="ask-text" id=${name}>${escapeInvisibleProse(question.question)}</span>
      ${hasSeveralQuestions(choosing) ? html`<span class="ask-count quiet">${t('{0} of {1}', at + 1, questions.length)}</span>` : nothing}
    </div>
    <div class="ask-answers" role=${question.many ? 'group' : 'radiogroup'} aria-labelledby=${name}>
      ${question.answers.map(({ label, why }, place) => {
        const isChosen = chosen.includes(place);
        const reached = question.many || isChosen || (chosen.length === 0 && place === 0);
        return html`<div class="ask-answer" role=${question.many ? 'checkbox' : 'radio'} aria-checked=${isChosen}
            tabindex=${reached ? 0 : -1} data-place=${place} ?data-typed=${typed.includes(place)}
            @click=${() => pick(context, choosing, place)}>
          <span class="ask-number" aria-hidden="true">${place + 1}</span>
          <span class="ask-words"><span class="ask-label">${escapeInvisibleInProseLine(label)}</span>${
            why
              ? html`<span class="for-screen-readers">: </span><span class="ask-why">${escapeInvisibleInProseLine(why)}</span>`
              : nothing
          }</span>
          <span class="ask-mark">${isChosen ? icons.check : nothing}</span>
        </div>`;
      })}
    </div>
    ${
      hasSeveralQuestions(choosing)
        ? html`<input class="ask-own" type="text" maxlength="10000" placeholder=${t('Your own answer')}
            aria-label=${t('Your own answer to: {0}', escapeInvisibleInProseLine(question.question))}
            .value=${words} @input=${type}>`
        : nothing
    }`;
}

function folded(context: PanelContext, choosing: PendingQuestionAnswer, index: number): TemplateResult {
  const given = wordsOf(choosing.questions[index]!, choosing.choices[index]!);
  const open = () => {
    showQuestionAt(choosing, index);
    goOn(context, '.ask-answer[tabindex="0"]');
  };
  return html`<button class="ask-folded" @click=${open}>
    <span class="card-icon">${given ? icons.check : icons.ring}</span>
    <span class="ask-text">${escapeInvisibleInProseLine(choosing.questions[index]!.question)}</span>
    ${given ? html`<span class="ask-given">${given}</span>` : nothing}
  </button>`;
}

function foot(context: PanelContext, choosing: PendingQuestionAnswer): TemplateResult {
  const { questions, at } = choosing;
  const { answers, many } = questions[at]!;
  const keys = numbersOf(answers.length);
  const hint = isAnswerSentOnSelection(choosing)
    ? t('Click, press {0}, or write your own answer below.', keys)
    : hasSeveralQuestions(choosing)
      ? many
        ? t('Choose one or more, or write your own answer below.')
        : t('Or write your own answer below.')
      : t('Choose any of {0}, or write your own answer below.', keys);
  return html`<div class="ask-foot">
    <span class="quiet">${hint}</span>
    ${
      isAnswerSentOnSelection(choosing)
        ? nothing
        : html`<vscode-button class="small" appearance=${isNext(context, choosing) ? 'primary' : 'secondary'} data-testid="answer" ?disabled=${!areQuestionsAnswered(choosing)}
            @click=${() => sendQuestionAnswer(context, choosing)}>${t('Answer')}</vscode-button>`
    }
  </div>`;
}

const isNext = ({ model }: PanelContext, { toolCallId }: PendingQuestionAnswer): boolean =>
  firstPendingApproval(model) === undefined && pendingQuestionCallIds(model.run)[0] === toolCallId;

const numbersOf = (count: number): string => (count === 2 ? t('1 or 2') : t('1 to {0}', count));

function pick(context: PanelContext, choosing: PendingQuestionAnswer, place: number): void {
  toggleAnswerChoice(choosing, place);
  if (isAnswerSentOnSelection(choosing)) sendQuestionAnswer(context, choosing);
  else if (choosing.questions[choosing.at]!.many) context.refresh();
  else next(context, choosing);
}

function next(context: PanelContext, choosing: PendingQuestionAnswer): void {
  const open = nextUnansweredQuestion(choosing);
  if (open !== undefined) showQuestionAt(choosing, open);
  goOn(context, open === undefined ? '[data-testid="answer"]' : '.ask-answer[tabindex="0"]');
}

/** Moves the focus after the rendering that may remove the focused element. */
function goOn(context: PanelContext, to: string): void {
  context.refresh();
  requestAnimationFrame(() => document.querySelector<HTMLElement>(`.ask ${to}`)?.focus());
}

export function sendQuestionAnswer(context: PanelContext, choosing: PendingQuestionAnswer): void {
  reportMessageSent();
  context.post({ type: 'answer', chosen: toPanelQuestionChoices(choosing) });
  discardQuestionAnswer(choosing);
  focusComposer();
  context.toEnd();
}

function onKey(context: PanelContext, choosing: PendingQuestionAnswer, event: KeyboardEvent): void {
  const act = meantBy(context, choosing, event);
  if (!act) return;
  event.preventDefault();
  event.stopPropagation();
  act();
}

function meantBy(
  context: PanelContext,
  choosing: PendingQuestionAnswer,
  event: KeyboardEvent,
): (() => void) | undefined {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return undefined;
  if (target instanceof HTMLInputElement) return key === 'Enter' ? () => next(context, choosing) : undefined;
  const { answers, many } = choosing.questions[choosing.at]!;
  const place = /^[1-5]$/.test(key) ? Number(key) - 1 : -1;
  if (place >= 0 && place < answers.length) return () => pick(context, choosing, place);
  const row = (target as HTMLElement).closest<HTMLElement>('.ask-answer');
  if (!row) return undefined;
  const here = Number(row.dataset.place);
  const rows = [...row.parentElement!.querySelectorAll<HTMLElement>('.ask-answer')];
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[key];
  if (step) return () => rows[(here + step + rows.length) % rows.length]!.focus();
  if (key === ' ' && isAnswerSentOnSelection(choosing)) return () => mark(context, choosing, here);
  if (key === ' ' || (key === 'Enter' && !many)) return () => pick(context, choosing, here);
  return key === 'Enter' ? () => finish(context, choosing, here) : undefined;
}

function mark(context: PanelContext, choosing: PendingQuestionAnswer, place: number): void {
  toggleAnswerChoice(choosing, place);
  context.refresh();
}

/** Confirms the selection of a multiple choice, or the focused answer if none is selected. */
function finish(context: PanelContext, choosing: PendingQuestionAnswer, place: number): void {
  if (choosing.choices[choosing.at]!.chosen.length === 0) toggleAnswerChoice(choosing, place);
  if (hasSeveralQuestions(choosing)) next(context, choosing);
  else sendQuestionAnswer(context, choosing);
}

/** Digit keys pressed in the conversation outside of controls answer the question. */
export function onQuestionDigitKey(context: PanelContext, event: KeyboardEvent): void {
  const { run } = context.model;
  const [oldest] = pendingQuestionCallIds(run);
  if (event.target !== event.currentTarget || !run || oldest === undefined) return;
  onKey(context, pendingQuestionAnswer(run, oldest)!, event);
}

export function answeredQuestionsView(
  context: PanelContext,
  { asked = [], answer }: CallState,
  place: string,
): TemplateResult | typeof nothing {
  if (!answer) return nothing;
  const { choices, said, attachments } = answer;
  const given = choices.map((choice, index) => wordsOf(asked[index], { words: '', ...choice }));
  return html`<div class="ask-answered">
    ${given.map((words, index) =>
      words
        ? html`<p>${asked.length > 1 ? html`<span class="quiet">${escapeInvisibleInProseLine(asked[index]?.question ?? '')}</span> ` : nothing}<span class="ask-given">${words}</span></p>`
        : nothing,
    )}
    ${said ? html`<p class="user-text">${longTextView(context, `${place}:said`, escapeInvisibleProse(said), 1000)}</p>` : nothing}
    ${messageImagesView(attachments)}${messageMentionsView(context, attachments)}
  </div>`;
}

const wordsOf = (
  asked: UserQuestions | undefined,
  { chosen, words }: { chosen: readonly number[]; words: string },
): string =>
  [
    ...chosen.map((place) => escapeInvisibleInProseLine(asked?.answers[place]?.label ?? '')),
    escapeInvisibleInProseLine(words),
  ]
    .filter(Boolean)
    .join(', ');
