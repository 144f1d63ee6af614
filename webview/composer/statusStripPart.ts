import type { TemplateResult } from 'lit-html';
import type { StatusStripListName } from '../context.ts';

/**
 * Item of the status line with its list. `icon` replaces `noun` in narrow panels. `says`: full text for screen readers. `close`: dismisses
 * the item.
 */
export interface StatusStripItem {
  list: StatusStripListName;
  icon: TemplateResult;
  before?: string;
  count: string | TemplateResult;
  noun?: string;
  more?: TemplateResult;
  says: string;
  rows(): unknown;
  close?(): void;
}
