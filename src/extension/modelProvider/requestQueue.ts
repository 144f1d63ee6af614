import { t } from '../../protocol/text/l10n.ts';
import type { LocalizableText } from '../../protocol/text/localized.ts';
import { raceWithAbort } from '../../protocol/values/abort.ts';

interface OpenAsk {
  who: LocalizableText;
  model: string;
  since: number;
  waits: boolean;
  stop(): void;
}

interface Entering {
  who: LocalizableText;
  model: string;
  local: boolean;
  stop(): void;
}

/** Maximum requests per requester and in total, so that a looping requester does not block others. */
const [maxOfOne, maxInAll] = [4, 12];

export class TooManyIncomingRequests extends Error {
  override readonly name = 'TooManyAsks';
}

/**
 * Queue of external requests in order of arrival. Local models answer requests one by one, so a run of Towpath waits for at most one
 * external answer.
 */
export class IncomingModelRequestQueue {
  private readonly open: (Entering & OpenAsk & { admit(): void })[] = [];

  constructor(
    private readonly changed: () => void,
    private readonly now: () => number = Date.now,
  ) {}

  get all(): readonly OpenAsk[] {
    return this.open;
  }

  /**
   * Resolves when the request may start; the returned function ends the request. Throws `TooManyAsks`; rejects with the signal's reason.
   */
  async enter(entering: Entering, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.open.filter(({ who }) => who === entering.who).length >= maxOfOne)
      throw new TooManyIncomingRequests(
        t('{0} already has {1} requests in progress. Wait for an answer.', entering.who, maxOfOne),
      );
    if (this.open.length >= maxInAll)
      throw new TooManyIncomingRequests(
        t("Towpath's models are already in use {0} times. Wait for an answer.", maxInAll),
      );
    let admit = () => {};
    const admitted = new Promise<void>((resolve) => {
      admit = resolve;
    });
    const ask = { ...entering, since: this.now(), waits: true, admit };
    const leave = () => {
      const at = this.open.indexOf(ask);
      if (at < 0) return;
      this.open.splice(at, 1);
      this.admitNext();
    };
    this.open.push(ask);
    this.admitNext();
    try {
      await raceWithAbort(admitted, signal);
      signal.throwIfAborted();
      return leave;
    } catch (error) {
      leave();
      throw error;
    }
  }

  private admitNext(): void {
    const firstLocal = this.open.find(({ local }) => local);
    for (const ask of this.open) {
      if (!ask.waits || (ask.local && ask !== firstLocal)) continue;
      ask.waits = false;
      ask.admit();
    }
    this.changed();
  }
}
