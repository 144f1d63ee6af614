import { pathsToUndo, type Run } from '../../src/protocol/run/run.ts';
import type { PanelContext } from '../context.ts';
import type { TranscriptScroll } from './scroll.ts';

/** Navigation targets: messages, or cards of changes and failures. */
interface Stops {
  in(part: ParentNode): HTMLElement[];
  mayBe(run: Run, place: number): boolean;
}

const messages: Stops = {
  in: (part) => [...part.querySelectorAll<HTMLElement>('article')],
  mayBe: () => true,
};

const changesAndFailures: Stops = {
  in: (part) =>
    [...part.querySelectorAll<HTMLElement>('.card')]
      .filter((card) => card.dataset.ok === 'false' || card.querySelector('[data-testid="undo"]'))
      .flatMap((card) => card.querySelector<HTMLElement>('button, vscode-button, [tabindex="0"]') ?? []),
  mayBe({ messages, calls }, place) {
    const message = messages[place];
    const asked = message?.role === 'assistant' ? (message.toolCalls ?? []) : [];
    return asked.some(({ id }) => calls[id] && (calls[id].ok === false || pathsToUndo(calls[id]).length > 0));
  },
};

/** Target of the navigation, until it is rendered. */
let going: { stops: Stops; step: 1 | -1; page: number } | undefined;

/**
 * Handles Alt+↑ and Alt+↓: from message to message, with Shift from change or failure to the next. Returns true if handled. Targets in
 * unrendered pages are rendered first.
 */
export function navigateMessages(context: PanelContext, scroll: TranscriptScroll, event: KeyboardEvent): boolean {
  const step = ({ ArrowUp: -1, ArrowDown: 1 } as const)[event.key];
  if (!event.altKey || event.ctrlKey || event.metaKey || step === undefined) return false;
  const stops = event.shiftKey ? changesAndFailures : messages;
  const here = document.activeElement!;
  const transcript = document.querySelector('.transcript')!;
  going = undefined;
  const last = { stops, step, page: scroll.pages.count };
  if (!transcript.contains(here)) {
    if (step < 0 && !reach(outside(stops).at(-1))) goOn(context, scroll, last);
    return true;
  }
  const page = here.closest<HTMLElement>('.page');
  const near = page ? stops.in(page) : outside(stops);
  if (reach(next(near, here, step))) return true;
  if (page) goOn(context, scroll, { stops, step, page: Number(page.dataset.page) });
  else if (step < 0) goOn(context, scroll, last);
  return true;
}

export function continueMessageNavigation(context: PanelContext, scroll: TranscriptScroll): void {
  if (!going) return;
  const { stops, step, page } = going;
  going = undefined;
  const element = scroll.pages.elementOfPage(page); // another run may be displayed by now
  if (!element || reach(stops.in(element).at(step > 0 ? 0 : -1))) return;
  goOn(context, scroll, { stops, step, page });
}

function goOn(context: PanelContext, { pages }: TranscriptScroll, from: NonNullable<typeof going>): void {
  const { run } = context.model;
  const { stops, step } = from;
  for (let page = from.page + step; run && page >= 0 && page < pages.count; page += step) {
    if (pages.isDrawn(page)) {
      if (reach(stops.in(pages.elementOfPage(page)!).at(step > 0 ? 0 : -1))) return;
    } else if (pages.placesOf(page).some((place) => stops.mayBe(run, place))) {
      going = { stops, step, page };
      pages.want(pages.placesOf(page)[0]);
      context.refresh();
      return;
    }
  }
  if (step > 0) reach(outside(stops)[0]);
}

const outside = (stops: Stops): HTMLElement[] =>
  stops.in(document.querySelector('.transcript')!).filter((one) => !one.closest('.page'));

function next(all: HTMLElement[], here: Element, step: 1 | -1): HTMLElement | undefined {
  const inside = all.findIndex((one) => one === here || one.contains(here));
  if (inside >= 0) return all[inside + step];
  const isAfter = (one: Element) => here.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING;
  return step > 0 ? all.find(isAfter) : all.findLast((one) => !isAfter(one));
}

function reach(stop: HTMLElement | undefined): boolean {
  if (!stop) return false;
  stop.focus({ preventScroll: true });
  const view = document.querySelector('.scroller')!.clientHeight;
  stop.scrollIntoView({ block: stop.offsetHeight > view ? 'start' : 'nearest' });
  return true;
}
