import { savedView, saveView } from '../host.ts';
import { Pages } from './virtualPages.ts';

/** How near to the end still counts as being there, in pixels. */
const near = 32;

/** A place of the transcript, and how far below the top of the view it begins, in pixels. */
interface Goal {
  place: number;
  below: number;
}

/** Follows the end of the transcript while the person is there, and leaves them alone when they are not. */
export class Scroll {
  following = true;
  readonly pages: Pages;
  private readonly refresh: () => void;
  /** Where to go at the next drawing. */
  private goal: Goal | undefined;
  private top = 0;
  /** Where `settle` has left it. */
  private placed = 0;
  private saving: ReturnType<typeof setTimeout> | undefined;
  /** What the person reads. */
  private held: Goal | undefined;
  private holding = false;

  constructor(refresh: () => void) {
    this.refresh = refresh;
    this.pages = new Pages(refresh);
  }

  /** Where the person was when this run was last seen; a run that was not seen is shown from its end. */
  open(runId: string): void {
    const saved = savedView();
    this.following = saved.runId !== runId || saved.reading === undefined;
    if (saved.runId === runId && saved.reading) this.goTo(saved.reading);
    else {
      this.pages.want(undefined);
      saveView({ runId, reading: undefined });
    }
  }

  /** Every place of the run has another number from the next drawing on: so many more. */
  move(by: number): void {
    const element = scroller();
    const reading = this.following || !element ? undefined : this.reading(element);
    if (reading) this.goTo({ ...reading, place: reading.place + by });
  }

  /** Only scrolling back leaves the end; a transcript that grew past the view does not. */
  readonly onScroll = (): void => {
    const element = scroller();
    if (!element) return;
    const atEnd = isAtEnd(element);
    const following = atEnd || (this.following && element.scrollTop >= this.top);
    this.top = element.scrollTop;
    if (element.scrollTop !== this.placed) this.hold(element);
    clearTimeout(this.saving);
    this.saving = setTimeout(() => saveView({ reading: this.following ? undefined : this.reading(element) }), 200);
    if (following === this.following) return;
    this.following = following;
    this.refresh();
  };

  /** Looked at once a frame: pages that are drawn around it scroll, too, and a picture may come right after. */
  private hold(element: HTMLElement): void {
    if (this.holding) return;
    this.holding = true;
    requestAnimationFrame(() => {
      this.holding = false;
      this.held = this.following ? undefined : this.reading(element);
    });
  }

  /** A picture has come and takes its room. The browser holds what is read while a person scrolls, but not after a jump. */
  readonly onGrown = (): void => {
    if (this.held) this.goTo(this.held);
    if (this.held || this.following) this.refresh();
  };

  readonly toEnd = (): void => {
    this.following = true;
    this.held = undefined;
    this.refresh();
  };

  /** Shows a place of the transcript, and stays there. */
  toPlace(place: number): void {
    this.goTo({ place, below: near });
    this.refresh();
  }

  /** Scrolls no further than is needed to see what is there, in the window's pixels. */
  intoView({ top, bottom }: { top: number; bottom: number }): void {
    const element = scroller();
    const view = element?.getBoundingClientRect();
    if (!element || !view) return;
    if (top < view.top + near) element.scrollTop -= view.top + near - top;
    else if (bottom > view.bottom - near) element.scrollTop += bottom - view.bottom + view.height / 2;
  }

  /** So many pixels further down. */
  by(pixels: number): void {
    const element = scroller();
    if (element) element.scrollTop += pixels;
  }

  /** After each drawing. */
  settle(): void {
    const element = scroller();
    if (!element) return;
    this.pages.settle(element);
    const target = this.goal && this.pages.elementOf(this.goal.place);
    if (this.goal && target) {
      element.scrollTop += target.getBoundingClientRect().top - element.getBoundingClientRect().top - this.goal.below;
      this.held = this.goal;
      this.placed = element.scrollTop;
      if (isAtEnd(element)) this.toEnd(); // no scrolling may come of it that would say so
    } else if (this.following && !element.querySelector('.welcome')) element.scrollTop = element.scrollHeight; // that is read from its beginning
    this.goal = undefined;
  }

  private goTo(goal: Goal): void {
    this.following = false;
    this.goal = goal;
    this.pages.want(goal.place);
  }

  private reading(element: HTMLElement): Goal | undefined {
    const { top } = element.getBoundingClientRect();
    const place = this.pages.placeAt(top);
    if (place === undefined) return undefined;
    return { place, below: Math.round(this.pages.elementOf(place)!.getBoundingClientRect().top - top) };
  }
}

const scroller = (): HTMLElement | null => document.querySelector('.scroller');

const isAtEnd = ({ scrollHeight, scrollTop, clientHeight }: HTMLElement): boolean =>
  scrollHeight - scrollTop - clientHeight < near;
