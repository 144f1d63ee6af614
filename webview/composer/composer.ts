import { html, nothing, type TemplateResult } from 'lit-html';
import { agentName, chatWorkflowId, planAgent } from '../../src/protocol/content/agents.ts';
import type { Mention } from '../../src/protocol/content/mention.ts';
import { mentionTextOf } from '../../src/protocol/content/mentionText.ts';
import type { Attachment } from '../../src/protocol/content/messages.ts';
import {
  type ApprovalPreset,
  approvalPresetNames,
  approvalPresetShortNames,
} from '../../src/protocol/content/policy.ts';
import type { ImageAttachment, PanelState } from '../../src/protocol/panel/panelMessages.ts';
import type { MessageDeliveryTiming } from '../../src/protocol/run/events.ts';
import { isPlanReadyToImplement } from '../../src/protocol/run/plan.ts';
import { isRunHeldByDenial } from '../../src/protocol/run/resumable.ts';
import type { QueuedMessage, Run } from '../../src/protocol/run/run.ts';
import { escapeInvisibleInLine } from '../../src/protocol/text/escapeInvisible.ts';
import { t } from '../../src/protocol/text/l10n.ts';
import { modelLabelWithEffort } from '../../src/protocol/values/thinkingEffort.ts';
import { reportMessageSent } from '../activityReport.ts';
import type { PanelContext } from '../context.ts';
import { type PickedMention, savedWebviewState, saveWebviewState } from '../host.ts';
import { icons } from '../icons.ts';
import { attachButton, attachedImages, attachedImagesStrip, clearAttachedImages } from './attachedImages.ts';
import {
  areQuestionsAnswered,
  currentQuestionAnswer,
  discardQuestionAnswer,
  isAnswerBegun,
  nextUnansweredQuestion,
  type PendingQuestionAnswer,
  parseAnswerText,
  setAnswerChoices,
  showQuestionAt,
  toPanelQuestionChoices,
} from './choosing.ts';
import { closeComposerCompletions, completionList, onCompletionKey, updateComposerCompletions } from './completion.ts';
import { contextGauge } from './contextGauge.ts';
import { composerDraft, composerTextArea, focusComposer } from './draft.ts';
import { onDrag, onDrop, onPaste } from './dropping.ts';
import { activeMessageEdit, beginMessageEdit, endMessageEdit, messageEditBar } from './editing.ts';
import { isStopConfirmationPending, onKeyInEmptyBox } from './emptyBox.ts';
import {
  clearPickedMentions,
  draftMentions,
  draftMentionsWithSelection,
  isMentionInDraft,
  mentionStrip,
  pickMention,
} from './mentions.ts';
import { sendQuestionAnswer } from './questionCard.ts';
import { sendButtons } from './sendButton.ts';
import { clearTypedMention, detectTypedMention, resolveTypedWord, unresolvedMentions } from './typedMentions.ts';

let last: { text: string; images: Attachment[]; mentions: PickedMention[] } | undefined;
/** Restored text of a message that no run received. */
let unheard: string | undefined;

/** Call before the attachments are cleared. */
function rememberSent(text: string): void {
  const { images, mentions } = savedWebviewState();
  last = { text, images, mentions };
  unheard = undefined;
}

/**
 * Returns the unsent message `text`, followed by the current draft. If `text` is the last sent message, its attachments and mentions are
 * restored, too.
 */
function takeUnsent(text: string): string {
  if (last?.text === text) {
    const { images, mentions } = savedWebviewState();
    saveWebviewState({ images: [...last.images, ...images], mentions: [...last.mentions, ...mentions] });
  }
  last = undefined;
  unheard = [text, composerDraft()].filter(Boolean).join('\n\n');
  return unheard;
}

const isStillUnsent = (): boolean => unheard !== undefined && composerDraft() === unheard;

let editing: { runId: string; queued: number; before: string } | undefined;

function editedIn(run: Run | null): QueuedMessage | undefined {
  if (!editing || editing.runId !== run?.id) return undefined;
  return run.queued.find(({ queued }) => queued === editing!.queued);
}

function beginEdit({ model: { run } }: PanelContext, queued: number, setDraft: (text: string) => string): void {
  const one = run?.queued.find((waiting) => waiting.queued === queued);
  if (!run || !one) return;
  editing = { runId: run.id, queued, before: setDraft(one.text) };
  focusComposer();
}

function endEdit(): string {
  const before = editing?.before ?? '';
  editing = undefined;
  return before;
}

/** Maximum message length in characters, checked by the host. */
export const maxMessageLength = 1_000_000;
const escapeAgain = () => t('Press Esc again to stop');

export function composerView(context: PanelContext): TemplateResult {
  const { run, state } = context.model;
  const running = run?.phase === 'Running';
  const asks = currentQuestionAnswer(run);
  const ready =
    composerDraft().trim() !== '' || attachedImages().length > 0 || (asks !== undefined && areQuestionsAnswered(asks));
  return html`<div class="composer" @dragover=${onDrag} @drop=${(event: DragEvent) => onDrop(context, event)}
      @paste=${(event: ClipboardEvent) => onPaste(context, event)}>
    ${completionList(context)}
    <div class="for-screen-readers" role="status">${running && isStopConfirmationPending() ? escapeAgain() : nothing}</div>
    ${messageEditBar(context, () => leaveSaying(context))}
    ${attachedImagesStrip(context)}
    ${mentionStrip(context, (text) => {
      setDraft(context, text);
      focusComposer();
    })}
    <vscode-text-area data-testid="composer" rows="1" maxlength=${maxMessageLength}
      placeholder=${placeholderNow(context, asks)}
      @input=${(event: InputEvent) => onInput(context, event)} @compositionend=${() => onInput(context, {})}
      @click=${() => onCaret(context, {})} @keyup=${(event: KeyboardEvent) => onKeyUp(context, event)} @focusout=${() => onLeave(context)}
      @keydown=${(event: KeyboardEvent) => onKey(context, event)}>${t('Message to Towpath')}</vscode-text-area>
    <div class="composer-about">
      ${state ? agentButton(context, state) : html`<span class="loading quiet" role="status">${t('Loading…')}</span>`}
      ${state ? modelButton(context) : nothing}
      ${state ? presetButton(context, state) : nothing}
      ${run ? contextGauge(context, run) : nothing}
      ${ready ? nothing : html`<span class="drop-hint quiet">${t('Hold Shift to drop files')}</span>`}
    </div>
    <div class="composer-acts">
      ${attachButton(context)}
      ${sendButtons(context, { ready, answers: asks !== undefined, send: (when) => send(context, when) })}
    </div>
  </div>`;
}

function agentButton(context: PanelContext, { agent: next }: PanelState): TemplateResult {
  const { run } = context.model;
  const name = escapeInvisibleInLine(run?.workflowId ? agentName(run) : next);
  const title = t('{0} (Tab, A: another agent; Tab, P: toggle plan mode)', name);
  const icon = name === agentName({ workflowId: chatWorkflowId, agentId: planAgent }) ? icons.list : icons.person;
  return html`<vscode-button appearance="icon" class="agent" data-testid="agent" title=${title} aria-label=${t('Agent: {0}', title)}
      @click=${() => context.post({ type: 'action', action: 'pick-agent' })}><div class="agent-icon">${icon}</div><div class="agent-name">${name}</div></vscode-button>`;
}

function modelButton(context: PanelContext): TemplateResult {
  const { models, modelId } = context.model.state!;
  const model = models.find((option) => option.id === modelId);
  const last = context.model.run?.models?.at(-1);
  const { effort } = (last?.model === modelId ? last : model) ?? {};
  const name = escapeInvisibleInLine(model?.label ?? modelId);
  const label = name ? modelLabelWithEffort(name, effort) : t('Select a model');
  const problem = model?.problem ? escapeInvisibleInLine(model.problem) : '';
  return html`<vscode-button appearance="icon" class="model ${problem ? 'problem' : ''}" data-testid="model"
    title=${problem || `${escapeInvisibleInLine(model?.detail ?? '') || t('Select a model')} (Tab, M)`}
    aria-label=${problem ? t('Model: {0}. {1}', label, problem) : t('Model: {0}', label)}
    @click=${() => context.post({ type: 'action', action: 'pick-model' })}>
      <div class="model-words">${problem ? icons.warning : nothing}<div class="model-label">${label}</div></div>
    </vscode-button>`;
}

const presetIcons = {
  'ask-everything': icons.shield,
  'reads-free': icons.eye,
  'edits-free': icons.pencil,
  sandbox: icons.terminal,
  autopilot: icons.warning,
} as const satisfies Record<ApprovalPreset, TemplateResult>;

/** Preset of the run, unobtrusive for the default. The host asks for the preset and its scope. */
function presetButton(context: PanelContext, { preset, presetOfRun }: PanelState): TemplateResult {
  const isAutopilot = preset === 'autopilot';
  const [name, shortName] = [t(approvalPresetNames[preset]), t(approvalPresetShortNames[preset])];
  const whole = presetOfRun ? `${name} · ${t('this run only')}` : name;
  const title = t(
    '{0}. Click (Tab, R) to change it for this run.',
    isAutopilot ? t('{0}: runs without approval', whole) : whole,
  );
  // The accessible label contains the visible text, for voice control.
  const label = title.toLowerCase().includes(shortName.toLowerCase()) ? title : `${shortName}: ${title}`;
  const kind = isAutopilot ? 'autopilot' : preset === 'reads-free' && !presetOfRun ? 'ordinary' : '';
  return html`<vscode-button appearance="icon" class="preset ${kind}" data-testid="preset"
    title=${title} aria-label=${label} @click=${() => context.post({ type: 'action', action: 'run-preset' })}>
      <div class="preset-words">${presetIcons[preset]}<span class="preset-name">${shortName}</span>${
        presetOfRun ? html`<span class="preset-run">${icons.pin}</span>` : nothing
      }</div>
    </vscode-button>`;
}

function placeholderNow({ model: { run } }: PanelContext, asks: PendingQuestionAnswer | undefined): string {
  const running = run?.phase === 'Running';
  if (running && isStopConfirmationPending()) return escapeAgain();
  if (asks) return placeholderOf(asks);
  if (run && isRunHeldByDenial(run)) return t('What should it do instead? Enter on an empty box continues');
  if (running) return t('Enter: next step · Alt+Enter: when finished');
  if (run && isPlanReadyToImplement(run)) return t('What should be different (Ctrl+Enter: implement it)');
  return t(hint);
}

/** Hint without key names; narrow panels show the start. */
const hint = 'Ask anything. Type @ to add context, / for commands';

function placeholderOf({ questions, at }: PendingQuestionAnswer): string {
  const { answers, many } = questions[at]!;
  return many
    ? t('Numbers (1 to {0}), or your own answer', answers.length)
    : t('A number (1 to {0}), or your own answer', answers.length);
}

export function setDraft(context: PanelContext, text: string): void {
  const element = composerTextArea();
  if (!element) return;
  element.value = text;
  clearTypedMention();
  saveWebviewState({ draft: text });
  context.refresh();
}

export function addMentions(context: PanelContext, mentions: readonly Mention[]): void {
  const words = mentions.map(mentionTextOf).filter((word) => !isMentionInDraft(word));
  const text = composerDraft();
  if (words.length > 0) setDraft(context, `${text}${/(^|\s)$/.test(text) ? '' : ' '}${words.join(' ')} `);
  for (const mention of mentions) pickMention(context, mention);
  const box = composerTextArea()?.control as HTMLTextAreaElement | undefined;
  box?.setSelectionRange(box.value.length, box.value.length);
}

/** Moves a queued message into the message box; the previous draft returns afterwards. */
export function editQueuedMessage(context: PanelContext, queued: number): void {
  beginEdit(context, queued, (text) => {
    const before = composerDraft();
    setDraft(context, text);
    return before;
  });
}

/** Restores a message that no run received, before the current draft. */
export function restoreUndeliveredMessage(context: PanelContext, text: string): void {
  setDraft(context, takeUnsent(text));
}

/** Resends a restored message if unchanged; the user sends edited text. */
export function resendRestoredMessage(context: PanelContext): void {
  if (isStillUnsent()) send(context);
  else focusComposer();
}

export function editMessage(context: PanelContext, at: number): void {
  const { run } = context.model;
  const message = run?.messages[at];
  if (!run || message?.role !== 'user') return;
  context.opened.acts = undefined;
  beginMessageEdit(run, at, composerDraft());
  setDraft(context, message.content);
  focusComposer();
}

function leaveSaying(context: PanelContext): void {
  setDraft(context, endMessageEdit());
  focusComposer();
}

function send(context: PanelContext, when?: MessageDeliveryTiming): void {
  const text = composerDraft().trim() === '' ? '' : composerDraft().trimEnd();
  const images = attachedImages();
  const { run } = context.model;
  const edited = editedIn(run);
  if (edited && text !== '') {
    const change = { runId: run!.id, queued: edited.queued, text, when: when ?? edited.when };
    context.post({ type: 'change-waiting', ...change, ...draftMentions(), ...unresolvedMentions() });
    rememberSent(text);
    setDraft(context, endEdit());
    focusComposer();
    return;
  }
  const said = activeMessageEdit(run);
  if (said) {
    if (text === '' || run?.phase === 'Running') return;
    const restore = said.restore ? { restore: true as const } : {};
    context.post({
      type: 'edit-said',
      runId: said.runId,
      at: said.at,
      text: text.slice(0, maxMessageLength),
      ...restore,
      ...draftMentions(),
      ...unresolvedMentions(),
    });
    rememberSent(text);
    leaveSaying(context);
    return;
  }
  const asks = currentQuestionAnswer(context.model.run);
  if (text === '' && images.length === 0) {
    if (asks && areQuestionsAnswered(asks)) sendQuestionAnswer(context, asks);
    else if (!asks && run && isRunHeldByDenial(run)) context.post({ type: 'continue' });
    return;
  }
  const mentions = draftMentionsWithSelection(context);
  const named = asks && images.length === 0 ? parseAnswerText(text, asks.questions[asks.at]!) : undefined;
  if (asks && named) {
    choose(context, asks, named);
    return;
  }
  reportMessageSent();
  const attachments = images.length > 0 ? { attachments: images as ImageAttachment[] } : {};
  const chosen = asks && isAnswerBegun(asks) ? { chosen: toPanelQuestionChoices(asks) } : {};
  const later = when && run?.phase === 'Running' ? { when } : {};
  context.post({
    type: 'send',
    text: text.slice(0, maxMessageLength),
    ...attachments,
    ...mentions,
    ...unresolvedMentions(),
    ...chosen,
    ...later,
  });
  if (asks) discardQuestionAnswer(asks);
  rememberSent(text);
  clearAttachedImages();
  clearPickedMentions();
  delete context.model.selection;
  setDraft(context, endEdit());
  focusComposer();
  context.toEnd();
}

export function requestPlanExecution(context: PanelContext): void {
  const text = composerDraft().trim();
  context.post({
    type: 'do-plan',
    ...(text !== '' && { text: text.slice(0, maxMessageLength) }),
    ...draftMentions(),
    ...unresolvedMentions(),
  });
  reportMessageSent();
  rememberSent(text);
  clearPickedMentions();
  setDraft(context, '');
  focusComposer();
  context.toEnd();
}

/** Selects the answers named by the message; at the last question, sends all answers. */
function choose(context: PanelContext, asks: PendingQuestionAnswer, places: number[]): void {
  setAnswerChoices(asks, places);
  setDraft(context, '');
  const next = nextUnansweredQuestion(asks);
  if (next === undefined) sendQuestionAnswer(context, asks);
  else showQuestionAt(asks, next);
  context.refresh();
  focusComposer();
}

function onKey(context: PanelContext, event: KeyboardEvent): void {
  if (onCompletionKey(context, event)) return;
  if (event.key === 'Escape' && (editedIn(context.model.run) || activeMessageEdit(context.model.run))) {
    event.stopPropagation(); // one action at a time
    if (editedIn(context.model.run)) setDraft(context, endEdit());
    else leaveSaying(context);
    return;
  }
  if (onKeyInEmptyBox(context, event, (text) => setDraft(context, text))) event.preventDefault();
  // 229: the Enter that ends an input method composition may lack isComposing.
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing || event.keyCode === 229) return;
  event.preventDefault();
  const { run } = context.model;
  if ((event.ctrlKey || event.metaKey) && run && isPlanReadyToImplement(run)) requestPlanExecution(context);
  else send(context, event.altKey ? 'done' : undefined);
}

function onLeave(context: PanelContext): void {
  closeComposerCompletions(context);
  resolveTypedWord(context);
  context.refresh();
}

function onInput(context: PanelContext, event: { isComposing?: boolean; inputType?: string }): void {
  saveWebviewState({ draft: composerDraft() });
  detectTypedMention(context, event);
  updateComposerCompletions(context, event);
  context.refresh();
}

function onKeyUp(context: PanelContext, event: KeyboardEvent): void {
  if (['ArrowLeft', 'ArrowRight', 'Home', 'End'].includes(event.key)) onCaret(context, event);
}

function onCaret(context: PanelContext, event: { isComposing?: boolean }): void {
  detectTypedMention(context, {});
  updateComposerCompletions(context, event);
}
