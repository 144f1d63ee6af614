import { html, type TemplateResult } from 'lit-html';
import { escapeInvisible, withNoBreakUnits } from '../../src/protocol/text/escapeInvisible.ts';

const command = /\*(Towpath: [^*\n]{1,60})\*/;

/** Renders a sentence with highlighted commands of Towpath: `Run *Towpath: Set API Key*.` */
export function sentenceWithCommands(text: string): TemplateResult[] {
  return withNoBreakUnits(escapeInvisible(text))
    .split(command)
    .map((part, index) => (index % 2 === 1 ? html`<em>${part}</em>` : html`${part}`));
}

export const withoutCommandMarks = (text: string): string => text.split(command).join('');
