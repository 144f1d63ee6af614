import { html, nothing, type TemplateResult } from 'lit-html';
import type { Run } from '../src/protocol/run/run.ts';
import { t } from '../src/protocol/text/l10n.ts';
import { focusComposer } from './composer/draft.ts';
import type { PanelContext } from './context.ts';
import { icons } from './icons.ts';
import { findInMessages, type MessageSearchHit } from './transcript/findInRun.ts';
import type { TranscriptScroll } from './transcript/scroll.ts';
import { openFoldsAtMessage } from './transcript/transcript.ts';

const maxMarked = 500;

let looking:
  | { query: string; found: (MessageSearchHit & { drawnAt?: number })[]; at: number; run: Run | null; messages: number }
  | undefined;
/** True while opening the find box was the user's newest action. */
let newest = false;
let openedAt = Number.NEGATIVE_INFINITY;
/** Milliseconds within which an earlier command may still move the focus between editor and page. */
const settlingMs = 1000;
/** The target message is not rendered yet. */
let going = false;

/** Find box for the whole run. The browser's find would search only the rendered part. */
export function findBar(context: PanelContext, scroll: TranscriptScroll): TemplateResult | typeof nothing {
  if (!looking) return nothing;
  refind(context);
  const { query, found, at } = looking;
  const count = query === '' ? '' : found.length === 0 ? t('None') : t('{0} of {1}', at + 1, found.length);
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && !event.isComposing) goOn(context, scroll, event.shiftKey ? -1 : 1);
    else if (event.key === 'Escape') closeFind(context);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const search = ({ target }: Event) => look(context, scroll, (target as HTMLInputElement).value);
  const button = (name: string, icon: TemplateResult, act: () => void, disabled = false) =>
    html`<vscode-button appearance="icon" title=${name} aria-label=${name} ?disabled=${disabled} @click=${act}>${icon}</vscode-button>`;
  return html`<search class="find" aria-label=${t('Find in this run')} @keydown=${onKey}>
    <input type="text" class="find-words" data-testid="find" maxlength="200" placeholder=${t('Find in this run')} aria-label=${t('Find in this run')}
      .value=${query} @input=${search}>
    <span class="find-count quiet" role="status">${count}</span>
    ${button(t('Previous matching message'), icons.up, () => goOn(context, scroll, -1), found.length === 0)}
    ${button(t('Next matching message'), icons.down, () => goOn(context, scroll, 1), found.length === 0)}
    ${button(t('Close'), icons.close, () => closeFind(context))}
  </search>`;
}

/** Handles Ctrl+F in the panel and keeps the key from the editor. */
export function onFindKey(context: PanelContext, event: KeyboardEvent): void {
  const isFind =
    (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'f';
  if (!isFind || !context.model.run) return;
  event.preventDefault();
  event.stopPropagation();
  const chosen = document.getSelection()?.toString().trim().split('\n', 1)[0] ?? '';
  looking ??= { query: '', found: [], at: 0, run: null, messages: 0 };
  if (chosen) looking = { ...looking, query: chosen.slice(0, 200), run: null };
  context.refresh();
  newest = true;
  openedAt = performance.now();
  context.drawNow(); // the next key belongs to the box
  focusFind();
}

const focusFind = (): void => document.querySelector<HTMLInputElement>('.find-words')?.select();

/**
 * Tells whether the find box keeps the focus when the host moves the focus to the message box for an earlier command or unrequested.
 *
 * @param gently the user did not request the message box
 */
export function keepFindBoxFocus(gently: boolean): boolean {
  const box = document.querySelector<HTMLElement>('.find-words');
  if (!looking || !box || !(newest || (gently && document.activeElement === box))) return false;
  if (!document.hasFocus()) window.focus();
  box.focus();
  return true;
}

/** Notices clicks, other shortcuts and focus changes, after which focus requests of the host apply. */
export function trackFindFocus(): void {
  const elsewhere = () => {
    newest = false;
  };
  window.addEventListener('keydown', ({ key, ctrlKey, metaKey, altKey }) => {
    const isShortcut = ctrlKey || metaKey || altKey || /^F\d+$/.test(key);
    if (isShortcut && !['Control', 'Meta', 'Alt', 'AltGraph'].includes(key)) elsewhere();
  }, { capture: true }); // biome-ignore format: short
  window.addEventListener('pointerdown', elsewhere, { capture: true });
  window.addEventListener('blur', () => performance.now() - openedAt > settlingMs && elsewhere());
}

function closeFind(context: PanelContext): void {
  closeFindBar();
  context.refresh();
  focusComposer();
}

export function closeFindBar(): void {
  looking = undefined;
  newest = false;
  CSS.highlights.delete(highlightName);
}

/** Highlights matches after each rendering and scrolls to the first. */
export function highlightFindMatches(scroll: TranscriptScroll): void {
  const hit = looking?.found[looking.at];
  if (!looking || !hit) return void CSS.highlights.delete(highlightName);
  const message = scroll.pages.elementOf(hit.drawnAt ?? hit.place);
  const ranges = message ? rangesOf(message, looking.query.toLowerCase()) : [];
  CSS.highlights.set(highlightName, new Highlight(...ranges));
  if (!going) return;
  going = false;
  if (ranges[0]) scroll.intoView(ranges[0].getBoundingClientRect());
}

const highlightName = 'found';

function look(context: PanelContext, scroll: TranscriptScroll, query: string): void {
  looking = { query, found: [], at: 0, run: null, messages: 0 };
  refind(context);
  goOn(context, scroll, 0);
}

/** Searches again when the run changes, starting near its end. */
function refind(context: PanelContext): void {
  const { run, results } = context.model;
  if (!looking || (looking.run === run && looking.messages === run?.messages.length)) return;
  const isMore = looking.run === run;
  const found = run ? findInMessages(run.messages, results, looking.query) : [];
  looking = {
    ...looking,
    found,
    at: isMore ? looking.at : Math.max(0, found.length - 1),
    run,
    messages: run?.messages.length ?? 0,
  };
}

function goOn(context: PanelContext, scroll: TranscriptScroll, step: number): void {
  if (!looking) return;
  const { found } = looking;
  if (found.length > 0) {
    looking.at = (looking.at + step + found.length) % found.length;
    const hit = found[looking.at]!;
    for (const card of hit.cards) context.opened.cards.add(card).add(`${card}:raw`);
    if (hit.thinking) context.opened.unfolded.add(`${hit.place}:thinking`);
    hit.drawnAt = hit.cards.length > 0 || hit.thinking ? openFoldsAtMessage(context, hit.place) : hit.place;
    scroll.toPlace(hit.drawnAt);
    going = true;
  }
  context.refresh();
}

function rangesOf(element: HTMLElement, wanted: string): Range[] {
  const ranges: Range[] = [];
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT, ({ parentElement }) =>
    parentElement?.closest('.for-screen-readers') ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT,
  );
  while (wanted !== '' && ranges.length < maxMarked && texts.nextNode()) {
    const node = texts.currentNode as Text;
    const text = node.data.toLowerCase();
    if (text.length !== node.data.length) continue; // lower case has another length: positions would shift
    for (
      let at = text.indexOf(wanted);
      at >= 0 && ranges.length < maxMarked;
      at = text.indexOf(wanted, at + wanted.length)
    ) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + wanted.length);
      ranges.push(range);
    }
  }
  return ranges;
}
