import { t } from '../../protocol/l10n.ts';
import { type Said, SaidError } from '../../tools/said.ts';

/** In the person's language. */
export const told = (said: Said): string => (typeof said === 'string' ? said : t(said));

/** What was thrown, for the person. */
export function errorTold(error: unknown): string {
  if (error instanceof SaidError) return t(error.said);
  return error instanceof Error ? error.message : String(error);
}
