import { html, nothing, type TemplateResult } from 'lit-html';
import type { QueuedMessage, Run } from '../../src/protocol/run/run.ts';
import { escapeInvisibleProse } from '../../src/protocol/text/escapeInvisible.ts';
import { localizedCount, t } from '../../src/protocol/text/l10n.ts';
import type { PanelContext } from '../context.ts';
import { icons } from '../icons.ts';
import { longTextView } from '../longText.ts';
import { messageImagesView } from './attachedImages.ts';
import { editQueuedMessage } from './composer.ts';
import { messageMentionsView } from './mentions.ts';
import type { StatusStripItem } from './statusStripPart.ts';

export function queuedMessagesStripItem(context: PanelContext): StatusStripItem | undefined {
  const { run } = context.model;
  if (!run || run.queued.length === 0) return undefined;
  return {
    list: 'waiting',
    icon: icons.history,
    count: `${run.queued.length}`,
    noun: t('queued'),
    says: t('{0} queued', localizedCount(run.queued.length, 'message')),
    rows: () => run.queued.map((one) => waitingMessage(context, run, one)),
  };
}

const words = { turn: 'Sent at the next step', done: 'Sent when finished', now: 'Sent now' } as const;

function waitingMessage(
  context: PanelContext,
  run: Run,
  { text, attachments, queued, when }: QueuedMessage,
): TemplateResult {
  const where = { runId: run.id, queued };
  const other = when === 'done' ? 'turn' : 'done';
  const rests = run.phase !== 'Running';
  const button = (id: string, label: string, title: string, act: () => void) =>
    html`<vscode-button class="small" appearance="secondary" data-testid=${id} title=${title} @click=${act}>${label}</vscode-button>`;
  return html`<article class="user queued" data-role="queued">${messageImagesView(attachments)}${messageMentionsView(context, attachments)}<div class="user-text">${longTextView(context, `${queued}:waiting`, escapeInvisibleProse(text), 2000)}</div>
    <span class="quiet">${t(rests && when !== 'done' ? 'Sent when this run continues' : words[when])}</span>
    <span class="phase-ways">
      ${button('waiting-now', t('Send Now'), t(rests ? 'Continue with this' : 'Stop and Send'), () => context.post({ type: 'change-waiting', ...where, when: 'now' }))}
      ${
        rests
          ? nothing
          : button('waiting-when', t(other === 'done' ? 'When Finished' : 'Next Step'), t(words[other]), () =>
              context.post({ type: 'change-waiting', ...where, when: other }),
            )
      }
      ${button('waiting-edit', t('Edit'), t('Edit in the message box'), () => editQueuedMessage(context, queued))}
      ${button('waiting-remove', t('Remove'), t('Undo it'), () => context.post({ type: 'take-back', ...where }))}
    </span></article>`;
}
