import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { foldCase } from '../core/caseFold.ts';
import { findProtectedPathRow } from './protectedTable.ts';

/**
 * Returns the reason to approve a change of this file once per run, despite any preset or rule: the file controls the next build, test or
 * check. Segments are relative to the root. Undefined for ordinary files. Files that start something by themselves are in
 * `protectedPathReason`.
 */
export function approvalReasonForBuildFile(segments: readonly string[]): LocalizedMessage | undefined {
  const row = findProtectedPathRow([foldCase(segments.at(-1) ?? '')], ['run']);
  return row && message('{0} {1} applies to this file only.', row.reason, message('Allow for This Run'));
}
