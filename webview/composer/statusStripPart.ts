import type { TemplateResult } from 'lit-html';
import type { StripList } from '../context.ts';

/**
 * Item of the status line with its list. `icon` replaces `noun` in narrow panels. `says`: full text for screen readers. `close`: dismisses
 * the item.
 */
export interface StripPart {
  list: StripList;
  icon: TemplateResult;
  before?: string;
  count: string | TemplateResult;
  noun?: string;
  more?: TemplateResult;
  says: string;
  rows(): unknown;
  close?(): void;
}
