// @invariant panel-draws-the-visible: The cost of a frame or a key depends on the visible part of the transcript, never on the length of
// the run.
import { nothing, render } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';

/** Messages per page, rendered together. */
const pageSize = 20;
/** Pages per chapter for layout and observation, so that a change in one page does not affect all. */
const chapterSize = 25;
/** Assumed page height in pixels before measurement. */
const guessedHeight = 2000;

/**
 * Conversation of any length with only the visible region rendered; other pages are empty boxes of their last height. Scroll anchoring of
 * the browser holds the reading position. A page with the focus or a selection stays rendered. The cost depends on rendered pages, not on
 * all pages.
 */
export class VirtualPages {
  readonly element = document.createElement('div');
  private readonly pages: HTMLElement[] = [];
  private readonly near = new Set<number>();
  private readonly nearChapters = new Set<Element>();
  private readonly drawn = new Set<number>();
  /** Page to render regardless of its position. */
  private wanted: number | undefined;
  private key = '';
  private places = 0;
  private height: number | undefined;
  private observer: IntersectionObserver | undefined;
  private readonly refresh: () => void;

  constructor(refresh: () => void) {
    this.refresh = refresh;
    this.element.className = 'pages';
  }

  /** Renders `count` messages of the run `key`. `forget` receives the index of each message that is no longer rendered. */
  show(key: string, count: number, draw: (place: number) => unknown, forget: (place: number) => void): void {
    if (key !== this.key) this.clear(forget);
    this.key = key;
    this.places = count;
    const last = Math.ceil(count / pageSize) - 1;
    while (this.pages.length <= last) this.add();
    while (this.pages.length > last + 1) this.drop(forget);
    const wanted = [...new Set([...this.near, last, ...(this.wanted === undefined ? [] : [this.wanted])])];
    const kept = wanted.filter((page) => page >= 0 && page <= last);
    for (const page of this.drawn) if (!kept.includes(page) && !isHeld(this.pages[page]!)) this.empty(page, forget);
    for (const page of kept) this.drawn.add(page);
    for (const page of this.drawn) {
      const element = this.pages[page]!;
      render(
        repeat(placesOf(page, count), (place) => place, draw),
        element,
      );
      element.style.height = '';
    }
  }

  settle(root: HTMLElement): void {
    this.observer ??= this.watch(root);
    if (this.height !== undefined || this.pages.length === this.drawn.size) return;
    const whole = [...this.drawn].filter((page) => page < this.pages.length - 1);
    if (whole.length === 0) return;
    const heights = whole.map((page) => this.pages[page]!.offsetHeight);
    this.height = heights.reduce((sum, one) => sum + one, 0) / heights.length;
    this.pages.forEach((element, page) => {
      if (!this.drawn.has(page)) element.style.height = `${this.height}px`;
    });
  }

  want(place: number | undefined): void {
    this.wanted = place === undefined ? undefined : Math.floor(place / pageSize);
  }

  get count(): number {
    return this.pages.length;
  }

  isDrawn(page: number): boolean {
    return this.drawn.has(page);
  }

  elementOfPage(page: number): HTMLElement | undefined {
    return this.pages[page];
  }

  placesOf(page: number): number[] {
    return placesOf(page, this.places);
  }

  /** Element of a message, else its page. */
  elementOf(place: number): HTMLElement | undefined {
    const page = this.pages[Math.floor(place / pageSize)];
    return page?.querySelector<HTMLElement>(`[data-message="${place}"]`) ?? page;
  }

  /** Index of the message at a vertical position; the first of the page if unrendered. */
  placeAt(top: number): number | undefined {
    const seen = [...this.drawn].sort((one, other) => one - other);
    const page = seen.find((one) => this.pages[one]!.getBoundingClientRect().bottom > top);
    if (page === undefined) return undefined;
    const entries = [...this.pages[page]!.querySelectorAll<HTMLElement>('[data-message]')];
    const entry = entries.find((one) => one.getBoundingClientRect().bottom > top);
    return entry ? Number(entry.dataset.message) : page * pageSize;
  }

  private watch(root: HTMLElement): IntersectionObserver {
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) {
          const page = (target as HTMLElement).dataset.page;
          if (page === undefined) this.turn(observer, target, isIntersecting);
          else if (isIntersecting) this.near.add(Number(page));
          else this.near.delete(Number(page));
        }
        this.refresh();
      },
      { root, rootMargin: '100% 0px' },
    );
    for (const chapter of this.element.children) observer.observe(chapter);
    return observer;
  }

  private turn(observer: IntersectionObserver, chapter: Element, isNear: boolean): void {
    if (isNear) this.nearChapters.add(chapter);
    else this.nearChapters.delete(chapter);
    for (const element of chapter.children) {
      if (isNear) observer.observe(element);
      else {
        observer.unobserve(element);
        this.near.delete(Number((element as HTMLElement).dataset.page));
      }
    }
  }

  private add(): void {
    const element = document.createElement('div');
    element.className = 'page';
    element.dataset.page = `${this.pages.length}`;
    element.style.height = `${this.height ?? guessedHeight}px`;
    if (this.pages.length % chapterSize === 0) {
      const chapter = this.element.appendChild(document.createElement('div'));
      this.observer?.observe(chapter);
    }
    this.pages.push(element);
    const chapter = this.element.lastElementChild!;
    chapter.append(element);
    if (this.nearChapters.has(chapter)) this.observer?.observe(element);
  }

  private empty(page: number, forget: (place: number) => void): void {
    const element = this.pages[page]!;
    const { height } = element.getBoundingClientRect();
    render(nothing, element);
    element.style.height = `${height}px`;
    this.drawn.delete(page);
    for (let place = page * pageSize; place < (page + 1) * pageSize; place++) forget(place);
  }

  private drop(forget: (place: number) => void): void {
    const page = this.pages.length - 1;
    if (this.drawn.has(page)) this.empty(page, forget);
    this.near.delete(page);
    const element = this.pages.pop()!;
    this.observer?.unobserve(element);
    element.remove();
    if (this.pages.length % chapterSize !== 0) return;
    const chapter = this.element.lastElementChild!;
    this.observer?.unobserve(chapter);
    this.nearChapters.delete(chapter);
    chapter.remove();
  }

  private clear(forget: (place: number) => void): void {
    while (this.pages.length > 0) this.drop(forget);
    this.height = undefined;
  }
}

function placesOf(page: number, count: number): number[] {
  const first = page * pageSize;
  return Array.from({ length: Math.min(pageSize, count - first) }, (_, at) => first + at);
}

/** Focus or selection would be lost by emptying the page. */
function isHeld(element: HTMLElement): boolean {
  if (element.contains(document.activeElement)) return true;
  const selection = document.getSelection();
  return selection !== null && !selection.isCollapsed && selection.containsNode(element, true);
}
