import * as z from 'zod';
import { checkFolderOf } from '../gate/open.ts';
import { resolvePath } from '../gate/paths.ts';
import { quoted, refuse } from '../gate/spelling.ts';
import { askingTool, ToolError } from '../tool.ts';
import { checkUnchanged, ownOfRun, reasonOf, type Target } from './change.ts';
import { currentText } from './text.ts';

/** `fs.delete`: one file, to the trash. Data: `{ path, deleted: true }`. */
export const deleteTool = askingTool(
  {
    name: 'fs.delete',
    description: 'Move one file to the trash.',
    arguments: { path: z.string() },
  },
  'change',
  async ({ path }, { workspace }) => {
    const file = await resolvePath(workspace.roots, path, 'delete');
    if (file.kind !== 'file')
      throw refuse('NOT_A_FILE', `${quoted(file.relative)} is a ${file.kind}; fs.delete removes single files.`);
    const read = await resolvePath(workspace.roots, path, 'read'); // a pipe or a device has no text to keep
    const text = await currentText(workspace, read).catch((error) => {
      if (error instanceof ToolError && error.code === 'E_READ_LIMIT') return undefined;
      throw error;
    });
    const before = text && !text.lossy ? text.text : undefined;
    const why = reasonOf(file, before ?? null, null);
    const ofRun = file.mount === 'run';
    const unsaved = workspace.isDirty(file.path) ? ' It has unsaved changes in the editor.' : '';
    const lost = before === undefined ? ' It is not text, so only the trash keeps it.' : '';
    return {
      what: `Delete ${file.relative}`,
      where: file.path,
      paths: [file.relative],
      why: (why ?? 'It removes a file.') + unsaved + lost,
      ...(ofRun && { free: ownOfRun }),
      ...(before !== undefined &&
        !ofRun && { change: { path: file.relative, realPath: file.path, before, after: null } }),
      ...(why === undefined && before !== undefined && !ofRun && { grant: 'fs.delete' }),
      async run({ workspace }) {
        if (before !== undefined) {
          const target: Target = { input: path, file, before };
          await checkUnchanged(workspace, target, 'delete');
        } else if ((await resolvePath(workspace.roots, path, 'delete')).path !== file.path) {
          throw new ToolError('E_PRECONDITION_FAILED', `${quoted(file.relative)} is somewhere else now.`);
        }
        await checkFolderOf(file);
        await workspace.delete(file.path);
        return { path: file.relative, deleted: true };
      },
    };
  },
);
