import { html, nothing, type TemplateResult } from 'lit-html';
import type { Message } from '../../src/protocol/content/messages.ts';
import type { Run } from '../../src/protocol/run/run.ts';
import { t } from '../../src/protocol/text/l10n.ts';
import { editMessage } from '../composer/composer.ts';
import { countFilesChangedAfter } from '../composer/filesAfter.ts';
import type { PanelContext } from '../context.ts';
import { icons } from '../icons.ts';

/** Inputs of the message actions, for the comparison between renderings. */
export const messageActionInputs = (context: PanelContext, run: Run, at: number): unknown[] => [
  context.model.partial,
  context.opened.acts === at,
  context.opened.acts === at ? run.seq : 0, // number of files changed since
  run.phase === 'Running',
];

/** Actions of a message, visible on hover or focus. No action rewrites the run; branches need the run at rest. */
export function messageActions(
  context: PanelContext,
  run: Run,
  at: number,
  message: Message,
): TemplateResult | typeof nothing {
  if (message.role !== 'user' && message.role !== 'assistant') return nothing;
  if (context.model.partial) return html`<div class="message-acts"></div>`; // message indexes change with the full run
  const isSilent = message.content.trim() === '';
  if (isSilent && (message.role !== 'user' || !message.attachments?.length)) return nothing;
  const place = { runId: run.id, at };
  const ofRun = context.model.task === undefined;
  const rests = run.phase !== 'Running' && !run.readOnly && ofRun;
  const isOpen = context.opened.acts === at;
  const button = (name: string, label: string, act: () => void) =>
    html`<vscode-button class="small" appearance="secondary" data-act=${name} @click=${act}>${label}</vscode-button>`;
  const post = (type: 'fork' | 'restore-files' | 'open-text') => () => {
    context.opened.acts = undefined;
    context.post({ type, ...place });
    context.refresh();
  };
  const toggle = () => {
    context.opened.acts = isOpen ? undefined : at;
    context.refresh();
  };
  const retry = (other?: true) => () => context.post({ type: 'retry-reply', ...place, ...(other && { other }) });
  const files = isOpen && message.role === 'user' ? countFilesChangedAfter(run, at) : 0;
  const isReply = message.role === 'assistant' && endsTurn(run, at, message);
  return html`<div class=${isOpen ? 'message-acts open' : 'message-acts'} role="toolbar" aria-label=${t('This message')}>
    ${isSilent ? nothing : button('copy', t('Copy'), () => context.post({ type: 'copy', text: message.content }))}
    ${message.role === 'user' && rests ? button('edit', t('Edit'), () => editMessage(context, at)) : nothing}
    ${isReply && rests ? html`${button('retry', t('Retry'), retry())}${button('retry-with', t('Retry With…'), retry(true))}` : nothing}
    ${
      isOpen
        ? html`${message.role === 'user' && rests ? button('fork', t('Fork from Here'), post('fork')) : nothing}
          ${files > 0 && rests ? button('restore', t('Restore Files to Here ({0})', files), post('restore-files')) : nothing}
          ${isSilent ? nothing : button('open-text', t('Open as Text'), post('open-text'))}`
        : nothing
    }
    ${
      ofRun
        ? html`<vscode-button class="acts-more" appearance="icon" data-act="more" title=${t(isOpen ? 'Fewer' : 'More')} aria-label=${t(isOpen ? 'Fewer actions' : 'More actions')}
      aria-expanded=${isOpen ? 'true' : 'false'} @click=${toggle}>${icons.more}</vscode-button>`
        : nothing
    }
  </div>`;
}

function endsTurn(run: Run, at: number, { toolCalls = [] }: Extract<Message, { role: 'assistant' }>): boolean {
  const next = run.messages[at + 1];
  return toolCalls.length === 0 && (next === undefined || next.role === 'user');
}
