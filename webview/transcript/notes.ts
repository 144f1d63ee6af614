import { html, type TemplateResult } from 'lit-html';
import { proseLine, visibleLine, visibleProse } from '../../src/protocol/visible.ts';
import type { keepsOpen } from '../context.ts';
import { icons } from '../icons.ts';

/** What was said to the model in the system's name: words for it, and not for the person, who sees what it is about and can open it. */
export function note(content: string, isOpen: boolean, toggled: ReturnType<typeof keepsOpen>): TemplateResult {
  const undone = /^The person has undone your changes of: ([\s\S]*)\. Read again before you edit\.$/.exec(content)?.[1];
  if (undone !== undefined)
    return html`<p class="ending" data-role="system">You undid what was changed in ${proseLine(undone)}</p>`;
  const isBrief = content.startsWith('RUN_DIRECTIVE\n');
  const first = proseLine(content.trim().split('\n', 1)[0]!);
  const title = isBrief ? briefTitle(content) : `The model is told: ${first}`;
  return html`<details class="thinking brief" data-role=${isBrief ? 'brief' : 'system'}
    ?open=${isOpen} @toggle=${toggled}><summary><span class="twistie">${icons.chevron}</span><span class="brief-title">${title}</span></summary><pre>${visibleProse(content)}</pre></details>`;
}

/** What a workflow told the model: the node it is about. */
function briefTitle(brief: string): string {
  const value = (key: string) => new RegExp(`^- ${key}: (.*)$`, 'm').exec(brief)?.[1] ?? '';
  return visibleLine(`Node ${value('currentNodeId')}, as ${value('effectiveAgentId')}`);
}
