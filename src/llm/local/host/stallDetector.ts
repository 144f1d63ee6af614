/** Detector of a process that answers without progress: counts answers with an unchanged state. */
export class Standstill {
  private at: unknown;
  answers = 0;

  hear(at: unknown): void {
    this.answers = at === this.at ? this.answers + 1 : 0;
    this.at = at;
  }

  begin(): void {
    this.answers = 0;
  }
}
