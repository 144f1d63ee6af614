import { createHash, timingSafeEqual } from 'node:crypto';
import { raceWithAbort } from '../../../protocol/values/abort.ts';

/** Open way back: `uri` is the address to which the sign-in page sends the browser; `expired` aborts when the way closes by itself. */
export interface OpenRedirect {
  uri: string;
  expired?: AbortSignal;
  close(): void;
}

/** Way back from the browser: the editor's own addresses, or a port of this machine. */
export interface RedirectWay {
  open(redirects: PendingRedirects): Promise<OpenRedirect>;
}

interface Pending {
  digest: Buffer;
  resolve(parameters: URLSearchParams): void;
}

/**
 * Sign-ins of this window that wait for an answer, each known by its state only. A state is compared in constant time, and is valid once.
 *
 * @invariant sign-in-state-once: An answer of a sign-in page counts only if a sign-in of this window waits for its state, and only once.
 */
export class PendingRedirects {
  private readonly pending = new Set<Pending>();

  /** Waits for the answer with this state. Rejects with the reason of the signal. */
  async wait(state: string, signal: AbortSignal): Promise<URLSearchParams> {
    let entry: Pending | undefined;
    const answered = new Promise<URLSearchParams>((resolve) => {
      entry = { digest: digestOf(state), resolve };
      this.pending.add(entry);
    });
    try {
      return await raceWithAbort(answered, signal);
    } finally {
      this.pending.delete(entry!);
    }
  }

  /** Hands over an answer. Returns false, and ignores it, if no sign-in waits for its state. */
  deliver(parameters: URLSearchParams): boolean {
    const states = parameters.getAll('state');
    const digest = digestOf(states[0] ?? '');
    let found: Pending | undefined;
    for (const one of this.pending) if (timingSafeEqual(one.digest, digest)) found = one; // without an early end
    if (!found || states.length !== 1) return false;
    this.pending.delete(found);
    found.resolve(parameters);
    return true;
  }
}

const digestOf = (state: string): Buffer => createHash('sha256').update(state).digest();
