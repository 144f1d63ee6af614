import * as vscode from 'vscode';
import type { ExecutionEngine } from '../../engine/run/engine.ts';
import type { ErrorInfo } from '../../protocol/content/messages.ts';
import type { RunSummary } from '../../protocol/run/summary.ts';
import { t } from '../../protocol/text/l10n.ts';
import { localizedErrorText } from '../../protocol/text/localized.ts';
import type { RunStore } from '../../runs/store.ts';
import type { PanelConversation } from './conversation.ts';
import { pickRun } from './pickRun.ts';
import type { RunStates } from './runStates.ts';

interface Dependencies {
  engine: ExecutionEngine;
  store: RunStore;
  conversation: PanelConversation;
  states: RunStates;
  changed(): void;
}

export class RunTitles {
  constructor(private readonly parts: Dependencies) {}

  async rename(runId?: string): Promise<void> {
    const run = await this.chosen(runId, t('Towpath: rename a run'));
    if (!run) return;
    const typed = await vscode.window.showInputBox({
      title: t('Towpath: rename a run'),
      prompt: t('Title of the run. Nothing else changes your title. Empty: from its first message.'),
      value: run.title,
      validateInput: (text) => (text.length > longest ? t('At most {0} characters.', longest) : undefined),
      ignoreFocusOut: true,
    });
    if (typed === undefined || typed === run.title) return;
    const title = typed.replace(/\s+/g, ' ').trim();
    const failure = await this.parts.engine.rename(run.id, title);
    if (!failure) this.parts.states.renamed(run.id, title || run.title);
    this.reportFailure(failure);
  }

  async pin(runId?: string, pinned?: boolean): Promise<void> {
    const run = await this.chosen(runId, t('Towpath: pin or unpin a run'));
    if (run) this.reportFailure(await this.parts.engine.pin(run.id, pinned ?? !run.pinned));
  }

  private async chosen(runId: string | undefined, title: string): Promise<RunSummary | undefined> {
    const { store, states } = this.parts;
    if (runId === undefined) return (await pickRun(store, states, title))?.run;
    return (await store.list()).find(({ id }) => id === runId);
  }

  private reportFailure(failure: ErrorInfo | undefined): void {
    if (failure) this.parts.conversation.notice({ level: 'error', text: localizedErrorText(failure) });
    this.parts.changed();
  }
}

const longest = 200;
