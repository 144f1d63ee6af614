import { savedView, saveView } from '../host.ts';

/** How near to the end still counts as being there, in pixels. */
const near = 32;

/** Follows the end of the transcript while the person is there, and leaves them alone when they are not. */
export class Scroll {
  following = true;
  private readonly refresh: () => void;
  /** Where to go at the next drawing. */
  private wanted: number | undefined;
  private top = 0;
  private saving: ReturnType<typeof setTimeout> | undefined;

  constructor(refresh: () => void) {
    this.refresh = refresh;
  }

  /** Where the person was when this run was last seen; a run that was not seen is shown from its end. */
  open(runId: string): void {
    const saved = savedView();
    this.following = saved.runId === runId ? saved.following : true;
    this.wanted = this.following ? undefined : saved.scrollTop;
    saveView({ runId, following: this.following });
  }

  /** Only scrolling back leaves the end; a transcript that grew past the view does not. */
  readonly onScroll = (): void => {
    const element = scroller();
    if (!element) return;
    const atEnd = element.scrollHeight - element.scrollTop - element.clientHeight < near;
    const following = atEnd || (this.following && element.scrollTop >= this.top);
    this.top = element.scrollTop;
    clearTimeout(this.saving);
    this.saving = setTimeout(() => saveView({ following: this.following, scrollTop: this.top }), 200);
    if (following === this.following) return;
    this.following = following;
    this.refresh();
  };

  readonly toEnd = (): void => {
    this.following = true;
    this.refresh();
  };

  /** After each drawing. */
  settle(): void {
    const element = scroller();
    if (!element) return;
    if (this.wanted !== undefined) element.scrollTop = this.wanted;
    else if (this.following) element.scrollTop = element.scrollHeight;
    this.wanted = undefined;
  }
}

const scroller = (): HTMLElement | null => document.querySelector('.scroller');
