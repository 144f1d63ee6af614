import type { TemplateResult } from 'lit-html';
import type { StripList } from '../context.ts';

/** A word of the strip, and the list that it opens. */
export interface StripPart {
  list: StripList;
  /** In a panel too narrow for all words, its icon stands for `noun`. */
  icon: TemplateResult;
  before?: string;
  count: string | TemplateResult;
  noun?: string;
  more?: TemplateResult;
  /** The whole of it in words. */
  says: string;
  rows(): unknown;
  /** Puts it away. */
  close?(): void;
}
