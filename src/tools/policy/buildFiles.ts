import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { foldCase } from '../core/caseFold.ts';
import { protectedRow } from './protectedTable.ts';

/**
 * Why a change of this file (its segments, relative to its root) is asked about whatever preset or rule there is, once in a run:
 * it says what the next build, test or check runs. Undefined for ordinary files. Nothing of it runs by itself; what does is in
 * `protectedReason`.
 */
export function configurationReason(segments: readonly string[]): LocalizedMessage | undefined {
  const row = protectedRow([foldCase(segments.at(-1) ?? '')], ['run']);
  return row && message('{0} {1} applies to this file only.', row.reason, message('Allow for This Run'));
}
