import { pendingApprovalIds } from '../src/protocol/run/pending.ts';
import type { Run } from '../src/protocol/run/run.ts';
import { postToHost } from './host.ts';

/** Run and event number for which the host knows that the user is active. */
let reported = '';

/**
 * Reports clicks and keys while the displayed run has calls that need an approval since an earlier window. Until then no approval dialog
 * opens by itself, because a reloaded window may be unattended.
 */
export function reportActivity(shown: () => Run | null): void {
  const act = ({ isTrusted }: Event) => {
    const run = shown();
    if (!isTrusted || !run || run.phase === 'Running' || pendingApprovalIds(run).length === 0) return;
    const key = `${run.id} ${run.seq}`;
    if (reported === key) return;
    reported = key;
    postToHost({ type: 'active', runId: run.id });
  };
  for (const type of ['pointerdown', 'keydown']) window.addEventListener(type, act, { capture: true, passive: true });
}
