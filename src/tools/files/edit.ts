import { counted } from '../../protocol/text/plurals.ts';
import { quoted } from '../core/pathSyntax.ts';
import { askingTool, ToolError } from '../core/tool.ts';
import { editDefinition } from '../definitions/fileTools.ts';
import { applyEdits } from '../edit/applyEdits.ts';
import { refusePlaceholders } from '../edit/placeholder.ts';
import { isNotebook, notebookOf } from '../notebook/notebook.ts';
import { withSource } from '../notebook/source.ts';
import { resolvePath } from '../sandbox/paths.ts';
import { editFailed, noteOfIdle } from './editFailure.ts';
import { type ChangeTarget, checkHash, findTarget, planText, staleText } from './planChange.ts';

/** `fs.edit`: replaces parts of a file. Data: `{ path, sha256, matched: 'exact' | 'tolerant', added, removed }`. */
export const editTool = askingTool(
  editDefinition,
  'change',
  async ({ path, cell, edits, ifMatchSha256 }, { workspace, lastSeen }) => {
    const file = await resolvePath(workspace.roots, path, 'write');
    if (file.kind === 'missing' && workspace.openText(file.path) === undefined)
      await resolvePath(workspace.roots, path, 'read'); // throws ENOENT with the nearest names
    const target = await findTarget(workspace, path);
    checkHash(target, ifMatchSha256);
    for (const { oldText, newText } of edits) {
      refusePlaceholders(newText, target.before);
      refusePlaceholders(oldText, target.before);
    }
    const place = cellOf(target, cell);
    const seen = place ? undefined : await staleText(target, lastSeen);
    const result = applyEdits(place?.source ?? target.before ?? '', edits, seen);
    if (!result.ok) {
      const which = edits.length > 1 ? `Edit ${result.index + 1} of ${edits.length}: ` : '';
      throw editFailed(place ? { ...target, before: place.source } : target, result, which, edits);
    }
    const after = place ? withSource(target.before!, place.at, result.text) : result.text;
    return planText(workspace, target, after, 'fs.edit', {
      matched: result.matched,
      ...noteOfIdle('Edit', result.idle ?? []),
    });
  },
);

function cellOf({ file, before }: ChangeTarget, cell: number | undefined): { at: number; source: string } | undefined {
  const notebook = isNotebook(file.relative) && before !== null ? notebookOf(before) : '';
  const refuse = (why: string) => new ToolError('TOOL_ARGS_INVALID', `cell: ${why} Nothing was changed.`);
  if (typeof notebook === 'string') {
    if (cell === undefined) return undefined;
    throw refuse(`${quoted(file.relative)} is not a notebook${notebook && `: ${notebook}`}. Leave it out.`);
  }
  const { cells } = notebook;
  const all = `the notebook has ${counted(cells.length, 'cell')}, numbered from 1`;
  if (cell === undefined) throw refuse(`name the one to edit: ${all}.`);
  const found = cells[cell - 1];
  if (!found) throw refuse(`there is no cell ${cell}: ${all}.`);
  return { at: cell - 1, source: found.source };
}
