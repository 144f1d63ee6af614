import type { Run } from '../../src/protocol/run/run.ts';
import type { PanelContext } from '../context.ts';
import { changedFiles } from './runEnd.ts';
import type { Scroll } from './scroll.ts';

/** What one goes from and to: messages, or the cards of changes and failures. */
interface Stops {
  in(part: ParentNode): HTMLElement[];
  /** There may be one at this place of the run, of which nothing is drawn. */
  mayBe(run: Run, place: number): boolean;
}

const messages: Stops = {
  in: (part) => [...part.querySelectorAll<HTMLElement>('article')],
  mayBe: () => true,
};

/** The buttons that head their cards. */
const changesAndFailures: Stops = {
  in: (part) =>
    [...part.querySelectorAll<HTMLElement>('.card')]
      .filter((card) => card.dataset.ok === 'false' || card.querySelector('[data-testid="open-diff"]'))
      .flatMap((card) => card.querySelector<HTMLElement>('button, vscode-button, [tabindex="0"]') ?? []),
  mayBe({ messages, calls }, place) {
    const message = messages[place];
    const asked = message?.role === 'assistant' ? (message.toolCalls ?? []) : [];
    return asked.some(({ id }) => calls[id] && (calls[id].ok === false || changedFiles(calls[id]).length > 0));
  },
};

/** Where one is on the way to, until it is drawn. */
let going: { stops: Stops; step: 1 | -1; page: number } | undefined;

/**
 * Alt+↑ and Alt+↓ go from message to message, with Shift from change or failure to the next, from the message box to the newest; true:
 * it is a key of ours. Of a long run only a part is drawn: what one comes to next is drawn first.
 */
export function walk(context: PanelContext, scroll: Scroll, event: KeyboardEvent): boolean {
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

/** After each drawing: to what one is on the way to, if it is drawn now. */
export function settleWalk(context: PanelContext, scroll: Scroll): void {
  if (!going) return;
  const { stops, step, page } = going;
  going = undefined;
  const element = scroll.pages.elementOfPage(page); // not there when another run is shown since
  if (!element || reach(stops.in(element).at(step > 0 ? 0 : -1))) return;
  goOn(context, scroll, { stops, step, page });
}

function goOn(context: PanelContext, { pages }: Scroll, from: NonNullable<typeof going>): void {
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

/** What stands below the pages: words that wait, nodes of a workflow. */
const outside = (stops: Stops): HTMLElement[] =>
  stops.in(document.querySelector('.transcript')!).filter((one) => !one.closest('.page'));

/** Also from a place between two of them. */
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
