import * as paths from 'node:path';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { createPathRefusal, quoteForMessage } from '../core/pathSyntax.ts';
import { createSideEffectTool, type RecordedFileEffects, ToolError } from '../core/tool.ts';
import type { Workspace } from '../core/workspace.ts';
import { fsMoveDefinition } from '../definitions/fileTools.ts';
import { approvalReasonForBuildFile } from '../policy/buildFiles.ts';
import { protectedPathReason } from '../policy/protectedPaths.ts';
import { containsGitRepository } from '../sandbox/containingRepository.ts';
import { readCurrentText, readFileModeAndEncoding } from '../sandbox/fileText.ts';
import { listTree } from '../sandbox/fileTree.ts';
import { checkParentFolder } from '../sandbox/openFile.ts';
import { type ResolvedPath, resolvePath } from '../sandbox/paths.ts';
import { fileChangeApprovalReason, fileGrantForRun } from './planChange.ts';

/** `fs.move`: moves a file or a folder to a free path. Data: `{ path, from }`, both workspace-relative. */
export const fsMoveTool = createSideEffectTool(fsMoveDefinition, 'change', async ({ from, to }, { workspace }) => {
  const [file, target] = await bothEnds(workspace, from, to);
  const data = { path: target.relative, from: file.relative };
  const inside = await namesInside(file);
  const why =
    file.protected ??
    target.protected ??
    (await reasonInside(file, target, inside)) ??
    (await reasonOfScripts(workspace, file, target));
  const configuration = file.configuration ?? target.configuration ?? configurationInside(inside);
  return {
    what: message('Move {0} to {1}', file.relative, target.relative),
    where: `${file.path}\n→ ${target.path}`,
    why: why ?? configuration ?? '',
    // A rule for one file also applies if the parent folder moves.
    paths: [file, target].flatMap(({ relative }) => [relative, ...(inside ?? []).map((name) => `${relative}/${name}`)]),
    ...(file.mount === 'run' && target.mount === 'run'
      ? { free: 'of-run' as const }
      : why === undefined && fileGrantForRun({ ...file, configuration }, 'fs.move', 'fs.move', target.relative)),
    trace: () => traceOf(workspace, file, target),
    data: () => data,
    async run({ workspace }) {
      const [fileNow, targetNow] = await bothEnds(workspace, from, to);
      if (fileNow.path !== file.path || targetNow.path !== target.path || fileNow.kind !== file.kind)
        throw new ToolError('E_PRECONDITION_FAILED', `${quoteForMessage(file.relative)} is something else now.`);
      await checkParentFolder(file);
      await checkParentFolder(target);
      await workspace.move(file.path, target.path);
      return data;
    },
  };
});

// Stores a text as a change, to allow undo after later edits; anything else is undone by a move back.
async function traceOf(workspace: Workspace, file: ResolvedPath, target: ResolvedPath): Promise<RecordedFileEffects> {
  const current = file.kind === 'file' ? await readCurrentText(workspace, file).catch(() => undefined) : undefined;
  if (!current || current.lossy || current.foreign) return { moved: { from: file.relative, to: target.relative } };
  const { text } = current;
  return {
    changes: [
      {
        path: file.relative,
        realPath: file.path,
        before: text,
        after: null,
        form: await readFileModeAndEncoding(file),
      },
      { path: target.relative, realPath: target.path, before: null, after: text },
    ],
  };
}

async function bothEnds(workspace: Workspace, from: string, to: string): Promise<[ResolvedPath, ResolvedPath]> {
  const file = await resolvePath(workspace.roots, from, 'rename');
  const target = await resolvePath(workspace.roots, to, 'create');
  if (target.path.startsWith(file.path + paths.sep))
    throw createPathRefusal('PATH_INVALID', `${quoteForMessage(file.relative)} cannot be moved into itself.`);
  return [file, target];
}

/**
 * Returns the reason why the new name may turn text into code to execute: `x.json` becomes `package.json`. An unreadable file may contain
 * anything.
 */
async function reasonOfScripts(workspace: Workspace, file: ResolvedPath, target: ResolvedPath) {
  if (file.kind === 'folder') return undefined;
  const current = file.kind === 'file' ? await readCurrentText(workspace, file).catch(() => undefined) : undefined;
  const text = current?.text ?? '';
  return fileChangeApprovalReason(file, text, null) ?? fileChangeApprovalReason(target, null, text);
}

// Maximum entries to check; a larger move needs an approval.
const maximumEntries = 5000;

// Returns the relative paths in a folder, with `/`; undefined above the limit.
async function namesInside(file: ResolvedPath): Promise<string[] | undefined> {
  if (file.kind !== 'folder') return [];
  const entries = await listTree(file.path, maximumEntries).catch(() => undefined);
  return entries?.map(({ path }) => path).filter((path) => path !== '');
}

function configurationInside(inside: readonly string[] | undefined): LocalizedMessage | undefined {
  const found = inside?.find((name) => approvalReasonForBuildFile(name.split('/')));
  return found === undefined
    ? undefined
    : message('It contains {0}. {1}', found, approvalReasonForBuildFile(found.split('/'))!);
}

// Checks files inside of a folder under the old and the new name: `x/settings.json` becomes `.vscode/settings.json`.
async function reasonInside(file: ResolvedPath, target: ResolvedPath, inside: string[] | undefined) {
  if (file.kind !== 'folder') return undefined;
  if (!inside) return message('It contains more than can be checked.');
  if (await containsGitRepository(inside)) return message('It contains a Git repository.');
  for (const name of ['x', ...inside]) {
    const below = name.split('/');
    const reason =
      protectedPathReason([...file.relative.split('/'), ...below]) ??
      protectedPathReason([...target.relative.split('/'), ...below]);
    if (reason) return reason;
  }
  return undefined;
}
