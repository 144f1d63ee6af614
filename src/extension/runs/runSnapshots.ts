import { setImmediate } from 'node:timers/promises';
import { closedError } from '../../engine/core/abortReason.ts';
import { splitRun } from '../../protocol/panel/runParts.ts';
import type { Run } from '../../protocol/run/run.ts';
import { message } from '../../protocol/text/l10n.ts';
import { toErrorInfo } from '../../protocol/text/localized.ts';
import { lockedMessage } from '../../runs/lock.ts';
import type { ChatView } from '../view/chatView.ts';

/** Snapshots of runs for the panel. A long run is posted in parts, between which the extension host does other work. */
export class RunSnapshots {
  /** Number of the newest snapshot: an older one is not posted to its end. */
  private newest = 0;

  constructor(
    private readonly view: Pick<ChatView, 'post'>,
    /** Returns a run at work in this window. */
    private readonly live: (runId: string) => Run | undefined,
  ) {}

  /** Gives up a snapshot that is being posted. */
  supersede(): void {
    this.newest += 1;
  }

  /** Resolves to false if another snapshot has superseded this one. */
  async post(run: Run | null): Promise<boolean> {
    this.supersede();
    const number = this.newest;
    const { parts, rest } = run ? splitRun(run) : { parts: [], rest: run };
    for (const part of parts) {
      this.view.post({ type: 'run-part', ...part });
      if (run === this.live(part.runId)) continue; // a run at work changes while others have their turn
      await setImmediate();
      if (number !== this.newest) return false;
    }
    const before = parts.reduce((sum, { messages }) => sum + messages.length, 0);
    this.view.post({ type: 'run', run: rest, ...(before > 0 && { before }) });
    return true;
  }

  /** Posts the last messages of a run whose other messages are still being read. */
  postEnd(run: Run): void {
    this.view.post({ type: 'run', run, part: 'end' });
  }
}

/** Returns a stored run as it stands if its loop is not at work here: another window is at work on it, or the editor closed meanwhile. */
export function atRest(run: Run, isElsewhere: boolean): Run {
  if (run.phase !== 'Running') return run;
  const error = isElsewhere ? { code: 'STORE_LOCKED', ...toErrorInfo(message(lockedMessage)) } : closedError();
  return { ...run, phase: 'WaitingUser', error };
}
