import { html, type TemplateResult } from 'lit-html';
import type { Message } from '../../src/protocol/content/messages.ts';
import { beginsWithPromptBlock, promptBlockField } from '../../src/protocol/content/promptBlocks.ts';
import { noteOfFormerText } from '../../src/protocol/run/formerText.ts';
import {
  escapeInvisibleInLine,
  escapeInvisibleInProseLine,
  escapeInvisibleProse,
} from '../../src/protocol/text/escapeInvisible.ts';
import { t } from '../../src/protocol/text/l10n.ts';
import type { rememberOpenState } from '../context.ts';
import { icons } from '../icons.ts';

/** Message to the model in a line; the user can open its text. */
export function systemMessageView(
  { content, note: stored }: Extract<Message, { role: 'system' }>,
  isOpen: boolean,
  toggled: ReturnType<typeof rememberOpenState>,
): TemplateResult {
  const note = stored ?? noteOfFormerText(content);
  const line = blockTitle(content) ?? escapeInvisibleInProseLine(t(note.line));
  if (note.whole) return html`<p class="ending" data-role="system">${line}</p>`;
  const role = beginsWithPromptBlock(content, 'RUN_DIRECTIVE') ? 'brief' : 'system';
  return html`<details class="thinking brief" data-role=${role}
    ?open=${isOpen} @toggle=${toggled}><summary><span class="twistie">${icons.chevron}</span><span class="brief-title">${line}</span></summary><pre>${escapeInvisibleProse(content)}</pre></details>`;
}

/** Title of a message of a package's workflow. */
function blockTitle(content: string): string | undefined {
  const field = (key: string) => promptBlockField(content, key) ?? '';
  if (beginsWithPromptBlock(content, 'RUN_DIRECTIVE'))
    return escapeInvisibleInLine(t('Node {0}, as {1}', field('currentNodeId'), field('effectiveAgentId')));
  if (beginsWithPromptBlock(content, 'NODE_REMINDER'))
    return escapeInvisibleInLine(t('The model is reminded of what node {0} still needs', field('nodeId')));
  return undefined;
}
