import { raceWithAbort } from '../../protocol/values/abort.ts';

/** Milliseconds for a slow machine to show a dialog. */
const comingUpMs = 3000;

/**
 * Owner of the right to show a dialog; only one dialog is shown at a time. A desktop may lose a dialog without a result, so nothing waits
 * for a dialog: the owner can abandon the dialog and ignore a late result.
 */
export class DialogLock {
  private now?: AbortController;
  private dialog?: Promise<unknown>;
  private since = 0;
  private lost = 0;

  /**
   * @param found called when the last abandoned dialog has ended
   * @param clock monotonic, in milliseconds
   */
  constructor(
    private readonly found: () => void,
    private readonly clock = () => performance.now(),
  ) {}

  get isTaken(): boolean {
    return this.now !== undefined;
  }

  /** A very recent dialog may not be visible yet: a repeated request is intentional. */
  get isComingUp(): boolean {
    return this.dialog !== undefined && this.clock() - this.since < comingUpMs;
  }

  /** An abandoned dialog still exists: the editor would queue others behind the lost dialog. */
  get isBlocked(): boolean {
    return this.lost > 0;
  }

  /** Replaces the current owner. `over` aborts when this owner is replaced in turn. */
  async take(ask: (over: AbortSignal) => Promise<void>): Promise<void> {
    this.giveUp();
    const own = new AbortController();
    this.now = own;
    try {
      await ask(own.signal);
    } catch (error) {
      if (!own.signal.aborted) throw error;
    } finally {
      if (this.now === own) this.now = undefined;
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

  /** Returns the result of a dialog; rejects if abandoned or not shown. */
  async ended<Button>(shown: Thenable<Button>, over: AbortSignal): Promise<Button> {
    const dialog = Promise.resolve(shown);
    over.throwIfAborted();
    this.dialog = dialog;
    this.since = this.clock();
    try {
      return await raceWithAbort(dialog, over);
    } finally {
      if (this.dialog === dialog) this.dialog = undefined;
    }
  }
}
