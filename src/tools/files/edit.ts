import * as z from 'zod';
import { resolvePath } from '../gate/paths.ts';
import { secretReason } from '../gate/protected.ts';
import { quoted } from '../gate/spelling.ts';
import { askingTool, ToolError } from '../tool.ts';
import { checkHash, findTarget, planText, type Target } from './change.ts';
import { applyEdits, type EditFailure } from './match.ts';
import { refusePlaceholders } from './placeholder.ts';

/** `fs.edit`: replaces parts of a file. Data: `{ path, sha256, matched: 'exact' | 'tolerant', added, removed }`. */
export const editTool = askingTool(
  {
    name: 'fs.edit',
    description:
      'Replace parts of a file: each oldText, which must be in it exactly once, becomes newText. All or none.',
    arguments: {
      path: z.string(),
      edits: z
        .array(z.strictObject({ oldText: z.string().describe('Whole lines, as in the file'), newText: z.string() }))
        .min(1)
        .max(100),
      ifMatchSha256: z.string().optional(),
    },
  },
  'change',
  async ({ path, edits, ifMatchSha256 }, { workspace }) => {
    const file = await resolvePath(workspace.roots, path, 'write');
    if (file.kind === 'missing' && workspace.openText(file.path) === undefined)
      await resolvePath(workspace.roots, path, 'read'); // throws ENOENT with the nearest names
    const target = await findTarget(workspace, path);
    checkHash(target, ifMatchSha256);
    for (const { newText } of edits) refusePlaceholders(newText, target.before);
    const result = applyEdits(target.before ?? '', edits);
    if (!result.ok) throw failed(target, result, edits.length);
    return planText(workspace, target, result.text, 'fs.edit', { matched: result.matched });
  },
);

function failed(target: Target, failure: EditFailure, count: number): ToolError {
  const which = count > 1 ? `Edit ${failure.index + 1} of ${count}: ` : '';
  const place = quoted(target.file.relative);
  const lines = failure.lines.slice(0, 10).join(', ');
  // Nobody has allowed these lines to be read.
  const hidden = secretReason(target.file.relative.split('/')) !== undefined;
  const message = {
    EMPTY: 'oldText is empty. Give the text to replace, or use fs.write for the whole file.',
    NO_CHANGE: 'oldText and newText are the same.',
    NOT_UNIQUE: `oldText is in ${place} ${failure.lines.length} times (lines ${lines}). Give more lines around it.`,
    ABSENT:
      failure.candidate === undefined || hidden
        ? `oldText is not in ${place}. Read the file again.`
        : `oldText is not in ${place}. The nearest is at line ${lines}:\n${failure.candidate}`,
  }[failure.reason];
  const details = { reason: failure.reason, edit: failure.index, lines: hidden ? [] : failure.lines };
  return new ToolError('E_PRECONDITION_FAILED', `${which}${message} Nothing was changed.`, details);
}
