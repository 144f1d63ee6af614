import { createHash } from 'node:crypto';
import type { Proposed } from '../../protocol/run/events.ts';
import { message } from '../../protocol/text/l10n.ts';
import { joined, type LocalizableText } from '../../protocol/text/localized.ts';
import { type AskedPlan, ToolError } from '../core/tool.ts';

/** Returns hashes of what an approval of this plan covers, to be compared with the plan that a later window works out. */
export function proposedOf({ where, paths, change, command, origin }: AskedPlan): Proposed {
  return {
    ...(change && { before: hashOf(change.before), after: hashOf(change.after) }),
    ...(command !== undefined && { command: hashOf(command) }),
    location: hashOf([where, paths ?? []]),
    ...(origin && { tool: hashOf([origin.identity, origin.definition]) }),
  };
}

/** Returns what is different now from what was proposed, as sentences for the user; undefined when nothing is. */
export function differenceFrom(proposed: Proposed, plan: AskedPlan): LocalizableText | undefined {
  const now = proposedOf(plan);
  const isOther = (part: keyof Proposed) => now[part] !== proposed[part];
  const differences = [
    ...(isOther('before') ? [message('The file has changed since the proposal; the edit still applies.')] : []),
    ...(isOther('command') ? [message('The command differs from the proposed command.')] : []),
    ...(isOther('location') ? [message('The location differs from the proposed location.')] : []),
    ...(isOther('tool') ? [message('The tool has changed since the proposal.')] : []),
  ];
  if (differences.length > 0) return joined(differences);
  return isOther('after') ? message('The result differs from the proposed result.') : undefined;
}

/** The error of an edit that was proposed in an earlier window and cannot be planned any more, with `stale` for its card. */
export function staleError(proposed: Proposed, error: unknown): unknown {
  if (proposed.before === undefined || !(error instanceof ToolError) || notStale.has(error.code)) return error;
  const message = `The file has changed; the edit no longer applies. ${error.message}`;
  return new ToolError(error.code, message, { ...Object(error.details), stale: true });
}

/** The tool itself is not there, or the run was stopped. */
const notStale = new Set(['TOOL_NOT_AVAILABLE', 'TOOL_INTERRUPTED', 'TOOL_DENIED']);

const hashOf = (part: unknown): string => createHash('sha256').update(JSON.stringify(part)).digest('hex');
