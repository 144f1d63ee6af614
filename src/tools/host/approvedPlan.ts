import { createHash } from 'node:crypto';
import type { ProposedToolCallHashes } from '../../protocol/run/events.ts';
import { message } from '../../protocol/text/l10n.ts';
import { joinLocalizableTexts, type LocalizableText } from '../../protocol/text/localized.ts';
import { type ApprovalRequestPlan, ToolError } from '../core/tool.ts';

/** Returns hashes of everything that an approval covers, for comparison in a later window. */
export function hashApprovedPlan({
  where,
  paths,
  change,
  command,
  origin,
}: ApprovalRequestPlan): ProposedToolCallHashes {
  return {
    ...(change && { before: hashOf(change.before), after: hashOf(change.after) }),
    ...(command !== undefined && { command: hashOf(command) }),
    location: hashOf([where, paths ?? []]),
    ...(origin && { tool: hashOf([origin.identity, origin.definition]) }),
  };
}

/** Returns the differences from the earlier request as sentences for the user; undefined if there are none. */
export function planDifferenceText(
  proposed: ProposedToolCallHashes,
  plan: ApprovalRequestPlan,
): LocalizableText | undefined {
  const now = hashApprovedPlan(plan);
  const isOther = (part: keyof ProposedToolCallHashes) => now[part] !== proposed[part];
  const differences = [
    ...(isOther('before') ? [message('The file has changed since the proposal; the edit still applies.')] : []),
    ...(isOther('command') ? [message('The command differs from the proposed command.')] : []),
    ...(isOther('location') ? [message('The location differs from the proposed location.')] : []),
    ...(isOther('tool') ? [message('The tool has changed since the proposal.')] : []),
  ];
  if (differences.length > 0) return joinLocalizableTexts(differences);
  return isOther('after') ? message('The result differs from the proposed result.') : undefined;
}

/** Returns the error of an edit from an earlier window that no longer applies, with `stale` for its card. */
export function staleEditError(proposed: ProposedToolCallHashes, error: unknown): unknown {
  if (proposed.before === undefined || !(error instanceof ToolError) || notStale.has(error.code)) return error;
  const message = `The file has changed; the edit no longer applies. ${error.message}`;
  return new ToolError(error.code, message, { ...Object(error.details), stale: true });
}

const notStale = new Set(['TOOL_NOT_AVAILABLE', 'TOOL_INTERRUPTED', 'TOOL_DENIED']);

const hashOf = (part: unknown): string => createHash('sha256').update(JSON.stringify(part)).digest('hex');
