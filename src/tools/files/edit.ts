import * as z from 'zod';
import { resolvePath } from '../gate/paths.ts';
import { askingTool } from '../tool.ts';
import { changeShape, checkHash, findTarget, planText } from './change.ts';
import { editFailed } from './failure.ts';
import { applyEdits } from './match.ts';
import { refusePlaceholders } from './placeholder.ts';

/** `fs.edit`: replaces parts of a file. Data: `{ path, sha256, matched: 'exact' | 'tolerant', added, removed }`. */
export const editTool = askingTool(
  {
    name: 'fs.edit',
    description: 'Replace each oldText (whole lines, once in the file) by newText; all or none.',
    arguments: {
      path: z.string().meta({ help: 'The file.' }),
      edits: z
        .array(z.strictObject({ oldText: z.string(), newText: z.string() }))
        .min(1)
        .max(100)
        .meta({ help: 'Each `oldText` stands once in the file, and becomes `newText`.' }),
      ifMatchSha256: z.string().optional().meta({ help: 'Only if the file is the one that was read.' }),
    },
    gives: {
      ...changeShape,
      matched: z.enum(['exact', 'tolerant']).describe('Whether each `oldText` was found to the letter.'),
    },
  },
  'change',
  async ({ path, edits, ifMatchSha256 }, { workspace }) => {
    const file = await resolvePath(workspace.roots, path, 'write');
    if (file.kind === 'missing' && workspace.openText(file.path) === undefined)
      await resolvePath(workspace.roots, path, 'read'); // throws ENOENT with the nearest names
    const target = await findTarget(workspace, path);
    checkHash(target, ifMatchSha256);
    for (const { oldText, newText } of edits) {
      refusePlaceholders(newText, target.before);
      refusePlaceholders(oldText, target.before);
    }
    const result = applyEdits(target.before ?? '', edits);
    if (!result.ok)
      throw editFailed(target, result, edits.length > 1 ? `Edit ${result.index + 1} of ${edits.length}: ` : '', edits);
    return planText(workspace, target, result.text, 'fs.edit', { matched: result.matched });
  },
);
