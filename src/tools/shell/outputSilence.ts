// Milliseconds of silence after the first output, and maximum wait.
const silence = 1000;
const longest = 10_000;

/** Timer: runs once after a number of milliseconds; returns a function to cancel. */
export type DelayScheduler = (ms: number, run: () => void) => () => void;

/** Detector of silence: `settled` resolves after output followed by one second of silence, or after ten seconds. */
export class OutputSilenceDetector {
  readonly settled: Promise<'quiet'>;
  private settle = () => {};
  private cancelSilence?: () => void;
  private readonly cancelLongest: () => void;
  private over = false;

  constructor(private readonly after: DelayScheduler = realTime) {
    this.settled = new Promise((resolve) => {
      this.settle = () => resolve('quiet');
    });
    this.cancelLongest = after(longest, this.settle);
  }

  readonly onOutput = (): void => {
    this.cancelSilence?.();
    if (!this.over) this.cancelSilence = this.after(silence, this.settle);
  };

  end(): void {
    this.over = true;
    this.cancelSilence?.();
    this.cancelLongest();
  }
}

const realTime: DelayScheduler = (ms, run) => {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
};
