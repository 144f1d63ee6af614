import { html, nothing, type TemplateResult } from 'lit-html';
import type { PanelAction } from '../../src/protocol/panel/intents.ts';
import type { PanelState, PromptSuggestion } from '../../src/protocol/panel/panelMessages.ts';
import { escapeInvisibleInLine } from '../../src/protocol/text/escapeInvisible.ts';
import { t } from '../../src/protocol/text/l10n.ts';
import { focusComposer } from '../composer/draft.ts';
import type { PanelContext } from '../context.ts';

export function welcomeView(context: PanelContext, state: PanelState): TemplateResult {
  const way = (label: string, action: PanelAction, appearance = 'secondary') =>
    html`<vscode-button appearance=${appearance} data-action=${action}
      @click=${() => context.post({ type: 'action', action })}>${label}</vscode-button>`;
  return html`<section class="welcome" data-testid="welcome">
    <h2>${t('What do you want to do?')}</h2>
    <p>${t('Towpath reads your workspace, proposes changes and runs commands. You decide what runs without approval, and you can stop it at any moment.')}</p>
    ${
      state.modelChosen
        ? offers(context)
        : html`<p>${t('Select a model to start.')}</p>
          <div class="ways">
            ${way(t('Download a model…'), 'download-model', 'primary')}
            ${way(t('Models on this machine…'), 'manage-models')}
            ${way(t('Connect to a provider'), 'use-endpoint')}
            ${way(t('Try the demo model'), 'use-demo')}
          </div>
          <p class="quiet">${t('A downloaded model runs on this machine: no account, and nothing you write leaves it. The demo model follows a script. It shows how Towpath works and is not an assistant.')}</p>`
    }
    <p><button class="link" data-action="first-steps" @click=${() => context.post({ type: 'action', action: 'first-steps' })}>${t('Get started')}</button></p>
  </section>`;
}

function offers(context: PanelContext): TemplateResult | typeof nothing {
  const all = context.model.offers ?? [];
  if (all.length === 0) return nothing;
  const say = ({ text, mentions }: PromptSuggestion) => {
    context.post({ type: 'send', text, ...(mentions.length > 0 && { mentions }) });
    focusComposer();
  };
  return html`<div class="ways" data-testid="offers" aria-label=${t('Suggestions')}>${all.map(
    (one) =>
      html`<vscode-button appearance="secondary" title=${escapeInvisibleInLine(one.text)} @click=${() => say(one)}>${escapeInvisibleInLine(one.label)}</vscode-button>`,
  )}</div>`;
}

/** Limitations of the workspace, displayed in advance. */
export function workspaceNotices(context: PanelContext, state: PanelState): TemplateResult {
  const { open, virtual, trusted } = state.workspace;
  const notice = (text: string, label: string, action: PanelAction) =>
    html`<div class="notice info" data-testid="workspace-notice">
      <span class="notice-text">${text}</span>
      <vscode-button appearance="secondary" class="small" data-action=${action}
        @click=${() => context.post({ type: 'action', action })}>${label}</vscode-button>
    </div>`;
  return html`
    ${open ? nothing : notice(t('No folder is open, so there are no files to work on.'), t('Open Folder'), 'open-folder')}
    ${
      virtual
        ? html`<div class="notice info" data-testid="workspace-notice"><span class="notice-text">${t('The folders of this window are virtual. Files can be read and searched; nothing can be changed or run.')}</span></div>`
        : nothing
    }
    ${
      trusted
        ? nothing
        : notice(
            t('This workspace is not trusted. Tools that change or run anything are off.'),
            t('Manage Trust'),
            'manage-trust',
          )
    }`;
}
