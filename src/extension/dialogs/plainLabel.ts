import { escapeInvisibleInProseLine } from '../../protocol/text/escapeInvisible.ts';

/** Label without icons from `$(name)` in the text of a model or a user. */
export const plainLabel = (text: string): string => escapeInvisibleInProseLine(text).replaceAll('$(', '$ (');
