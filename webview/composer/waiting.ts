import { html, nothing, type TemplateResult } from 'lit-html';
import type { Run, Waiting } from '../../src/protocol/run.ts';
import { visibleProse } from '../../src/protocol/visible.ts';
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

const words = { turn: 'Said at the next turn', done: 'Said when it is done', now: 'Said now' };

/** A message that waits: when it is given, and what can be done about it until then. */
export function waitingMessage(
  context: PanelContext,
  run: Run,
  { text, queued, when }: Waiting,
  { pictures, edit }: { pictures: TemplateResult | typeof nothing; edit(queued: number): void },
): TemplateResult {
  const where = { runId: run.id, queued };
  const other = when === 'done' ? 'turn' : 'done';
  const rests = run.phase !== 'Running';
  const button = (id: string, label: string, title: string, act: () => void) =>
    html`<vscode-button class="small" appearance="secondary" data-testid=${id} title=${title} @click=${act}>${label}</vscode-button>`;
  return html`<article class="user queued" data-role="queued">${pictures}<div class="user-text">${visibleProse(text)}</div>
    <span class="quiet">${rests && when !== 'done' ? 'Said when this run goes on' : words[when]}</span>
    <span class="phase-ways">
      ${button('waiting-now', 'Now', rests ? 'Go on with this' : 'Stop what is at work, and say it', () => context.post({ type: 'change-waiting', ...where, when: 'now' }))}
      ${
        rests
          ? nothing
          : button('waiting-when', other === 'done' ? 'When Done' : 'Next Turn', words[other], () =>
              context.post({ type: 'change-waiting', ...where, when: other }),
            )
      }
      ${button('waiting-edit', 'Edit', 'Change it in the message box', () => edit(queued))}
      ${button('waiting-remove', 'Remove', 'Take it back', () => context.post({ type: 'take-back', ...where }))}
    </span></article>`;
}
