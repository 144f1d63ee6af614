import { html, nothing, type TemplateResult } from 'lit-html';
import { isSameToolCall, type ToolCallKey } from '../../src/protocol/content/callKey.ts';
import type { ToolCall, ToolResult } from '../../src/protocol/content/messages.ts';
import type { ToolOutcome } from '../../src/protocol/content/tools.ts';
import type { AddedRule } from '../../src/protocol/panel/panelMessages.ts';
import { isRunHeldByDenial } from '../../src/protocol/run/resumable.ts';
import {
  type CallState,
  callsInStartOrder,
  pathsToUndo,
  type Run,
  type StreamedCallDraft,
} from '../../src/protocol/run/run.ts';
import { newestRedoableUndo } from '../../src/protocol/run/runFiles.ts';
import { callWithCorrectedArguments } from '../../src/protocol/run/understoodArguments.ts';
import {
  escapeCommandOutput,
  escapeInvisible,
  escapeInvisibleInLine,
} from '../../src/protocol/text/escapeInvisible.ts';
import { localizedCount, t } from '../../src/protocol/text/l10n.ts';
import { messageImagesView } from '../composer/attachedImages.ts';
import { isCommandRunning } from '../composer/backgroundCommandsPart.ts';
import { pendingQuestionCallIds } from '../composer/choosing.ts';
import { answeredQuestionsView, userQuestionCard } from '../composer/questionCard.ts';
import type { PanelContext } from '../context.ts';
import { icons } from '../icons.ts';
import { longTextView } from '../longText.ts';
import { firstPendingApproval } from '../store.ts';
import { type CardLine, cardLine, cardLineAriaLabel, streamedCallCardLine } from './cardLine.ts';
import { cardLineView, cardStatusIcons } from './cardLineView.ts';
import { toPlainTextPiece } from './cardText.ts';
import {
  backgroundCommandView,
  commandInputView,
  commandOutputView,
  continueInBackgroundButton,
  lastOutputLineView,
} from './commandCard.ts';
import { diffView } from './diffView.ts';
import { automaticDecisionText } from './failureReason.ts';
import { searchMatchesView } from './matches.ts';
import { type EditProgress, editProgressFromDraft } from './partialArguments.ts';
import { hasRecordedChanges, lostFilesView } from './recordedChanges.ts';

interface JsonSection {
  label: string;
  text: string;
}

function sections(value: unknown, label: string): JsonSection[] {
  if (typeof value === 'string') return [{ label, text: escapeInvisible(value) }];
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return [{ label, text: json(value) }];
  const entries = Object.entries(value);
  const standsAlone = (field: unknown): field is string =>
    typeof field === 'string' && (field.includes('\n') || field.length > 120);
  const short = entries.filter(([, field]) => !standsAlone(field));
  return [
    ...(short.length > 0 || entries.length === 0 ? [{ label, text: json(Object.fromEntries(short)) }] : []),
    ...entries.flatMap(([name, field]) =>
      standsAlone(field) ? [{ label: `${label}: ${escapeInvisible(name)}`, text: escapeInvisible(field) }] : [],
    ),
  ];
}

const json = (value: unknown): string => escapeInvisible(JSON.stringify(value, null, 2) ?? String(value));

export function toolCallCard(context: PanelContext, run: Run, call: ToolCall, place: string): TemplateResult {
  const state = run.calls[call.id];
  const key = { runId: run.id, toolCallId: call.id };
  if (pendingQuestionCallIds(run).includes(call.id)) return userQuestionCard(context, run, call.id);
  const result = context.model.results.get(call.id);
  const line = toolCallCardLine(context, run, call);
  const { status } = line;
  const made = status === 'running' ? undefined : state; // still running
  return cardFrame(context, {
    place,
    key,
    tool: call.name,
    line,
    ...(state?.automatic !== undefined && { why: automaticDecisionText(state) }),
    beside: html`${made ? changeButtons(context, key, call, made, isOpen(context, place)) : nothing}${
      state?.outputId && !state.background
        ? openButton(context, key, 'open-output', t('Open the whole output in an editor'), t('Open Output'))
        : nothing
    }`,
    below: html`
      ${status === 'asking' && !state?.asked ? asked(context, key, state) : nothing}
      ${isRunHeldByDenial(run) && run.held!.at(-1) === call.id ? continueHeld(context) : nothing}
      ${changeBelow(context, key, place, made)}
      ${made ? lostFilesView(made) : nothing}
      ${ruleAdded(context, key, state)}
      ${state?.asked ? answeredQuestionsView(context, state, place) : nothing}
      ${status === 'running' && state?.output ? commandOutputView(state.output) : nothing}
      ${commandInputView(context, key)}
      ${status === 'running' && state?.command ? continueInBackgroundButton(context, key) : nothing}
      ${(line.mark === 'dot' || line.mark === 'cross') && !state?.background && !isOpen(context, place) && levelOf(context) !== 'few' ? lastOutputLineView(printed(outcomeOf(result))) : nothing}
      ${state?.background ? backgroundCommandView(context, key, state, status) : nothing}`,
    details: () => toolCallDetails(context, place, call, state, result),
  });
}

export const addedRuleForCall = ({ model }: PanelContext, key: ToolCallKey): AddedRule | undefined =>
  model.state?.rulesAdded?.find((one) => isSameToolCall(one, key));

function ruleAdded(
  context: PanelContext,
  key: ToolCallKey,
  state: CallState | undefined,
): TemplateResult | typeof nothing {
  const rule = addedRuleForCall(context, key);
  const link = (type: 'allow-blocked' | 'remove-rule', label: string) =>
    html`<button class="link" data-testid=${type} @click=${() => context.post({ type, ...key })}>${label}</button>`;
  if (!rule)
    return state?.blocked && state.status === 'done'
      ? html`<p class="card-note">${link('allow-blocked', t('Allow…'))}</p>`
      : nothing;
  return html`<p class="quiet card-note" data-testid="rule-added">${t('Rule added: {0}', rule.text)} ·
    ${link('remove-rule', t('Remove Rule'))}</p>`;
}

export function toolCallCardLine(context: PanelContext, run: Run, call: ToolCall): CardLine {
  const state = run.calls[call.id];
  const result = context.model.results.get(call.id);
  const outcome = outcomeOf(result);
  return cardLine({
    call,
    phase: run.phase,
    stopped: run.error?.code === 'ENGINE_ABORTED',
    elsewhere: run.error?.code === 'STORE_LOCKED',
    now: context.now,
    going: isCommandRunning(context, state?.background?.id),
    lineOf: (id) => callsInStartOrder(run).find(([, one]) => one.background?.id === id)?.[1].command?.line,
    held: isRunHeldByDenial(run) && run.held!.includes(call.id),
    ...(run.progress?.callId === call.id && run.progress.said && { progress: t(run.progress.said) }),
    ...(state && { state }),
    ...(outcome && { outcome }),
  });
}

function printed(outcome: ToolOutcome | undefined): string {
  const { output } = Object(outcome?.ok ? outcome.data : outcome?.error.details) as { output?: unknown };
  return typeof output === 'string' ? output : '';
}

function changeButtons(
  context: PanelContext,
  key: ToolCallKey,
  call: ToolCall,
  state: CallState,
  isCardOpen: boolean,
): TemplateResult | typeof nothing {
  const { changes: [change] = [], moved, command, undone } = state;
  const isRecorded = hasRecordedChanges(state);
  if (!change && !moved && !isRecorded) return nothing;
  const { path } = callWithCorrectedArguments(call, state).arguments;
  const what = isRecorded
    ? (command?.line ?? call.name)
    : change?.kind && typeof path === 'string'
      ? path // for a folder, all of its content
      : (change?.path ?? moved!.to);
  const name = escapeInvisibleInLine(what);
  const undo = t('Undo this change of {0}', name);
  return html`${undone?.length ? redoButton(context, key) : nothing}${
    pathsToUndo(state).length > 0
      ? html`<vscode-button appearance="icon" data-testid="undo" title=${undo} aria-label=${undo}
    @click=${() => context.post({ type: 'undo', runId: key.runId, toolCallIds: [key.toolCallId] })}>${icons.undo}</vscode-button>`
      : nothing
  }${
    change && (isRecorded ? isCardOpen : !change.kind) // nothing to compare in a deletion in on-disk form
      ? openButton(context, key, 'open-diff', t('Show what changed in {0}', name), t('Diff'))
      : nothing
  }`;
}

/** Available while no later event changed the files; the host compares the disk. */
function redoButton(context: PanelContext, key: ToolCallKey): TemplateResult | typeof nothing {
  const { run } = context.model;
  if (!run || !newestRedoableUndo(run, ({ toolCallIds }) => toolCallIds.includes(key.toolCallId))) return nothing;
  return html`<button class="link" data-testid="redo"
    @click=${() => context.post({ type: 'redo', ...key })}>${t('Redo')}</button>`;
}

export function callDraftCard(context: PanelContext, draft: StreamedCallDraft, place: string): TemplateResult {
  const writing = editProgressFromDraft(draft);
  const line = streamedCallCardLine(draft);
  return cardFrame(context, {
    place,
    tool: draft.name,
    line: writing ? { ...line, outcome: [toPlainTextPiece(t(localizedCount(writing.lines, 'line')))] } : line,
    beside: nothing,
    below: writing ? newestLines(writing) : nothing,
    details: () =>
      html`<pre class="field">${longTextView(context, `${place}:draft`, escapeInvisible(draft.argumentsText), 4000)}</pre>`,
  });
}

const newestLines = ({ newest }: EditProgress): TemplateResult =>
  html`<div class="diff writing" aria-hidden="true">${newest.map(({ sign, text }) => html`<div class="diff-line" data-sign=${sign}><span class="diff-sign">${sign === '-' ? '−' : sign}</span><span class="diff-text">${escapeInvisible(text)}</span></div>`)}</div>`;

interface CardFrame {
  place: string;
  key?: ToolCallKey;
  tool: string;
  line: CardLine;
  beside: TemplateResult | typeof nothing;
  below: TemplateResult | typeof nothing;
  why?: string;
  details(): TemplateResult;
}

export function cardFrame(
  context: PanelContext,
  { place, key, tool, line, beside, below, why, details }: CardFrame,
): TemplateResult {
  const open = isOpen(context, place);
  const press = () => toggle(context, place, key);
  const { status, mark } = line;
  const ok = mark === 'check' || (status === 'done' && (mark === 'cross' || mark === 'none') ? false : undefined);
  const said = escapeInvisibleInLine(cardLineAriaLabel(line));
  return html`<div class="card" role="group" data-call=${key?.toolCallId ?? ''} data-tool=${escapeInvisibleInLine(tool)} data-status=${status}
      data-ok=${ok ?? nothing} data-mark=${mark} aria-label=${said}>
    <div class="card-head" @click=${(event: Event) => (isPlain(event) ? press() : undefined)}>
      <button class="card-toggle" aria-expanded=${open} aria-label=${t('Details: {0}', said)} title=${why ? `${said}\n${escapeInvisibleInLine(why)}` : said} @click=${(
        event: Event,
      ) => {
        event.stopPropagation();
        press();
      }}>
        <span class="twistie">${icons.chevron}</span>
        <span class="card-icon">${cardStatusIcons[mark]}</span>
      </button>
      ${cardLineView(context, line)}
      <span class="card-beside">${beside}</span>
    </div>
    ${below}
    ${open ? html`<div class="card-details">${details()}</div>` : nothing}
  </div>`;
}

function isPlain({ target }: Event): boolean {
  if (target instanceof Element && target.closest('button, vscode-button')) return false;
  return document.getSelection()?.isCollapsed !== false;
}

const openButton = (
  context: PanelContext,
  key: ToolCallKey,
  type: 'open-output' | 'open-diff',
  title: string,
  label: string,
): TemplateResult =>
  html`<vscode-button appearance="secondary" class="small" data-testid=${type} title=${title} @click=${() => context.post({ type, ...key })}>${label}</vscode-button>`;

/** Preview of a change: small changes fully, others truncated until the card is opened. */
function changeBelow(context: PanelContext, key: ToolCallKey, place: string, state: CallState | undefined) {
  if (!state || state.ok === false || state.undone?.length) return nothing;
  const open = isOpen(context, place);
  const whole = open ? context.model.changes.get(key.toolCallId) : undefined;
  const diff = whole ?? state.diff;
  if (!diff || (!open && levelOf(context) === 'few')) return nothing;
  const more = () => (open ? context.post({ type: 'show-change', ...key }) : toggle(context, place, key));
  return diffView(diff, t('What it changed'), whole === undefined ? more : undefined);
}

const levelOf = ({ model }: PanelContext) => model.state?.details ?? 'usual';

/** Open state of a card. With detail level `all`, cards are open by default and `opened` lists the closed cards. */
const isOpen = (context: PanelContext, place: string): boolean =>
  context.opened.cards.has(place) !== (levelOf(context) === 'all');

function toggle(context: PanelContext, place: string, key: ToolCallKey | undefined): void {
  const { cards } = context.opened;
  if (!cards.delete(place)) cards.add(place);
  if (key && isOpen(context, place)) {
    const { changes, diff, snapshot } = context.model.run?.calls[key.toolCallId] ?? {};
    if (
      changes?.[0] &&
      snapshot === undefined &&
      !changes[0].kind &&
      (!diff || /\n… \d+$/.test(diff)) &&
      !context.model.changes.has(key.toolCallId)
    )
      context.post({ type: 'show-change', ...key });
  }
  context.refresh();
}

/** Full content of the approval request, to be read here; the dialog only confirms. */
const asked = (context: PanelContext, key: ToolCallKey, state: CallState | undefined): TemplateResult =>
  html`${state?.question?.diff ? diffView(state.question.diff, t('What it would change')) : nothing}${
    state?.question?.command?.includes('\n')
      ? html`<pre class="field question-command" tabindex="0">${escapeInvisible(state.question.command)}</pre>`
      : nothing
  }${asking(context, key, state)}`;

function asking(context: PanelContext, key: ToolCallKey, state: CallState | undefined): TemplateResult {
  const { note, why = '' } = state?.question ?? {};
  const isFirst = firstPendingApproval(context.model) === key.toolCallId;
  return html`<div class="card-question">
    <span>${[note, why].filter(Boolean).map((text) => html`<span class="card-why">${escapeInvisibleInLine(text!)}</span> `)}</span>
    <span class="card-answers">
      <vscode-button class="small" appearance=${isFirst ? 'primary' : 'secondary'} data-testid="show-question"
        @click=${() => context.post({ type: 'show-question', ...key })}>${t('Answer…')}</vscode-button>
      ${denyButton(context, key)}
    </span>
    ${isFirst ? html`<span class="card-keys quiet">${reviewKeys()}</span>` : nothing}
  </div>`;
}

/** Review shortcuts (bound in `package.json`) in the key names of the system. */
const reviewKeys = (): string =>
  /\bMac\b/.test(navigator.userAgent)
    ? t('In the review: Shift+Option+Return allows, Shift+Option+Delete denies')
    : t('In the review: Shift+Alt+Enter allows, Shift+Alt+Delete denies');

export const denyButton = (context: PanelContext, key: ToolCallKey): TemplateResult =>
  html`<vscode-button class="small" appearance="secondary" data-testid="deny"
    @click=${() => context.post({ type: 'deny', ...key })}>${t('Deny')}</vscode-button>`;

const continueHeld = (context: PanelContext): TemplateResult =>
  html`<div class="card-question"><span class="card-answers"><vscode-button class="small" appearance="secondary" data-testid="continue-held"
    @click=${() => context.post({ type: 'continue' })}>${t('Continue')}</vscode-button></span></div>`;

export function toolCallDetails(
  context: PanelContext,
  place: string,
  call: ToolCall,
  state: CallState | undefined,
  result: ToolResult | undefined,
): TemplateResult {
  const outcome = outcomeOf(result);
  const text = call.name === 'shell.run' ? printed(outcome) : '';
  const found = outcome?.ok ? searchMatchesView(context, outcome.data) : undefined;
  const hasOwn = text !== '' || found !== undefined || state?.changes !== undefined;
  const raw = `${place}:raw`;
  const open = !hasOwn || context.opened.cards.has(raw);
  return html`
    ${state?.automatic ? html`<p class="quiet">${t('Not asked: {0}', escapeInvisibleInLine(automaticDecisionText(state)))}</p>` : nothing}
    ${text ? commandOutputView(text, t('Output')) : nothing}
    ${found ?? nothing}
    ${messageImagesView(result?.attachments)}
    ${
      hasOwn
        ? html`<button class="fold-head" data-testid="raw" aria-expanded=${open} @click=${() => toggleRaw(context, raw)}
            ><span class="twistie">${icons.chevron}</span>${t('Details')}</button>`
        : nothing
    }
    ${open ? asTheModelSaw(context, place, call, state, result) : nothing}`;
}

function toggleRaw(context: PanelContext, place: string): void {
  if (!context.opened.cards.delete(place)) context.opened.cards.add(place);
  context.refresh();
}

function asTheModelSaw(
  context: PanelContext,
  place: string,
  call: ToolCall,
  state: CallState | undefined,
  result: ToolResult | undefined,
): TemplateResult {
  const parts = [
    ...(call.malformed === undefined
      ? remembered(call, () => sections(call.arguments, t('Arguments')))
      : [{ label: t('Arguments, as they came'), text: escapeInvisible(call.malformed) }]),
    ...(result ? remembered(result, () => outcomeSections(result)) : []),
    ...(!result && state?.output ? [{ label: t('Output'), text: escapeCommandOutput(state.output) }] : []),
  ];
  return html`<div class="field-label"><code>${escapeInvisibleInLine(call.name)}</code></div>
    ${parts.map(
      (part, index) => html`<div class="field-label">${part.label}</div>
        <pre class="field" tabindex="0">${longTextView(context, `${place}:${index}`, part.text, 4000)}</pre>`,
    )}`;
}

/** Parsed results, cached because large results would slow down each rendering. */
const outcomes = new WeakMap<ToolResult, ToolOutcome | 'words'>();
function outcomeOf(result: ToolResult | undefined): ToolOutcome | undefined {
  if (!result) return undefined;
  const found = outcomes.get(result) ?? parseOutcome(result.content) ?? 'words';
  outcomes.set(result, found);
  return found === 'words' ? undefined : found;
}

function outcomeSections(result: ToolResult): JsonSection[] {
  const outcome = outcomeOf(result);
  if (!outcome) return [{ label: t('Outcome'), text: escapeInvisible(result.content) }];
  if (outcome.ok) return sections(outcome.data, t('Outcome'));
  const { code, message, details } = outcome.error;
  const failure = { label: t('Failed: {0}', escapeInvisibleInLine(code)), text: escapeInvisible(message) };
  return details === undefined ? [failure] : [failure, ...sections(details, t('More'))];
}

function parseOutcome(content: string): ToolOutcome | undefined {
  try {
    const value = JSON.parse(content) as ToolOutcome;
    if (value.ok === true) return value;
    return typeof value.error?.message === 'string' && typeof value.error.code === 'string' ? value : undefined;
  } catch {
    return undefined; // text, not an outcome
  }
}

/** Formatted sections, cached because their sources are immutable and large. */
const texts = new WeakMap<object, JsonSection[]>();
function remembered(key: object, make: () => JsonSection[]): JsonSection[] {
  const found = texts.get(key) ?? make();
  texts.set(key, found);
  return found;
}
