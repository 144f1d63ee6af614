/** Notices that someone answers and yet comes no further: counts answers that tell of nothing new. */
export class Standstill {
  private at: unknown;
  /** Answers that told the same as the one before. */
  answers = 0;

  hear(at: unknown): void {
    this.answers = at === this.at ? this.answers + 1 : 0;
    this.at = at;
  }

  begin(): void {
    this.answers = 0;
  }
}
