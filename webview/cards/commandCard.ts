import { html, nothing, type TemplateResult } from 'lit-html';
import { isSameToolCall, type ToolCallKey } from '../../src/protocol/content/callKey.ts';
import type { CallState } from '../../src/protocol/run/run.ts';
import { escapeCommandOutput, escapeInvisibleInLine } from '../../src/protocol/text/escapeInvisible.ts';
import { t } from '../../src/protocol/text/l10n.ts';
import { shortenText } from '../../src/protocol/text/shorten.ts';
import { commandActionButtons } from '../composer/backgroundCommandsPart.ts';
import type { PanelContext } from '../context.ts';
import type { CardStatus } from './cardLine.ts';

export function backgroundCommandView(
  context: PanelContext,
  key: ToolCallKey,
  { background, command, ended }: CallState,
  status: CardStatus,
): TemplateResult | typeof nothing {
  const name = escapeInvisibleInLine(command?.line ?? '');
  if (status === 'going')
    return html`<div class="card-ways">${commandActionButtons(context, background!.id, name)}</div>`;
  return ended?.outputId ? html`<div class="card-ways">${outputLink(context, key, name)}</div>` : nothing;
}

const outputLink = (context: PanelContext, key: ToolCallKey, name: string): TemplateResult =>
  html`<button class="link" data-testid="open-output" title=${t('Show the output of {0}', name)} aria-label=${t('Output of {0}', name)}
    @click=${() => context.post({ type: 'open-output', ...key })}>${t('Output')}</button>`;

export const continueInBackgroundButton = (context: PanelContext, key: ToolCallKey): TemplateResult =>
  html`<div class="card-ways"><vscode-button class="small" appearance="secondary" data-testid="let-go-on"
    title=${t('The command continues in the background, and so does the answer')}
    @click=${() => context.post({ type: 'let-go-on', ...key })}>${t('Continue in Background')}</vscode-button></div>`;

/** Call whose prompt the user has answered: its next prompt takes the focus. */
let answered: string | undefined;

/** Input for a command that asks. The text stays in the field until it is sent, and nowhere else. */
export function commandInputView(context: PanelContext, key: ToolCallKey): TemplateResult | typeof nothing {
  const prompt = context.model.state?.prompts?.find((one) => isSameToolCall(one, key));
  if (!prompt) return nothing;
  const label = escapeInvisibleInLine(prompt.label);
  if (answered === key.toolCallId)
    requestAnimationFrame(() => document.querySelector<HTMLElement>('.card-input input')?.focus());
  answered = undefined;
  const send = (event: Event) => {
    event.preventDefault();
    const field = (event.target as Element).closest('form')!.querySelector('input')!;
    context.post({ type: 'command-input', ...key, text: field.value });
    field.value = '';
    answered = key.toolCallId;
  };
  return html`<form class="card-input" data-testid="command-input" @submit=${send}>
    <label><span>${label}</span><input type=${prompt.isSecret ? 'password' : 'text'} aria-label=${t('Input for the command: {0}', label)} autocomplete="off" spellcheck="false" maxlength="1000"></label>
    <vscode-button class="small" data-testid="send-input" @click=${send}>${t('Send')}</vscode-button>
    <vscode-button class="small" appearance="secondary" data-testid="end-input" title=${t('The command gets the end of its input')}
      @click=${() => context.post({ type: 'command-input', ...key })}>${t('End Input')}</vscode-button>
  </form>`;
}

/** Aligned at its end (see card.css), so that the view follows the newest line. */
export const commandOutputView = (text: string, label = t('Output so far')): TemplateResult =>
  html`<div class="output" tabindex="0" role="group" aria-label=${label}><pre>${escapeCommandOutput(text)}</pre></div>`;

const lastLines = 6;
const longestLine = 200;

/** Last lines of an output without empty lines and npm's own messages. */
function sayingLines(text: string): string[] {
  const lines = escapeCommandOutput(text.slice(-20_000)).split('\n');
  const said = lines.filter(
    (line) =>
      /[\p{L}\p{N}]/u.test(line) &&
      !/^npm (?:error|ERR!)\s*(?:$|Lifecycle script|Error: command failed|code ELIFECYCLE|A complete log|path |workspace |location |errno )/.test(
        line,
      ),
  );
  return said.slice(-lastLines).map((line) => shortenText(line.trimEnd(), longestLine));
}

export const lastOutputLineView = (text: string): TemplateResult | typeof nothing => {
  const lines = sayingLines(text);
  return lines.length === 0
    ? nothing
    : html`<pre class="last-words" data-testid="last-words">${lines.join('\n')}</pre>`;
};
