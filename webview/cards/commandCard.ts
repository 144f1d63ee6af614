import { html, nothing, type TemplateResult } from 'lit-html';
import type { ToolCallKey } from '../../src/protocol/content/callKey.ts';
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
