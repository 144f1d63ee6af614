import { html, nothing, type TemplateResult } from 'lit-html';
import type { CommandEnd } from '../../src/protocol/events.ts';
import { type CallState, endWords, hasDied } from '../../src/protocol/run.ts';
import { visibleLine } from '../../src/protocol/visible.ts';
import { commandWays, isAtWork } from '../composer/commands.ts';
import type { PanelContext } from '../context.ts';
import { icons } from '../icons.ts';
import { ago } from '../time.ts';
import type { Standing } from './standing.ts';

/** A call whose command goes on after it, or has ended since. */
export function standingInBackground(context: PanelContext, { background, ended, startedAt }: CallState): Standing {
  if (ended) return standingAtEnd(ended);
  if (!isAtWork(context, background!.id))
    return { status: 'done', icon: icons.skipped, words: 'Its window was closed' };
  const age = ago(startedAt ?? context.now, context.now);
  return { status: 'going', icon: icons.ringDot, words: age === 'now' ? 'At work' : `At work · ${age}` };
}

function standingAtEnd(end: CommandEnd): Standing {
  const words = endWords(end);
  const left = end.stillRunning?.length ? `. Still at work: ${end.stillRunning.map(visibleLine).join(', ')}` : '';
  return { status: 'done', words: words[0]!.toUpperCase() + words.slice(1) + left, ...markOf(end) };
}

/** It said 0; it said something else; it was killed; somebody wanted its end. */
function markOf(end: CommandEnd): Pick<Standing, 'icon' | 'ok' | 'mark'> {
  if (end.by === 'itself' && end.exitCode === 0) return { icon: icons.check, ok: true };
  if (end.by === 'itself' && !end.signal) return { icon: icons.dot, mark: 'warning' };
  return hasDied(end) ? { icon: icons.close, ok: false } : { icon: icons.skipped };
}

/** How it stands, in words that do not go where there is little room, and what one can do with it. */
export function inBackground(
  context: PanelContext,
  callId: string,
  { background, command, ended }: CallState,
  { status, words }: Standing,
): TemplateResult {
  const name = visibleLine(command?.line ?? '');
  const kept = ended?.outputId ? outputLink(context, callId, name) : nothing;
  const ways = status === 'going' ? commandWays(context, background!.id, name) : kept;
  return html`<div class="card-ways"><span class="card-standing quiet">${words}</span>${ways}</div>`;
}

const outputLink = (context: PanelContext, callId: string, name: string): TemplateResult =>
  html`<button class="link" data-testid="open-output" title=${`Show what ${name} printed`} aria-label=${`Output of ${name}`}
    @click=${() => context.post({ type: 'open-output', toolCallId: callId })}>Output</button>`;

export const goOnButton = (context: PanelContext, callId: string): TemplateResult =>
  html`<div class="card-ways"><vscode-button class="small" appearance="secondary" data-testid="let-go-on"
    title="The command goes on in the background, and the answer goes on without it"
    @click=${() => context.post({ type: 'let-go-on', toolCallId: callId })}>Go On While It Runs</vscode-button></div>`;
