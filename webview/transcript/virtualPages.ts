import { nothing, render } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';

/** So many places are drawn together, or not at all. */
const pageSize = 20;
/** So many pages are laid out and watched together, so that a line more in one of them is no work for all. */
const chapterSize = 25;
/** In pixels, until pages of the run have been measured. */
const guessedHeight = 2000;

/**
 * A conversation of any length, of which only what is near the person's eyes is drawn: an empty box stands for the rest, as high
 * as it was. The browser itself holds the reading position when one of them turns into the other (scroll anchoring). A page that holds
 * the focus or a selection stays. What a drawing costs depends on what is drawn, not on how many pages there are.
 */
export class Pages {
  readonly element = document.createElement('div');
  private readonly pages: HTMLElement[] = [];
  private readonly near = new Set<number>();
  private readonly nearChapters = new Set<Element>();
  private readonly drawn = new Set<number>();
  /** One that is to be drawn wherever it is. */
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

  /** Draws `count` places of what has this key. `forget` hears of each place that is drawn no more. */
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

  /** After each drawing, with what scrolls it. */
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

  /** The page of a place is drawn from the next drawing on, until another is asked for. */
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

  /** What is drawn of a place: what has its `data-message`, else its page. */
  elementOf(place: number): HTMLElement | undefined {
    const page = this.pages[Math.floor(place / pageSize)];
    return page?.querySelector<HTMLElement>(`[data-message="${place}"]`) ?? page;
  }

  /** The place at a height of the window; the first of its page, where nothing of it is drawn. */
  placeAt(top: number): number | undefined {
    const seen = [...this.drawn].sort((one, other) => one - other);
    const page = seen.find((one) => this.pages[one]!.getBoundingClientRect().bottom > top);
    if (page === undefined) return undefined;
    const entries = [...this.pages[page]!.querySelectorAll<HTMLElement>('[data-message]')];
    const entry = entries.find((one) => one.getBoundingClientRect().bottom > top);
    return entry ? Number(entry.dataset.message) : page * pageSize;
  }

  /** Chapters are watched, and the pages of those that are near. */
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

/** The person is at it: emptied, their focus or what they selected would be gone. */
function isHeld(element: HTMLElement): boolean {
  if (element.contains(document.activeElement)) return true;
  const selection = document.getSelection();
  return selection !== null && !selection.isCollapsed && selection.containsNode(element, true);
}
