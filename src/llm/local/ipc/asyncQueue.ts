/** Queue between a producer and an async iterator. A failure overtakes queued values. */
export class Queue<Value> implements AsyncIterable<Value> {
  private readonly values: Value[] = [];
  private state: { open: true } | { open: false; error?: unknown; failed: boolean } = { open: true };
  private wake?: () => void;

  push(value: Value): void {
    if (!this.state.open) return;
    this.values.push(value);
    this.wake?.();
  }

  end(): void {
    if (this.state.open) this.state = { open: false, failed: false };
    this.wake?.();
  }

  fail(error: unknown): void {
    if (!this.state.open) return;
    this.state = { open: false, failed: true, error };
    this.values.length = 0;
    this.wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Value, void, void> {
    for (;;) {
      if (!this.state.open && this.state.failed) throw this.state.error;
      if (this.values.length > 0) yield this.values.shift()!;
      else if (!this.state.open) return;
      else
        await new Promise<void>((wake) => {
          this.wake = wake;
        });
    }
  }
}
