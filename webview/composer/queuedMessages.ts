import type { Run, Waiting } from '../../src/protocol/run/run.ts';
import type { PanelContext } from '../context.ts';
import { focusComposer } from './draft.ts';

/** What is being changed in the message box, and what stood there before. */
let editing: { runId: string; queued: number; before: string } | undefined;

/** What the message box has now is for this. Undefined: it is given already, or nothing is being changed. */
export function editedIn(run: Run | null): Waiting | undefined {
  if (!editing || editing.runId !== run?.id) return undefined;
  return run.queued.find(({ queued }) => queued === editing!.queued);
}

export function beginEdit({ model: { run } }: PanelContext, queued: number, setDraft: (text: string) => string): void {
  const one = run?.queued.find((waiting) => waiting.queued === queued);
  if (!run || !one) return;
  editing = { runId: run.id, queued, before: setDraft(one.text) };
  focusComposer();
}

/** Gives what stood in the message box before. */
export function endEdit(): string {
  const before = editing?.before ?? '';
  editing = undefined;
  return before;
}
