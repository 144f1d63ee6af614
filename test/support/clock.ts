/** A clock that stands until it is told to go on. */
export class StillClock {
  private now = 0;
  private timers: { at: number; run: () => void }[] = [];

  /** As `After` of `src/tools/shell/outputSilence.ts`. */
  readonly after = (ms: number, run: () => void): (() => void) => {
    const timer = { at: this.now + ms, run };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((one) => one !== timer);
    };
  };

  /** How many wait. */
  get waiting(): number {
    return this.timers.length;
  }

  pass(ms: number): void {
    this.now += ms;
    const due = this.timers.filter(({ at }) => at <= this.now);
    this.timers = this.timers.filter(({ at }) => at > this.now);
    for (const { run } of due) run();
  }
}
