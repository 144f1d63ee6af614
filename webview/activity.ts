import { openApprovals } from '../src/protocol/run/pending.ts';
import type { Run } from '../src/protocol/run/run.ts';
import { post } from './host.ts';

/** The run, at its newest event, whose host knows that the user is active. */
let reported = '';

/**
 * Reports clicks and keys while the shown run has calls that need an approval since an earlier window: until then no dialog about them
 * opens by itself, because a window that was only reloaded may have nobody in front of it.
 */
export function reportActivity(shown: () => Run | null): void {
  const act = ({ isTrusted }: Event) => {
    const run = shown();
    if (!isTrusted || !run || run.phase === 'Running' || openApprovals(run).length === 0) return;
    const key = `${run.id} ${run.seq}`;
    if (reported === key) return;
    reported = key;
    post({ type: 'active', runId: run.id });
  };
  for (const type of ['pointerdown', 'keydown']) window.addEventListener(type, act, { capture: true, passive: true });
}
