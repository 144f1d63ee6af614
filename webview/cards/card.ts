import { html, nothing, type TemplateResult } from 'lit-html';
import { askTool } from '../../src/protocol/ask.ts';
import type { KeptChange } from '../../src/protocol/events.ts';
import type { ToolCall, ToolResult } from '../../src/protocol/messages.ts';
import type { CallDraft, CallState, Run } from '../../src/protocol/run.ts';
import type { ToolOutcome } from '../../src/protocol/tools.ts';
import { visible, visibleLine, visibleOutput } from '../../src/protocol/visible.ts';
import { answered, askCard } from '../composer/ask.ts';
import { asksIn } from '../composer/choosing.ts';
import { pictures } from '../composer/images.ts';
import type { PanelContext } from '../context.ts';
import { icons } from '../icons.ts';
import { longText } from '../longText.ts';
import { duration } from '../time.ts';
import { goOnButton, inBackground, standingInBackground } from './commandCard.ts';
import { mainArgument, mainArgumentSoFar, type Section, sections } from './pretty.ts';
import type { Standing } from './standing.ts';

/** One tool call: what is asked, how it stands, and, when opened, its arguments and what came of it. */
export function card(context: PanelContext, run: Run, call: ToolCall, place: string): TemplateResult {
  const state = run.calls[call.id];
  if (asksIn(run).includes(call.id)) return askCard(context, run, call.id);
  const result = context.model.results.get(call.id);
  const standing = standingOf(context, run, call, state, result);
  const made = standing.status === 'running' ? undefined : state; // it is at it
  const change = made?.changes?.[0];
  return frame(context, {
    place,
    id: call.id,
    tool: call.name,
    about: aboutOf(call, state),
    standing: state?.background ? { ...standing, words: '', title: standing.words } : standing,
    beside: html`${
      change
        ? changeButtons(context, call, change, made?.undone?.includes(change.path))
        : made?.moved && !made.undone?.length
          ? undoButton(context, call.id, made.moved.to)
          : nothing
    }${
      state?.outputId && !state.background
        ? html`<vscode-button appearance="secondary" class="small" data-testid="open-output"
            title="Open all of the output in an editor"
            @click=${() => context.post({ type: 'open-output', toolCallId: call.id })}>Open Output</vscode-button>`
        : nothing
    }`,
    below: html`
      ${standing.status === 'asking' ? asking(context, call.id, state) : nothing}
      ${state?.asked ? answered(context, state, place) : nothing}
      ${standing.status === 'running' && state?.output ? output(state.output) : nothing}
      ${standing.status === 'running' && state?.command ? goOnButton(context, call.id) : nothing}
      ${state?.background ? inBackground(context, call.id, state, standing) : nothing}`,
    details: () => details(context, place, call, state, result),
  });
}

function aboutOf(call: ToolCall, state: CallState | undefined): string {
  const [first, ...others] = state?.asked ?? [];
  if (first) return others.length > 0 ? `${others.length + 1} questions` : first.question;
  return mainArgument(call.arguments) || call.malformed || '';
}

function changeButtons(context: PanelContext, call: ToolCall, change: KeptChange, undone = false): TemplateResult {
  const callId = call.id;
  const { path, kind } = change;
  const name = visibleLine(path);
  const what = kind ? mainArgument(call.arguments) || path : path; // a folder, for all that was in it
  const undo = undone ? nothing : undoButton(context, callId, what);
  if (kind) return html`${undo}`; // it was deleted as it was on disk: no text to compare
  return html`${undo}<vscode-button appearance="secondary" class="small" data-testid="open-diff" title=${`Show what changed in ${name}`}
      @click=${() => context.post({ type: 'open-diff', toolCallId: callId })}>Diff</vscode-button>`;
}

function undoButton(context: PanelContext, callId: string, path: string): TemplateResult {
  const title = `Undo this change of ${visibleLine(path)}`;
  return html`<vscode-button appearance="icon" data-testid="undo" title=${title} aria-label=${title}
    @click=${() => context.post({ type: 'undo', toolCallIds: [callId] })}>${icons.undo}</vscode-button>`;
}

/** A call that the model is still writing. */
export function draftCard(context: PanelContext, draft: CallDraft, place: string): TemplateResult {
  const length = draft.argumentsText.length;
  return frame(context, {
    place,
    id: '',
    tool: draft.name || '…',
    about: mainArgumentSoFar(draft.argumentsText),
    standing: {
      status: 'writing',
      icon: working,
      words: length > 400 ? `Writing, ${length.toLocaleString()} characters` : 'Writing',
    },
    beside: nothing,
    below: nothing,
    details: () =>
      html`<pre class="field">${longText(context, `${place}:draft`, visible(draft.argumentsText), 4000)}</pre>`,
  });
}

const working = html`<vscode-progress-ring class="ring" aria-hidden="true"></vscode-progress-ring>`;

function standingOf(
  context: PanelContext,
  run: Run,
  call: ToolCall,
  state: CallState | undefined,
  result: ToolResult | undefined,
): Standing {
  if (state?.asked && (state.answer || state.ok === false || run.phase !== 'Running')) {
    const words = state.answer ? 'You answered' : 'Not answered';
    const icon = state.answer ? icons.check : icons.skipped;
    return { status: 'done', ok: state.answer !== undefined, icon, words };
  }
  const { now } = context;
  const allowed = decisionWords(state);
  if (state?.decision === 'deny') {
    const words = visibleLine(state.automatic ?? 'Denied').replace(/\.$/, '');
    return { status: 'done', ok: false, icon: icons.skipped, words, title: state.automatic };
  }
  if (state?.background) return standingInBackground(context, state);
  if (state?.status === 'done' || result) {
    const ok = state?.ok ?? result?.error === undefined;
    const code = state?.code ?? result?.error;
    const time = state?.ms === undefined ? '' : duration(state.ms);
    const undone = state?.undone?.length ? 'Undone' : '';
    if (ok) return { status: 'done', ok, icon: icons.check, words: undone || allowed, time, title: state?.automatic };
    if (state?.stillRunning?.length)
      return {
        status: 'done',
        ok,
        icon: icons.close,
        words: 'Interrupted, went on',
        title: `Still at work after the editor’s end: ${state.stillRunning.map(visibleLine).join(', ')}`,
      };
    const words =
      code === 'TOOL_INTERRUPTED'
        ? 'Interrupted'
        : code === 'TOOL_NOT_RUN'
          ? 'Not run'
          : `Failed${code ? `: ${visibleLine(code)}` : ''}`;
    return { status: 'done', ok, icon: icons.close, words, time };
  }
  if (run.phase !== 'Running') {
    const begun = state?.startedAt !== undefined;
    return { status: 'skipped', icon: icons.skipped, words: begun ? 'Interrupted' : 'Did not run' };
  }
  switch (state?.status) {
    case 'asking':
      return { status: 'asking', icon: icons.question, words: 'Waiting for your answer' };
    case 'running': {
      const elapsed = now - (state.startedAt ?? now);
      return { status: 'running', icon: working, words: elapsed < 1000 ? 'Running' : `Running, ${duration(elapsed)}` };
    }
    case 'allowed':
      return { status: 'allowed', icon: working, words: allowed || 'Allowed' };
    default:
      return call.malformed
        ? { status: 'waiting', icon: icons.skipped, words: 'Not understood' }
        : { status: 'waiting', icon: icons.ring, words: 'Waits its turn' };
  }
}

function decisionWords(state: CallState | undefined): string {
  if (state?.decision === 'allow-run') return 'Allowed for this run';
  if (state?.edited) return 'Allowed as changed';
  if (state?.decision !== 'allow') return '';
  return state.automatic ? visibleLine(state.automatic).replace(/\.$/, '') : 'Allowed';
}

interface Frame {
  place: string;
  id: string;
  tool: string;
  about: string;
  standing: Standing;
  beside: TemplateResult | typeof nothing;
  below: TemplateResult | typeof nothing;
  details(): TemplateResult;
}

function frame(
  context: PanelContext,
  { place, id, tool, about, standing, beside, below, details }: Frame,
): TemplateResult {
  const open = context.opened.cards.has(place);
  const toggle = () => {
    if (!context.opened.cards.delete(place)) context.opened.cards.add(place);
    context.refresh();
  };
  const told = [standing.words || standing.title, standing.time].filter(Boolean).join(' · ');
  const line = visibleLine(about.length > 500 ? `${about.slice(0, 500)}…` : about);
  return html`<div class="card" role="group" data-call=${id} data-tool=${visibleLine(tool)} data-status=${standing.status}
      data-ok=${standing.ok ?? nothing} data-mark=${standing.mark ?? nothing} aria-label=${`Tool call ${visibleLine(tool)}`}>
    <div class="card-head">
      <button class="card-toggle" aria-expanded=${open} title=${[line, told].filter(Boolean).join('\n')} @click=${toggle}>
        <span class="twistie">${icons.chevron}</span>
        <span class="card-icon">${standing.icon}</span>
        <span class="card-tool">${tool === askTool ? 'Question' : visibleLine(tool)}</span>
        <span class="card-about"><bdi>${line}</bdi></span>
        <span class="card-words" title=${standing.title ? visibleLine(standing.title) : told}><span>${standing.words}${
          standing.time ? html`<span class="wide-only">${standing.words && ' · '}${standing.time}</span>` : nothing
        }</span></span>
      </button>
      ${beside}
    </div>
    ${below}
    ${open ? html`<div class="card-details">${details()}</div>` : nothing}
  </div>`;
}

function asking(context: PanelContext, callId: string, state: CallState | undefined): TemplateResult {
  return html`<div class="card-question">
    <span>${state?.question ? visibleLine(state.question.why) : nothing}</span>
    <span class="card-answers">
      <vscode-button class="small" data-testid="show-question"
        @click=${() => context.post({ type: 'show-question', toolCallId: callId })}>Answer…</vscode-button>
      <vscode-button class="small" appearance="secondary" data-testid="deny-with-words"
        @click=${() => context.post({ type: 'deny-with-words', toolCallId: callId })}>Deny With Words…</vscode-button>
    </span>
  </div>`;
}

/** Laid out from its end (see panel.css), so that it follows the newest line by itself. */
const output = (text: string): TemplateResult =>
  html`<div class="output" tabindex="0" role="group" aria-label="Output so far"><pre>${visibleOutput(text)}</pre></div>`;

function details(
  context: PanelContext,
  place: string,
  call: ToolCall,
  state: CallState | undefined,
  result: ToolResult | undefined,
): TemplateResult {
  const parts = [
    ...(call.malformed === undefined
      ? remembered(call, () => sections(call.arguments, 'Arguments'))
      : [{ label: 'Arguments, as they came', text: visible(call.malformed) }]),
    ...(result ? remembered(result, () => outcomeSections(result)) : []),
    ...(!result && state?.output ? [{ label: 'Output', text: visibleOutput(state.output) }] : []),
  ];
  return html`
    ${state?.automatic ? html`<p class="quiet">Not asked: ${visibleLine(state.automatic)}</p>` : nothing}
    ${parts.map(
      (part, index) => html`<div class="field-label">${part.label}</div>
        <pre class="field" tabindex="0">${longText(context, `${place}:${index}`, part.text, 4000)}</pre>`,
    )}
    ${pictures(result?.attachments)}`;
}

function outcomeSections(result: ToolResult): Section[] {
  const outcome = parseOutcome(result.content);
  if (!outcome) return [{ label: 'Outcome', text: visible(result.content) }];
  if (outcome.ok) return sections(outcome.data, 'Outcome');
  const { code, message, details } = outcome.error;
  const failure = { label: `Failed: ${visibleLine(code)}`, text: visible(message) };
  return details === undefined ? [failure] : [failure, ...sections(details, 'More')];
}

function parseOutcome(content: string): ToolOutcome | undefined {
  try {
    const value = JSON.parse(content) as ToolOutcome;
    if (value.ok === true) return value;
    return typeof value.error?.message === 'string' && typeof value.error.code === 'string' ? value : undefined;
  } catch {
    return undefined; // told in words, not as an outcome
  }
}

/** Arguments and outcomes never change, and turning large ones into text at every drawing would be felt. */
const texts = new WeakMap<object, Section[]>();
function remembered(key: object, make: () => Section[]): Section[] {
  const found = texts.get(key) ?? make();
  texts.set(key, found);
  return found;
}
