import type { QueuedMessage, Run } from '../../src/protocol/run/run.ts';
import type { PanelContext } from '../context.ts';
import { focusComposer } from './draft.ts';

let editing: { runId: string; queued: number; before: string } | undefined;

export function editedIn(run: Run | null): QueuedMessage | undefined {
  if (!editing || editing.runId !== run?.id) return undefined;
  return run.queued.find(({ queued }) => queued === editing!.queued);
}

export function beginEdit({ model: { run } }: PanelContext, queued: number, setDraft: (text: string) => string): void {
  const one = run?.queued.find((waiting) => waiting.queued === queued);
  if (!run || !one) return;
  editing = { runId: run.id, queued, before: setDraft(one.text) };
  focusComposer();
}

export function endEdit(): string {
  const before = editing?.before ?? '';
  editing = undefined;
  return before;
}
