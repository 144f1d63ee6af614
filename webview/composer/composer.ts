import { html, nothing, type TemplateResult } from 'lit-html';
import { agentName, chatWorkflow, planAgent } from '../../src/protocol/content/agents.ts';
import type { Mention } from '../../src/protocol/content/mention.ts';
import { wordOf } from '../../src/protocol/content/mentionText.ts';
import type { Attachment } from '../../src/protocol/content/messages.ts';
import { type ApprovalPreset, presetNames, presetShortNames } from '../../src/protocol/content/policy.ts';
import type { ImageAttachment, PanelState } from '../../src/protocol/panel/panelMessages.ts';
import type { When } from '../../src/protocol/run/events.ts';
import { isPlanned } from '../../src/protocol/run/plan.ts';
import { isHeld } from '../../src/protocol/run/resumable.ts';
import type { QueuedMessage, Run } from '../../src/protocol/run/run.ts';
import { visibleLine } from '../../src/protocol/text/escapeInvisible.ts';
import { t } from '../../src/protocol/text/l10n.ts';
import { sent } from '../activityReport.ts';
import type { PanelContext } from '../context.ts';
import { type Picked, savedView, saveView } from '../host.ts';
import { icons } from '../icons.ts';
import { attachButton, forgetImages, pickedImages, pickedStrip } from './attachedImages.ts';
import {
  answersIn,
  type Choosing,
  choosingNow,
  chosenOf,
  forget,
  isAnswered,
  isBegun,
  nextOpen,
  setChosen,
  turnTo,
} from './choosing.ts';
import { close, completionList, lookForCompletion, onCompletionKey } from './completion.ts';
import { contextGauge } from './contextGauge.ts';
import { area, draft, focusComposer } from './draft.ts';
import { onDrag, onDrop, onPaste } from './dropping.ts';
import { beginSending, editedMessage, endSending, sendingBar } from './editing.ts';
import { isToStop, onKeyInEmptyBox } from './emptyBox.ts';
import { forgetMentions, isMentioned, namedNow, namedStrip, namedWithSelection, pick } from './mentions.ts';
import { answer } from './questionCard.ts';
import { sendButtons } from './sendButton.ts';
import { forgetTyping, lookForTyped, resolveTyped, typedNow } from './typedMentions.ts';

let last: { text: string; images: Attachment[]; mentions: Picked[] } | undefined;
/** Restored text of a message that no run received. */
let unheard: string | undefined;

/** Call before the attachments are cleared. */
function rememberSent(text: string): void {
  const { images, mentions } = savedView();
  last = { text, images, mentions };
  unheard = undefined;
}

/**
 * Returns the unsent message `text`, followed by the current draft. If `text` is the last sent message, its attachments and mentions are
 * restored, too.
 */
function takeUnsent(text: string): string {
  if (last?.text === text) {
    const { images, mentions } = savedView();
    saveView({ images: [...last.images, ...images], mentions: [...last.mentions, ...mentions] });
  }
  last = undefined;
  unheard = [text, draft()].filter(Boolean).join('\n\n');
  return unheard;
}

const isStillUnsent = (): boolean => unheard !== undefined && draft() === unheard;

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

export function composer(context: PanelContext): TemplateResult {
  const { run, state } = context.model;
  const running = run?.phase === 'Running';
  const asks = choosingNow(run);
  const ready = draft().trim() !== '' || pickedImages().length > 0 || (asks !== undefined && isAnswered(asks));
  return html`<div class="composer" @dragover=${onDrag} @drop=${(event: DragEvent) => onDrop(context, event)}
      @paste=${(event: ClipboardEvent) => onPaste(context, event)}>
    ${completionList(context)}
    <div class="for-screen-readers" role="status">${running && isToStop() ? escapeAgain() : nothing}</div>
    ${sendingBar(context, () => leaveSaying(context))}
    ${pickedStrip(context)}
    ${namedStrip(context, (text) => {
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
  const name = visibleLine(run?.workflowId ? agentName(run) : next);
  const title = t('{0} (Tab, A: another agent; Tab, P: toggle plan mode)', name);
  const icon = name === agentName({ workflowId: chatWorkflow, agentId: planAgent }) ? icons.list : icons.person;
  return html`<vscode-button appearance="icon" class="agent" data-testid="agent" title=${title} aria-label=${t('Agent: {0}', title)}
      @click=${() => context.post({ type: 'action', action: 'pick-agent' })}><div class="agent-icon">${icon}</div><div class="agent-name">${name}</div></vscode-button>`;
}

function modelButton(context: PanelContext): TemplateResult {
  const { models, modelId } = context.model.state!;
  const model = models.find((option) => option.id === modelId);
  const label = visibleLine(model?.label ?? modelId) || t('Select a model');
  const problem = model?.problem ? visibleLine(model.problem) : '';
  return html`<vscode-button appearance="icon" class="model ${problem ? 'problem' : ''}" data-testid="model"
    title=${problem || `${visibleLine(model?.detail ?? '') || t('Select a model')} (Tab, M)`}
    aria-label=${problem ? t('Model: {0}. {1}', label, problem) : t('Model: {0}', label)}
    @click=${() => context.post({ type: 'action', action: 'pick-model' })}>
      <div class="model-words">${problem ? icons.warning : nothing}<div class="model-label">${label}</div></div>
    </vscode-button>`;
}

const presetIcons = {
  'ask-everything': icons.shield,
  'reads-free': icons.eye,
  'edits-free': icons.pencil,
  autopilot: icons.warning,
} as const satisfies Record<ApprovalPreset, TemplateResult>;

/** Preset of the run, unobtrusive for the default. The host asks for the preset and its scope. */
function presetButton(context: PanelContext, { preset, presetOfRun }: PanelState): TemplateResult {
  const isAutopilot = preset === 'autopilot';
  const [name, shortName] = [t(presetNames[preset]), t(presetShortNames[preset])];
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

function placeholderNow({ model: { run } }: PanelContext, asks: Choosing | undefined): string {
  const running = run?.phase === 'Running';
  if (running && isToStop()) return escapeAgain();
  if (asks) return placeholderOf(asks);
  if (run && isHeld(run)) return t('What should it do instead? Enter on an empty box continues');
  if (running) return t('Enter: next step · Alt+Enter: when finished');
  if (run && isPlanned(run)) return t('What should be different (Ctrl+Enter: implement it)');
  return t(hint);
}

/** Hint without key names; narrow panels show the start. */
const hint = 'Ask anything. Type @ to add context, / for commands';

function placeholderOf({ questions, at }: Choosing): string {
  const { answers, many } = questions[at]!;
  return many
    ? t('Numbers (1 to {0}), or your own answer', answers.length)
    : t('A number (1 to {0}), or your own answer', answers.length);
}

export function setDraft(context: PanelContext, text: string): void {
  const element = area();
  if (!element) return;
  element.value = text;
  forgetTyping();
  saveView({ draft: text });
  context.refresh();
}

export function addMentions(context: PanelContext, mentions: readonly Mention[]): void {
  const words = mentions.map(wordOf).filter((word) => !isMentioned(word));
  const text = draft();
  if (words.length > 0) setDraft(context, `${text}${/(^|\s)$/.test(text) ? '' : ' '}${words.join(' ')} `);
  for (const mention of mentions) pick(context, mention);
  const box = area()?.control as HTMLTextAreaElement | undefined;
  box?.setSelectionRange(box.value.length, box.value.length);
}

/** Moves a queued message into the message box; the previous draft returns afterwards. */
export function editQueued(context: PanelContext, queued: number): void {
  beginEdit(context, queued, (text) => {
    const before = draft();
    setDraft(context, text);
    return before;
  });
}

/** Restores a message that no run received, before the current draft. */
export function restoreDraft(context: PanelContext, text: string): void {
  setDraft(context, takeUnsent(text));
}

/** Resends a restored message if unchanged; the user sends edited text. */
export function sayUnheard(context: PanelContext): void {
  if (isStillUnsent()) send(context);
  else focusComposer();
}

export function editMessage(context: PanelContext, at: number): void {
  const { run } = context.model;
  const message = run?.messages[at];
  if (!run || message?.role !== 'user') return;
  context.opened.acts = undefined;
  beginSending(run, at, draft());
  setDraft(context, message.content);
  focusComposer();
}

function leaveSaying(context: PanelContext): void {
  setDraft(context, endSending());
  focusComposer();
}

function send(context: PanelContext, when?: When): void {
  const text = draft().trim() === '' ? '' : draft().trimEnd();
  const images = pickedImages();
  const { run } = context.model;
  const edited = editedIn(run);
  if (edited && text !== '') {
    const change = { runId: run!.id, queued: edited.queued, text, when: when ?? edited.when };
    context.post({ type: 'change-waiting', ...change, ...namedNow(), ...typedNow() });
    rememberSent(text);
    setDraft(context, endEdit());
    focusComposer();
    return;
  }
  const said = editedMessage(run);
  if (said) {
    if (text === '' || run?.phase === 'Running') return;
    const restore = said.restore ? { restore: true as const } : {};
    context.post({
      type: 'edit-said',
      runId: said.runId,
      at: said.at,
      text: text.slice(0, maxMessageLength),
      ...restore,
      ...namedNow(),
      ...typedNow(),
    });
    rememberSent(text);
    leaveSaying(context);
    return;
  }
  const asks = choosingNow(context.model.run);
  if (text === '' && images.length === 0) {
    if (asks && isAnswered(asks)) answer(context, asks);
    else if (!asks && run && isHeld(run)) context.post({ type: 'continue' });
    return;
  }
  const mentions = namedWithSelection(context);
  const named = asks && images.length === 0 ? answersIn(text, asks.questions[asks.at]!) : undefined;
  if (asks && named) {
    choose(context, asks, named);
    return;
  }
  sent();
  const attachments = images.length > 0 ? { attachments: images as ImageAttachment[] } : {};
  const chosen = asks && isBegun(asks) ? { chosen: chosenOf(asks) } : {};
  const later = when && run?.phase === 'Running' ? { when } : {};
  context.post({
    type: 'send',
    text: text.slice(0, maxMessageLength),
    ...attachments,
    ...mentions,
    ...typedNow(),
    ...chosen,
    ...later,
  });
  if (asks) forget(asks);
  rememberSent(text);
  forgetImages();
  forgetMentions();
  delete context.model.selection;
  setDraft(context, endEdit());
  focusComposer();
  context.toEnd();
}

export function executePlan(context: PanelContext): void {
  const text = draft().trim();
  context.post({
    type: 'do-plan',
    ...(text !== '' && { text: text.slice(0, maxMessageLength) }),
    ...namedNow(),
    ...typedNow(),
  });
  sent();
  rememberSent(text);
  forgetMentions();
  setDraft(context, '');
  focusComposer();
  context.toEnd();
}

/** Selects the answers named by the message; at the last question, sends all answers. */
function choose(context: PanelContext, asks: Choosing, places: number[]): void {
  setChosen(asks, places);
  setDraft(context, '');
  const next = nextOpen(asks);
  if (next === undefined) answer(context, asks);
  else turnTo(asks, next);
  context.refresh();
  focusComposer();
}

function onKey(context: PanelContext, event: KeyboardEvent): void {
  if (onCompletionKey(context, event)) return;
  if (event.key === 'Escape' && (editedIn(context.model.run) || editedMessage(context.model.run))) {
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
  if ((event.ctrlKey || event.metaKey) && run && isPlanned(run)) executePlan(context);
  else send(context, event.altKey ? 'done' : undefined);
}

function onLeave(context: PanelContext): void {
  close(context);
  resolveTyped(context);
  context.refresh();
}

function onInput(context: PanelContext, event: { isComposing?: boolean; inputType?: string }): void {
  saveView({ draft: draft() });
  lookForTyped(context, event);
  lookForCompletion(context, event);
  context.refresh();
}

function onKeyUp(context: PanelContext, event: KeyboardEvent): void {
  if (['ArrowLeft', 'ArrowRight', 'Home', 'End'].includes(event.key)) onCaret(context, event);
}

function onCaret(context: PanelContext, event: { isComposing?: boolean }): void {
  lookForTyped(context, {});
  lookForCompletion(context, event);
}
