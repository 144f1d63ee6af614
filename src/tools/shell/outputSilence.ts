/** Milliseconds of silence after which a command has said what it has to say first, and how long that is waited for at most. */
const silence = 1000;
const longest = 10_000;

/** Runs something once after so many milliseconds; the result takes that back. */
export type After = (ms: number, run: () => void) => () => void;

/** `settled` resolves when something was heard and then nothing for a second, or after ten seconds. */
export class Quiet {
  readonly settled: Promise<'quiet'>;
  private settle = () => {};
  private cancelSilence?: () => void;
  private readonly cancelLongest: () => void;
  private over = false;

  constructor(private readonly after: After = realTime) {
    this.settled = new Promise((resolve) => {
      this.settle = () => resolve('quiet');
    });
    this.cancelLongest = after(longest, this.settle);
  }

  readonly heard = (): void => {
    this.cancelSilence?.();
    if (!this.over) this.cancelSilence = this.after(silence, this.settle);
  };

  /** It is not waited for any more. */
  end(): void {
    this.over = true;
    this.cancelSilence?.();
    this.cancelLongest();
  }
}

const realTime: After = (ms, run) => {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
};
