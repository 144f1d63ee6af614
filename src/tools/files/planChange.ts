import { lstat } from 'node:fs/promises';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { joinLocalizableTexts, type LocalizableText } from '../../protocol/text/localized.ts';
import { quoteForMessage } from '../core/pathSyntax.ts';
import {
  AlreadyAppliedError,
  type TextSeenByModel,
  type ToolCallPlan,
  type ToolContext,
  ToolError,
} from '../core/tool.ts';
import type { Workspace } from '../core/workspace.ts';
import { countChanges, lineDiff } from '../edit/diff.ts';
import { linesForComparison } from '../notebook/comparedLines.ts';
import { isNotebook, notebookReplacementProblem } from '../notebook/notebook.ts';
import { hasInstallScriptChange } from '../policy/protectedPaths.ts';
import {
  type DecodedText,
  encodingSettingHint,
  guessedEncodingSuffix,
  readCurrentText,
  sha256,
} from '../sandbox/fileText.ts';
import { checkParentFolder } from '../sandbox/openFile.ts';
import { type ResolvedPath, resolvePath } from '../sandbox/paths.ts';
import { breakHardLink } from '../sandbox/writeFile.ts';

/**
 * File about to be changed: its real location and the text in the editor; null if no file exists. `input` is the model's spelling, resolved
 * again right before the change. `foreign` marks an encoding that only the editor can read and write.
 */
export interface ChangeTarget {
  input: string;
  file: ResolvedPath;
  before: string | null;
  foreign?: true;
}

/** Finds the file and its text. Throws the errors of `resolvePath` and `readCurrentText`, and refuses text that would be damaged. */
export async function findChangeTarget(
  workspace: Workspace,
  input: string,
  operation: 'write' | 'restore' = 'write',
): Promise<ChangeTarget> {
  const file = await resolvePath(workspace.roots, input, operation);
  await checkWritable(file);
  const current = await textOrNone(workspace, file);
  if (current?.lossy) {
    const like = await guessedEncodingSuffix(workspace, file);
    const message = `${quoteForMessage(file.relative)} is not UTF-8 text${like}; writing it would damage it.`;
    throw new ToolError('E_PRECONDITION_FAILED', `${message} ${encodingSettingHint}`);
  }
  return { input, file, before: current?.text ?? null, ...(current?.foreign && { foreign: true }) };
}

/** Throws `E_PRECONDITION_FAILED` if the caller's hash is outdated. */
export function checkHash(target: ChangeTarget, expected: string | undefined): void {
  if (expected === undefined) return;
  if (target.before !== null && sha256(target.before) === expected.toLowerCase()) return;
  const message = target.before === null ? 'does not exist' : 'is not what ifMatchSha256 says: it changed';
  throw new ToolError('E_PRECONDITION_FAILED', `${quoteForMessage(target.file.relative)} ${message}. Read it again.`);
}

export async function findStaleSeenText(
  { file, before }: ChangeTarget,
  lastSeen: ToolContext['lastSeen'],
): Promise<TextSeenByModel | undefined> {
  const seen = before === null ? undefined : await lastSeen(file.relative);
  return seen?.sha256 === sha256(before ?? '') ? undefined : seen;
}

/**
 * Plans the change of a file's text to `after`. Execution writes exactly the shown text, or fails with `E_PRECONDITION_FAILED` without
 * writing if the file or its real location has changed. Later, the result and the stored change hold the text on disk; `changedOnSave` is
 * the diff made by the editor on save.
 */
export function planTextChange(
  workspace: Workspace,
  target: ChangeTarget,
  after: string,
  tool: 'fs.write' | 'fs.edit' | 'fs.apply_patch',
  extra: Record<string, unknown> = {},
  drops?: readonly string[],
): ToolCallPlan {
  const { file, before } = target;
  const ofRun = file.mount === 'run';
  const counts = (stands: string) => {
    const { from, to } = linesForComparison(file.relative, before, stands);
    return countChanges(from.lines, to.lines);
  };
  const isSameNotebook = (stands: string) => linesForComparison(file.relative, after, stands).isSame;
  const given = (stands: string) => ({
    path: file.relative,
    sha256: sha256(stands),
    ...extra,
    ...counts(stands),
    ...(stands !== after && !isSameNotebook(stands) && { changedOnSave: lineDiff(after, stands, longestDifference) }),
  });
  if (before === after) {
    const message = `${quoteForMessage(file.relative)} already holds exactly this text.`;
    throw new AlreadyAppliedError(new ToolError('E_PRECONDITION_FAILED', message), given(after));
  }
  const trouble = isNotebook(file.relative) ? notebookReplacementProblem(before, after) : undefined;
  if (trouble)
    throw new ToolError(
      'E_PRECONDITION_FAILED',
      `${quoteForMessage(file.relative)}: ${trouble} Nothing was written. To change a cell, use fs.edit with \`cell\`.`,
    );
  const what = before === null ? 'Create {0}' : tool === 'fs.write' ? 'Replace {0}' : 'Edit {0}';
  const why = fileChangeApprovalReason(file, before, after);
  const reason = why ?? file.configuration ?? '';
  return {
    what: message(what, file.relative),
    where: file.path,
    why: workspace.isDirty(file.path)
      ? appendToApprovalReason(reason, message('It has unsaved changes in the editor, which are saved with it.'))
      : reason,
    change: { path: file.relative, realPath: file.path, before, after },
    ...(ofRun && { free: 'of-run' as const }),
    ...(why === undefined && !ofRun && fileGrantForRun(file, tool, 'changes')),
    data: () => given(after),
    revise: async (edited) =>
      planTextChange(workspace, await findChangeTarget(workspace, target.input), edited, tool, extra, drops),
    async run({ workspace, signal, output, leaves }) {
      await checkTargetUnchanged(workspace, target);
      if (before !== null) await breakHardLink(file.path);
      await checkParentFolder(file);
      const problems = workspace.watchProblems?.(file.path);
      const stands = await workspace.writeText(file.path, after, before, {
        signal,
        report: output,
        ...(drops && { drops }),
      });
      // A whole text that the editor reformats to the existing form is already applied; a lost edit is a failure.
      if (stands === before) throw takenBack(file, tool === 'fs.write' ? given(stands) : undefined);
      if (stands !== after) await leaves(stands);
      const newProblems = (await problems?.(signal)) ?? [];
      return { ...given(stands), ...(newProblems.length > 0 && { newProblems }) };
    },
  };
}

function takenBack({ relative }: ResolvedPath, data: object | undefined): ToolError {
  const message = `What the editor runs when it saves (a formatter, another extension) took the whole change back: ${quoteForMessage(relative)} is as it was.`;
  const error = new ToolError('TOOL_EXEC_FAILED', message);
  return data ? new AlreadyAppliedError(error, data) : error;
}

// Maximum characters of the diff made on save; the model can read the rest from the file.
const longestDifference = 2000;

/** Appends a sentence to a reason; '' is no reason. */
export const appendToApprovalReason = (reason: LocalizableText, more: LocalizedMessage): LocalizableText =>
  reason === '' ? more : joinLocalizableTexts([reason, more]);

/** Returns the scope of *Allow for This Run*: the tool, or a single file that controls a build or a check. */
export const fileGrantForRun = (
  { relative, configuration }: Pick<ResolvedPath, 'relative' | 'configuration'>,
  tool: string,
  what: string,
  to?: string,
): Pick<ToolCallPlan, 'grant' | 'guarded'> =>
  configuration === undefined
    ? { grant: tool }
    : {
        grant: `${what} of ${[relative, to]
          .filter((one) => one !== undefined)
          .map(quoteForMessage)
          .join(' to ')}`,
        guarded: true,
      };

export function fileChangeApprovalReason(
  file: ResolvedPath,
  before: string | null,
  after: string | null,
): LocalizedMessage | undefined {
  if (file.protected) return file.protected;
  return hasInstallScriptChange(file.relative, before, after) ? runsOnInstallReason : undefined;
}

export const runsOnInstallReason = message('Its scripts run automatically on install.');

export async function checkTargetUnchanged(
  workspace: Workspace,
  target: ChangeTarget,
  operation: 'write' | 'delete' = 'write',
) {
  const { file, before } = target;
  const now = await resolvePath(workspace.roots, target.input, operation);
  const text = now.path === file.path ? ((await textOrNone(workspace, now))?.text ?? null) : undefined;
  if (text === before) return;
  throw new ToolError(
    'E_PRECONDITION_FAILED',
    `${quoteForMessage(file.relative)} changed after the change to it was shown. Nothing was written; read it again.`,
  );
}

// Checks the mode instead of trying: an administrator could write the file, but the user made it read-only.
async function checkWritable(file: ResolvedPath): Promise<void> {
  const mode = file.kind === 'file' ? (await lstat(file.path)).mode : 0o600;
  if ((mode & 0o222) === 0)
    throw new ToolError(
      'E_PRECONDITION_FAILED',
      `${quoteForMessage(file.relative)} is read-only. Nothing was changed.`,
    );
}

async function textOrNone(workspace: Workspace, file: ResolvedPath): Promise<DecodedText | undefined> {
  const missing = file.kind === 'missing' && workspace.openText(file.path) === undefined;
  return missing ? undefined : readCurrentText(workspace, file);
}
