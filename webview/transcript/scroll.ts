import { savedWebviewState, saveWebviewState } from '../host.ts';
import { VirtualPages } from './virtualPages.ts';

/** Distance to the end in pixels that counts as the end. */
const near = 32;

/** Message index with its distance from the top of the view, in pixels. */
interface Goal {
  place: number;
  below: number;
}

/** Follows the end of the transcript while the user is there, and keeps the position otherwise. */
export class TranscriptScroll {
  following = true;
  readonly pages: VirtualPages;
  private readonly refresh: () => void;
  private goal: Goal | undefined;
  private top = 0;
  /** Position set by `settle`. */
  private placed = 0;
  private saving: ReturnType<typeof setTimeout> | undefined;
  private held: Goal | undefined;
  private holding = false;
  /** Position in the conversation of the run while a task is displayed in its place. */
  private outer: { reading: Goal | undefined } | undefined;

  constructor(refresh: () => void) {
    this.refresh = refresh;
    this.pages = new VirtualPages(refresh);
  }

  /** Restores the reading position of the run, else shows its end. */
  open(runId: string): void {
    if (this.outer) return;
    const saved = savedWebviewState();
    this.following = saved.runId !== runId || saved.reading === undefined;
    if (saved.runId === runId && saved.reading) this.goTo(saved.reading);
    else {
      this.pages.want(undefined);
      saveWebviewState({ runId, reading: undefined });
    }
  }

  /** Shifts all message indexes by a number at the next rendering. */
  move(by: number): void {
    if (this.outer) return;
    const element = scroller();
    const reading = this.following || !element ? undefined : this.reading(element);
    if (reading) this.goTo({ ...reading, place: reading.place + by });
  }

  /** Shows the end of a task, or the former position in the conversation of the run. Call before the rendering. */
  showTask(isShown: boolean): void {
    if (isShown === (this.outer !== undefined)) return;
    const element = scroller();
    const { reading } = this.outer ?? {};
    this.outer = isShown ? { reading: this.following || !element ? undefined : this.reading(element) } : undefined;
    this.following = true;
    this.goal = undefined;
    this.held = undefined;
    this.pages.want(undefined);
    if (reading) this.goTo(reading);
  }

  /** Only scrolling up leaves the end; growth of the transcript does not. */
  readonly onScroll = (): void => {
    const element = scroller();
    if (!element) return;
    const atEnd = isAtEnd(element);
    const following = atEnd || (this.following && element.scrollTop >= this.top);
    this.top = element.scrollTop;
    if (element.scrollTop !== this.placed) this.hold(element);
    clearTimeout(this.saving);
    this.saving = setTimeout(
      () => this.outer || saveWebviewState({ reading: this.following ? undefined : this.reading(element) }),
      200,
    );
    if (following === this.following) return;
    this.following = following;
    this.refresh();
  };

  /** Checked once per frame: rendered pages and loaded images move the content, too. */
  private hold(element: HTMLElement): void {
    if (this.holding) return;
    this.holding = true;
    requestAnimationFrame(() => {
      this.holding = false;
      this.held = this.following ? undefined : this.reading(element);
    });
  }

  /** Corrects the position after an image has loaded. Scroll anchoring works after user scrolling only, not after a jump. */
  readonly onGrown = (): void => {
    if (this.held) this.goTo(this.held);
    if (this.held || this.following) this.refresh();
  };

  readonly toEnd = (): void => {
    this.following = true;
    this.held = undefined;
    this.refresh();
  };

  toPlace(place: number): void {
    this.goTo({ place, below: near });
    this.refresh();
  }

  intoView({ top, bottom }: { top: number; bottom: number }): void {
    const element = scroller();
    const view = element?.getBoundingClientRect();
    if (!element || !view) return;
    if (top < view.top + near) element.scrollTop -= view.top + near - top;
    else if (bottom > view.bottom - near) element.scrollTop += bottom - view.bottom + view.height / 2;
  }

  by(pixels: number): void {
    const element = scroller();
    if (element) element.scrollTop += pixels;
  }

  settle(): void {
    const element = scroller();
    if (!element) return;
    this.pages.settle(element);
    const target = this.goal && this.pages.elementOf(this.goal.place);
    if (this.goal && target) {
      element.scrollTop += target.getBoundingClientRect().top - element.getBoundingClientRect().top - this.goal.below;
      this.held = this.goal;
      this.placed = element.scrollTop;
      if (isAtEnd(element)) this.toEnd(); // no scroll event may follow that reports the end
    } else if (this.following && !element.querySelector('.welcome')) element.scrollTop = element.scrollHeight; // the welcome page is read from its start
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
