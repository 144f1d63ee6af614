import * as vscode from 'vscode';
import type { Run } from '../../protocol/run.ts';
import { proseLine, shortened } from '../../protocol/visible.ts';
import { withoutLinks } from '../dialogs/questionText.ts';
import type { RunNow } from './runStates.ts';

interface Parts {
  panelInView(): boolean;
  read(runId: string): Promise<Run>;
  /** Brings the panel into view, and the run in it. */
  show(runId: string): Promise<void>;
}

/** Says once that a run has ended which nobody saw end, with its last words. While the panel is in view, its list and badge say it. */
export async function tellEnd({ runId, state, title }: RunNow, { panelInView, read, show }: Parts): Promise<void> {
  if (panelInView()) return;
  const { error, messages } = await read(runId);
  const words = proseLine(error?.message ?? messages.findLast(({ role }) => role === 'assistant')?.content ?? '');
  const how = `“${shortened(proseLine(title), 60)}” ${state === 'failed' ? 'failed' : 'has ended'}`;
  const text = words === '' ? `${how}.` : `${how}: ${shortened(words, 200)}`;
  const chosen =
    state === 'failed'
      ? await vscode.window.showWarningMessage(withoutLinks(text), 'Show')
      : await vscode.window.showInformationMessage(withoutLinks(text), 'Show');
  if (chosen) await show(runId);
}
