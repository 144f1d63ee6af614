import { html, nothing, type TemplateResult } from 'lit-html';
import type { Mention, MentionRecord } from '../../src/protocol/content/mention.ts';
import { estimateBase64Tokens, maxMentions, mentionTextOf } from '../../src/protocol/content/mentionText.ts';
import type { Attachment } from '../../src/protocol/content/messages.ts';
import type { HostMessage } from '../../src/protocol/panel/panelMessages.ts';
import { isUnreadMention, mentionNoteOfFormerText } from '../../src/protocol/run/formerText.ts';
import { escapeInvisibleInLine } from '../../src/protocol/text/escapeInvisible.ts';
import { t } from '../../src/protocol/text/l10n.ts';
import { localize } from '../../src/protocol/text/localized.ts';
import type { PanelContext } from '../context.ts';
import { type PickedMention, savedWebviewState, saveWebviewState } from '../host.ts';
import { icons } from '../icons.ts';
import { pathView } from '../pathView.ts';
import { formatCount } from '../time.ts';
import { composerDraft, focusComposer } from './draft.ts';

/** Maximum of stored mentions. Deleted mentions stay stored, because undo may restore their text. */
const maxKept = 100;

const pickedMentions = (): PickedMention[] => {
  const text = composerDraft();
  return savedWebviewState()
    .mentions.filter(({ mention }) => placeIn(text, mentionTextOf(mention)) >= 0)
    .slice(0, maxMentions);
};

export const draftMentions = (): { mentions: Mention[] } | undefined =>
  asNamed(pickedMentions().map(({ mention }) => mention));

export function draftMentionsWithSelection({
  model: { selection },
}: PanelContext): { mentions: Mention[] } | undefined {
  const all = pickedMentions().map(({ mention }) => mention);
  const goes = selection?.goes && !isSelectionNamed(selection.mention);
  return asNamed((goes ? [selection.mention, ...all] : all).slice(0, maxMentions));
}

const asNamed = (mentions: Mention[]) => (mentions.length > 0 ? { mentions } : undefined);

const isSelectionNamed = (mention: Mention): boolean =>
  isMentionInDraft(mentionTextOf(mention)) || isMentionInDraft('@selection');

export const isMentionInDraft = (word: string): boolean => placeIn(composerDraft(), word) >= 0;

export const isPickedMention = (word: string): boolean =>
  savedWebviewState().mentions.some(({ mention }) => placeIn(word, mentionTextOf(mention)) === 0);

/** Index of a standalone mention: `@src/a` does not match `@src/a.ts` or `@src/a:3`; a following full stop is not part of it. */
function placeIn(text: string, word: string): number {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const end = at + word.length;
    const [before, after] = [text.slice(Math.max(0, at - 1), at), text.slice(end, end + 3)];
    if (/^[\s([{"']?$/.test(before) && !/^([\p{L}\p{N}_/-]|[.:#][\p{L}\p{N}_])/u.test(after)) return at;
  }
  return -1;
}

export function pickMention(context: PanelContext, mention: Mention): void {
  const others = savedWebviewState().mentions.filter((one) => mentionTextOf(one.mention) !== mentionTextOf(mention));
  saveWebviewState({ mentions: [...others, { mention }].slice(-maxKept) });
  context.post({ type: 'measure-mention', mention });
}

export function clearPickedMentions(): void {
  saveWebviewState({ mentions: [], unknown: [] });
}

const unknownWords = (): string[] => {
  const text = composerDraft();
  return savedWebviewState().unknown.filter((word) => placeIn(text, word) >= 0 && !isPickedMention(word));
};

export function receiveMentionSize(
  { model: { selection } }: PanelContext,
  { type: _, mention, ...size }: Extract<HostMessage, { type: 'mention-size' }>,
): void {
  const word = mentionTextOf(mention);
  if (selection && mentionTextOf(selection.mention) === word) selection.size = size;
  const mentions = savedWebviewState().mentions.map((one) =>
    mentionTextOf(one.mention) === word ? { mention, ...size } : one,
  );
  saveWebviewState({ mentions });
}

export function mentionStrip(context: PanelContext, setDraft: (text: string) => void): TemplateResult | typeof nothing {
  const all = pickedMentions();
  const selection = selectionChip(context);
  const unknown = unknownWords();
  if (all.length + unknown.length === 0 && selection === nothing) return nothing;
  const remove = ({ mention }: PickedMention) => {
    const word = mentionTextOf(mention);
    let text = composerDraft();
    for (let at = placeIn(text, word); at >= 0; at = placeIn(text, word))
      text = `${text.slice(0, at)}${text.slice(at + word.length).replace(/^ /, '')}`;
    saveWebviewState({ mentions: savedWebviewState().mentions.filter((one) => mentionTextOf(one.mention) !== word) });
    setDraft(text);
  };
  const others = pathsOf([...all.map(({ mention }) => mention), context.model.selection?.mention]);
  return html`<ul class="mentions" data-testid="mentions" aria-label=${t('Attached to this message')}>${selection}${all.map(
    (one) => {
      const name = nameOf(one.mention);
      return html`<li class="mention ${isUnreadMention(one) ? 'unread' : ''}" title=${titleOf(name, one)}>${words(chipName(context, name, one.mention, others), one)}<button
      title=${t('Leave it out')} aria-label=${t('Leave out {0}', name)} @click=${() => remove(one)}>${icons.close}</button></li>`;
    },
  )}${unknown.map((word) => unknownChip(context, word))}</ul>`;
}

function unknownChip(context: PanelContext, word: string): TemplateResult {
  const name = escapeInvisibleInLine(word);
  const title = t('{0} was not found and is sent as text', name);
  const dismiss = () => {
    saveWebviewState({ unknown: savedWebviewState().unknown.filter((one) => one !== word) });
    context.refresh();
    focusComposer();
  };
  return html`<li class="mention unknown" data-testid="unknown-mention" title=${title}>${icons.warning}<span class="mention-name">${name}</span><span
      class="mention-note">${t('not found')}</span><button title=${t('Dismiss')} aria-label=${t('Dismiss “{0}”', name)} @click=${dismiss}>${icons.close}</button></li>`;
}

/** Chip of the editor selection. The choice of the user also applies to later selections. */
function selectionChip(context: PanelContext): TemplateResult | typeof nothing {
  const { selection } = context.model;
  if (!selection || isSelectionNamed(selection.mention)) return nothing;
  const { mention, goes, size = {} } = selection;
  const name = nameOf(mention);
  const turn = () => {
    context.post({ type: 'selection-goes', goes: !goes });
    focusComposer();
  };
  const says = goes
    ? t('Leave out {0}, and what you select later', name)
    : t('Include {0}, and later selections', name);
  const title = goes ? titleOf(name, size) : t('{0} is selected, and not included in the message', name);
  const shown = chipName(context, name, mention, pathsOf(pickedMentions().map((one) => one.mention)));
  return html`<li class="mention ${goes ? '' : 'off'} ${isUnreadMention(size) ? 'unread' : ''}" data-testid="selection" title=${title}>${
    goes ? words(shown, size) : html`<span class="mention-name">${shown}</span>`
  }<button title=${says} aria-label=${says} @click=${turn}>${goes ? icons.close : icons.add}</button></li>`;
}

export function messageMentionsView(
  context: PanelContext,
  attachments: readonly Attachment[] = [],
): TemplateResult | typeof nothing {
  const files = attachments.filter(({ mention }) => mention);
  if (files.length === 0) return nothing;
  const others = pathsOf(files.map(({ mention }) => mention));
  return html`<ul class="mentions" aria-label=${t('Attached to this message')}>${files.map(
    ({ name, data, mediaType, mention }) => {
      const shown = escapeInvisibleInLine(name ?? '');
      const called = chipName(context, shown, mention!, others);
      const size = { ...mention!, ...(mediaType.startsWith('text/') && { tokens: estimateBase64Tokens(data) }) };
      return html`<li class="mention ${isUnreadMention(size) ? 'unread' : ''}" title=${titleOf(shown, size)}>${
        opens(mention!)
          ? html`<button class="mention-open" @click=${() => context.post({ type: 'open-file', path: mention!.path!, ...(mention!.line && { line: mention!.line }) })}><span class="for-screen-readers">${t('Open')} </span>${words(called, size)}</button>`
          : words(called, size)
      }</li>`;
    },
  )}</ul>`;
}

const opens = (mention: MentionRecord): boolean =>
  mention.path !== undefined && mention.kind !== 'folder' && !isUnreadMention(mention);

type Size = Omit<PickedMention, 'mention'>;

const noteText = ({ note, noteSaid }: Size): string =>
  note ? localize(noteSaid ?? mentionNoteOfFormerText(note)) : '';

function words(name: string | TemplateResult, size: Size): TemplateResult {
  const { tokens } = size;
  const note = noteText(size);
  const much = tokens === undefined || isUnreadMention(size) ? '' : formatCount(Math.round(tokens));
  const rest = note ? `${much ? '· ' : ''}${escapeInvisibleInLine(note)}` : '';
  return html`${isUnreadMention(size) ? icons.warning : nothing}<span class="mention-name">${name}</span>${
    much
      ? html`<span class="mention-size"><span aria-hidden="true">${much}</span><span class="for-screen-readers"> ${t('about {0} tokens', much)}</span></span>`
      : nothing
  }${rest ? html`<span class="mention-note">${rest}</span>` : nothing}`;
}

const nameOf = (mention: Mention): string =>
  escapeInvisibleInLine(`${mentionTextOf(mention).slice(1)}${mention.kind === 'folder' ? '/' : ''}`);

/** File name without folders, unless needed to distinguish names. */
function chipName(
  context: PanelContext,
  name: string,
  mention: { kind: Mention['kind']; path?: string | undefined },
  others: readonly string[],
): string | TemplateResult {
  const { kind, path } = mention;
  if (path === undefined || kind === 'test') return name;
  const what = kind === 'problem' || kind === 'change' ? `${t(kind)} ` : '';
  const whole = name.replace(/^(problem:|change:|change of )/, '');
  const isAmbiguous = others.some((other) => other !== path && lastOf(other) === lastOf(path));
  if (!isAmbiguous && !context.model.state?.workspace.several) return `${what}${lastOf(whole)}`;
  return html`${what}${pathView(whole)}`;
}

const lastOf = (path: string): string => path.slice(path.lastIndexOf('/', path.length - 2) + 1);

const pathsOf = (mentions: readonly (object | undefined)[]): string[] =>
  mentions.flatMap((mention) => (mention && 'path' in mention && typeof mention.path === 'string' ? mention.path : []));

function titleOf(name: string, mention: Size): string {
  const { tokens, why, whySaid } = mention;
  const size =
    tokens === undefined || isUnreadMention(mention) ? '' : t('about {0} tokens', formatCount(Math.round(tokens)));
  const says = [name, size, noteText(mention)].filter(Boolean).join(', ');
  return escapeInvisibleInLine([says, ...(why ? [localize(whySaid ?? mentionNoteOfFormerText(why))] : [])].join('. '));
}
