/** A busy machine takes its time to draw a dialog. */
const comingUpMs = 3000;

/**
 * What has the person's attention: one thing at a time. A dialog of the desktop can be lost and never say how it ended, so
 * that nothing here waits for one: it can be given up, and what it says afterwards counts for nothing.
 */
export class DialogSlot {
  private now?: AbortController;
  private dialog?: Promise<unknown>;
  private since = 0;
  private lost = 0;

  /**
   * @param found a dialog that had been given up has ended after all, the last of them
   * @param clock monotonic, in milliseconds
   */
  constructor(
    private readonly found: () => void,
    private readonly clock = () => performance.now(),
  ) {}

  get isTaken(): boolean {
    return this.now !== undefined;
  }

  /** A dialog was asked for so short a time ago that it may still be on its way to the screen: whoever asks again means it. */
  get isComingUp(): boolean {
    return this.dialog !== undefined && this.clock() - this.since < comingUpMs;
  }

  /** A dialog was given up and has not ended: the editor would put any other behind it. */
  get isBlocked(): boolean {
    return this.lost > 0;
  }

  /** Gives up what is there. `over` says when this is given up in turn. */
  async take(ask: (over: AbortSignal) => Promise<void>): Promise<void> {
    this.giveUp();
    const mine = new AbortController();
    this.now = mine;
    try {
      await ask(mine.signal);
    } catch (error) {
      if (!mine.signal.aborted) throw error;
    } finally {
      if (this.now === mine) this.now = undefined;
    }
  }

  giveUp(): void {
    const { dialog } = this;
    this.now?.abort();
    this.now = undefined;
    this.dialog = undefined;
    if (!dialog) return;
    this.lost += 1;
    const ended = () => {
      this.lost -= 1;
      if (this.lost === 0) this.found();
    };
    dialog.then(ended, ended);
  }

  /** How a dialog ended; rejects once it is given up, and when it could not be shown. */
  async ended<Button>(shown: Thenable<Button>, over: AbortSignal): Promise<Button> {
    const dialog = Promise.resolve(shown);
    over.throwIfAborted();
    this.dialog = dialog;
    this.since = this.clock();
    const givenUp = new Promise<never>((_, reject) => {
      over.addEventListener('abort', () => reject(over.reason), { once: true });
    });
    try {
      return await Promise.race([dialog, givenUp]);
    } finally {
      if (this.dialog === dialog) this.dialog = undefined;
    }
  }
}
