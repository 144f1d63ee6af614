import { message } from '../../protocol/text/l10n.ts';
import {
  createSideEffectTool,
  type FileModeAndEncoding,
  type Tool,
  type ToolCallPlan,
  ToolError,
} from '../core/tool.ts';
import type { Workspace } from '../core/workspace.ts';
import { fsDeleteDefinition } from '../definitions/fileTools.ts';
import { readCurrentText, readFileModeAndEncoding } from '../sandbox/fileText.ts';
import { checkParentFolder } from '../sandbox/openFile.ts';
import { resolvePath } from '../sandbox/paths.ts';
import {
  appendToApprovalReason,
  type ChangeTarget,
  checkTargetUnchanged,
  fileChangeApprovalReason,
  fileGrantForRun,
} from './planChange.ts';
import { planPathDeletion } from './planDelete.ts';

export interface DeleteOptions {
  /** Returns the bytes available for undo; larger content is not deleted. */
  quota?(): number;
}

/**
 * `fs.delete`: deletes a file, a link or a folder, to the trash if available. Data: `{ path, deleted: true }`, and the number of `files`
 * for a folder. Content too large for undo is refused.
 */
export function fsDeleteTool({ quota = () => Number.POSITIVE_INFINITY }: DeleteOptions = {}): Tool {
  return createSideEffectTool(fsDeleteDefinition, 'change', async ({ path }, { workspace }) => {
    const file = await resolvePath(workspace.roots, path, 'delete');
    const text = file.kind === 'file' ? await textOf(workspace, path) : undefined;
    return text === undefined
      ? planPathDeletion(workspace, file, path, quota())
      : planFile(workspace, { input: path, file, before: text }, await readFileModeAndEncoding(file));
  });
}

async function textOf(workspace: Workspace, path: string): Promise<string | undefined> {
  const file = await resolvePath(workspace.roots, path, 'read'); // a pipe or a device has no content to store
  try {
    const { text, lossy, foreign } = await readCurrentText(workspace, file);
    return lossy || foreign ? undefined : text;
  } catch (error) {
    if (error instanceof ToolError && error.code === 'E_READ_LIMIT') return undefined;
    throw error;
  }
}

function planFile(
  workspace: Workspace,
  target: ChangeTarget & { before: string },
  form: FileModeAndEncoding,
): ToolCallPlan {
  const { file, before } = target;
  const why = fileChangeApprovalReason(file, before, null);
  const ofRun = file.mount === 'run';
  const reason = why ?? file.configuration ?? '';
  const data = { path: file.relative, deleted: true };
  return {
    what: message('Delete {0}', file.relative),
    where: file.path,
    paths: [file.relative],
    why: workspace.isDirty(file.path)
      ? appendToApprovalReason(reason, message('It has unsaved changes in the editor.'))
      : reason,
    change: { path: file.relative, realPath: file.path, before, after: null, form },
    ...(ofRun && { free: 'of-run' as const }),
    ...(why === undefined && !ofRun && fileGrantForRun(file, 'fs.delete', 'fs.delete')),
    data: () => data,
    async run({ workspace }) {
      await checkTargetUnchanged(workspace, target, 'delete');
      await checkParentFolder(file);
      await workspace.delete(file.path);
      return data;
    },
  };
}
