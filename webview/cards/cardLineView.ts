import { html, nothing, type TemplateResult } from 'lit-html';
import { escapeInvisibleInLine, withNoBreakUnits } from '../../src/protocol/text/escapeInvisible.ts';
import { t } from '../../src/protocol/text/l10n.ts';
import { shortenText } from '../../src/protocol/text/shorten.ts';
import type { PanelContext } from '../context.ts';
import { icons } from '../icons.ts';
import type { CardLine, CardStatusIcon } from './cardLine.ts';
import type { CardLink, CardTextPiece } from './cardText.ts';

const ring = html`<vscode-progress-ring class="ring" aria-hidden="true"></vscode-progress-ring>`;

export const cardStatusIcons: Record<CardStatusIcon, TemplateResult> = {
  working: ring,
  asks: icons.question,
  waits: icons.ring,
  check: icons.check,
  dot: icons.dot,
  cross: icons.close,
  none: icons.skipped,
  undone: icons.undo,
  going: icons.ringDot,
};

export function cardLineView(
  context: PanelContext,
  { verb, object, outcome, joint, time }: Omit<CardLine, 'status' | 'mark'>,
): TemplateResult {
  const words = [
    ...(verb ? [html`<span class="card-verb">${escapeInvisibleInLine(verb)}</span>`] : []),
    ...object.map((one) => piece(context, one)),
  ];
  return html`<span class="card-line">${words.map((one, index) => html`${index > 0 ? ' ' : ''}${one}`)}${
    outcome.length > 0
      ? html`${beforeOutcome(joint, outcome[0]!)}<span class="card-words">${isJoined(joint, outcome[0]!) ? html`<span class="card-joint">${joint}</span>` : nothing}${outcome.map((one, index) => html`${index > 0 ? jointOf(outcome[index - 1]!, one) : nothing}${piece(context, one)}`)}</span>`
      : nothing
  }${time ? html` <span class="card-time">${time}</span>` : nothing}</span>`;
}

const isJoined = (joint: CardLine['joint'], { tone }: CardTextPiece): boolean => joint !== ': ' && !tone;
const beforeOutcome = (joint: CardLine['joint'], first: CardTextPiece): unknown =>
  joint === ': ' ? html`<span class="card-colon">: </span>` : isJoined(joint, first) ? nothing : ' ';

const jointOf = (before: CardTextPiece, { tone }: CardTextPiece): TemplateResult =>
  html`<span class="card-joint">${tone && before.tone ? ' ' : ' · '}</span>`;

const most = 300;

function piece(context: PanelContext, { head = '', text, tail = '', code, tone, lead }: CardTextPiece): TemplateResult {
  const drawn = (part: string) => (code ? clean(part) : withNoBreakUnits(clean(part)));
  // The trailing slash stays with the tail, so that a shortened path reads `s…/name.ts`.
  const slash = tail ? (/[/\\]$/.exec(text)?.[0] ?? '') : '';
  const [before, middle, end] = [head, text.slice(0, text.length - slash.length), slash + tail].map((one) =>
    drawn(shortenText(one, most)),
  );
  const words = html`${before ? html`<span class="piece-whole">${before}</span>` : nothing}${
    middle ? html`<span class="piece-middle"><bdi>${middle}</bdi></span>` : nothing
  }${end ? html`<span class="piece-whole"><bdi>${end}</bdi></span>` : nothing}`;
  const least = Math.min(middle!.length, end ? 3 : 12); // enough for a letter and the ellipsis
  const style = `--kept: ${before!.length + end!.length + least}ch; --least: ${end ? least : 0}ch`; // set as a property: the content security policy blocks style attributes
  const name = code ? 'piece code' : 'piece';
  if (!lead)
    return html`<span class=${name} .style=${style} data-tone=${tone ?? nothing} title=${middle ? clean(head + text + tail) : nothing}>${words}</span>`;
  return html`<button class="${name} link" .style=${style} title=${titleOf(lead)} aria-label=${clean(head + text + tail)} @click=${(
    event: Event,
  ) => {
    event.stopPropagation();
    openCardLink(context, lead);
  }}>${words}</button>`;
}

/** Blanks at the ends are significant: folder and file name form one path. */
const clean = (text: string): string => escapeInvisibleInLine(text);

const titleOf = (lead: CardLink): string =>
  lead.kind === 'file'
    ? fileLinkTooltip(escapeInvisibleInLine(lead.path), lead.line)
    : fileLinkTooltip(escapeInvisibleInLine(lead.url));

export const fileLinkTooltip = (what: string, line?: number): string =>
  line ? t('Open {0} at line {1}', what, line) : t('Open {0}', what);

export function openCardLink(context: PanelContext, lead: CardLink): void {
  if (lead.kind === 'address') context.post({ type: 'open-link', url: lead.url });
  else context.post({ type: 'open-file', path: lead.path, ...(lead.line && { line: lead.line }) });
}
