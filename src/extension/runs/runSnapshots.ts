import { setImmediate } from 'node:timers/promises';
import { editorClosedError } from '../../engine/core/abortReason.ts';
import { splitRunSnapshot } from '../../protocol/panel/runParts.ts';
import type { Run } from '../../protocol/run/run.ts';
import { message } from '../../protocol/text/l10n.ts';
import { toErrorInfo } from '../../protocol/text/localized.ts';
import { runLockedMessage } from '../../runs/lock.ts';
import type { ChatView } from '../view/chatView.ts';

/** Snapshots of runs for the panel. A long run is posted in parts, so that the extension host can do other work in between. */
export class PanelRunSnapshots {
  private newest = 0;

  constructor(
    private readonly view: Pick<ChatView, 'post'>,
    private readonly live: (runId: string) => Run | undefined,
  ) {}

  supersede(): void {
    this.newest += 1;
  }

  /** Resolves to false if a newer snapshot has superseded this snapshot. */
  async post(run: Run | null): Promise<boolean> {
    this.supersede();
    const number = this.newest;
    const { parts, rest } = run ? splitRunSnapshot(run) : { parts: [], rest: run };
    for (const part of parts) {
      this.view.post({ type: 'run-part', ...part });
      if (run === this.live(part.runId)) continue; // a running run changes in between
      await setImmediate();
      if (number !== this.newest) return false;
    }
    const before = parts.reduce((sum, { messages }) => sum + messages.length, 0);
    this.view.post({ type: 'run', run: rest, ...(before > 0 && { before }) });
    return true;
  }

  postEnd(run: Run): void {
    this.view.post({ type: 'run', run, part: 'end' });
  }
}

/** Returns a stored run as displayed without a loop in this window: another window works on it, or the editor closed. */
export function toRestingRun(run: Run, isElsewhere: boolean): Run {
  if (run.phase !== 'Running') return run;
  const error = isElsewhere ? { code: 'STORE_LOCKED', ...toErrorInfo(message(runLockedMessage)) } : editorClosedError();
  return { ...run, phase: 'WaitingUser', error };
}
