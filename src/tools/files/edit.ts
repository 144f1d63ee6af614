import { englishCount } from '../../protocol/text/plurals.ts';
import { quoteForMessage } from '../core/pathSyntax.ts';
import { createSideEffectTool, ToolError } from '../core/tool.ts';
import { fsEditDefinition } from '../definitions/fileTools.ts';
import { applyEdits } from '../edit/applyEdits.ts';
import { rejectOmittedCodePlaceholders } from '../edit/placeholder.ts';
import { isNotebook, parseNotebook } from '../notebook/notebook.ts';
import { replaceCellSource } from '../notebook/source.ts';
import { resolvePath } from '../sandbox/paths.ts';
import { createEditError, ineffectiveEditsNote } from './editFailure.ts';
import { type ChangeTarget, checkHash, findChangeTarget, findStaleSeenText, planTextChange } from './planChange.ts';

/** `fs.edit`: replaces parts of a file. Data: `{ path, sha256, matched: 'exact' | 'tolerant', added, removed }`. */
export const fsEditTool = createSideEffectTool(
  fsEditDefinition,
  'change',
  async ({ path, cell, edits, ifMatchSha256 }, { workspace, lastSeen }) => {
    const file = await resolvePath(workspace.roots, path, 'write');
    if (file.kind === 'missing' && workspace.openText(file.path) === undefined)
      await resolvePath(workspace.roots, path, 'read'); // throws ENOENT with the nearest names
    const target = await findChangeTarget(workspace, path);
    checkHash(target, ifMatchSha256);
    for (const { oldText, newText } of edits) {
      rejectOmittedCodePlaceholders(newText, target.before);
      rejectOmittedCodePlaceholders(oldText, target.before);
    }
    const cellLocation = cellOf(target, cell);
    const seen = cellLocation ? undefined : await findStaleSeenText(target, lastSeen);
    const result = applyEdits(cellLocation?.source ?? target.before ?? '', edits, seen);
    if (!result.ok) {
      const which = edits.length > 1 ? `Edit ${result.index + 1} of ${edits.length}: ` : '';
      throw createEditError(cellLocation ? { ...target, before: cellLocation.source } : target, result, which, edits);
    }
    const after = cellLocation ? replaceCellSource(target.before!, cellLocation.at, result.text) : result.text;
    return planTextChange(workspace, target, after, 'fs.edit', {
      matched: result.matched,
      ...ineffectiveEditsNote('Edit', result.idle ?? []),
    });
  },
);

function cellOf({ file, before }: ChangeTarget, cell: number | undefined): { at: number; source: string } | undefined {
  const notebook = isNotebook(file.relative) && before !== null ? parseNotebook(before) : '';
  const refuse = (why: string) => new ToolError('TOOL_ARGS_INVALID', `cell: ${why} Nothing was changed.`);
  if (typeof notebook === 'string') {
    if (cell === undefined) return undefined;
    throw refuse(`${quoteForMessage(file.relative)} is not a notebook${notebook && `: ${notebook}`}. Leave it out.`);
  }
  const { cells } = notebook;
  const all = `the notebook has ${englishCount(cells.length, 'cell')}, numbered from 1`;
  if (cell === undefined) throw refuse(`name the one to edit: ${all}.`);
  const found = cells[cell - 1];
  if (!found) throw refuse(`there is no cell ${cell}: ${all}.`);
  return { at: cell - 1, source: found.source };
}
