import { html, nothing, type TemplateResult } from 'lit-html';
import type { Run } from '../../src/protocol/run/run.ts';
import { t } from '../../src/protocol/text/l10n.ts';
import type { PanelContext } from '../context.ts';
import { icons } from '../icons.ts';
import { countFilesChangedAfter } from './filesAfter.ts';

let editing: { runId: string; at: number; before: string; restore: boolean } | undefined;

export const activeMessageEdit = (run: Run | null): typeof editing =>
  editing && run && editing.runId === run.id ? editing : undefined;

export function beginMessageEdit(run: Run, at: number, before: string): void {
  editing = { runId: run.id, at, before: editing?.runId === run.id ? editing.before : before, restore: false };
}

export function endMessageEdit(): string {
  const before = editing?.before ?? '';
  editing = undefined;
  return before;
}

export function messageEditBar(context: PanelContext, leave: () => void): TemplateResult | typeof nothing {
  const { run } = context.model;
  const edited = activeMessageEdit(run);
  if (!run || !edited) return nothing;
  const files = countFilesChangedAfter(run, edited.at);
  const choose = (restore: boolean) => () => {
    edited.restore = restore;
    context.refresh();
  };
  const choice = (label: string, restore: boolean) =>
    html`<label><input type="radio" name="files" .checked=${edited.restore === restore} @change=${choose(restore)}>${label}</label>`;
  return html`<div class="saying" data-testid="saying">
    <span>${t('Editing a message. It is sent in a new branch.')}</span>
    ${
      files > 0
        ? html`<span class="saying-files" role="radiogroup" aria-label=${t('Files changed since')}
            >${t('Files:')} ${choice(t('Keep'), false)} ${choice(t('restore ({0})', files), true)}</span>`
        : nothing
    }
    <vscode-button appearance="icon" title=${t('Do not edit the message')} aria-label=${t('Do not edit the message')}
      data-testid="leave-saying"
      @click=${leave}>${icons.close}</vscode-button>
  </div>`;
}
