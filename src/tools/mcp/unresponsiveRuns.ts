import type { Client } from '@modelcontextprotocol/client';

// Milliseconds for a sign of life after a call ran out of time.
const patience = 3000;

/** Runs in which a server gave no sign of life, so that it is not waited for again in these runs. */
export class UnresponsiveRuns {
  private readonly runs = new Set<string>();

  get isEmpty(): boolean {
    return this.runs.size === 0;
  }

  has(runId: string | undefined): boolean {
    return runId !== undefined && this.runs.has(runId);
  }

  /** Asks the server for a sign of life after a call ran out of time. Returns whether it gave none. */
  async add(runId: string, client: Client): Promise<boolean> {
    const options = { timeout: patience, signal: AbortSignal.timeout(patience) };
    const asked = client.getProtocolEra() === 'modern' ? client.discover(options) : client.ping(options);
    // Any answer is a sign of life, an error too.
    const isSilent = await asked.then(
      () => false,
      () => options.signal.aborted,
    );
    if (isSilent) this.runs.add(runId);
    return isSilent;
  }

  clear(): void {
    this.runs.clear();
  }
}
