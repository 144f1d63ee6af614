import * as paths from 'node:path';
import { type LocalizedMessage, localizedCount, message, toEnglishText } from '../../protocol/text/l10n.ts';
import { joinLocalizableTexts, type LocalizableText } from '../../protocol/text/localized.ts';
import { checkDisplayablePath, createPathRefusal, isNonPortableFileName, quoteForMessage } from '../core/pathSyntax.ts';
import { type RemovedEntry, type ToolCallPlan, ToolError } from '../core/tool.ts';
import type { TreeEntry, Workspace } from '../core/workspace.ts';
import { approvalReasonForBuildFile } from '../policy/buildFiles.ts';
import {
  hasInstallScriptChange,
  isGitInternal,
  isLookalikePathSegment,
  protectedPathReason,
} from '../policy/protectedPaths.ts';
import { containsGitRepository } from '../sandbox/containingRepository.ts';
import { listTree } from '../sandbox/fileTree.ts';
import { checkParentFolder, openForReading } from '../sandbox/openFile.ts';
import { type ResolvedPath, resolvePath } from '../sandbox/paths.ts';
import { fileGrantForRun, runsOnInstallReason } from './planChange.ts';

const maxEntries = 1000;
const maxBytes = 50_000_000;

/**
 * Plans the deletion of a whole folder, a link, or a file without text. Everything is stored for undo, or nothing is deleted. Entries of a
 * folder are checked like single deletions: protected paths, Git files, path rules, unsaved changes.
 */
export async function planPathDeletion(
  workspace: Workspace,
  file: ResolvedPath,
  input: string,
  quota: number,
): Promise<ToolCallPlan> {
  const entries = await listTree(file.path, maxEntries);
  const bytes = entries?.reduce((sum, { size }) => sum + size, 0) ?? 0;
  if (!entries || bytes > Math.min(maxBytes, quota)) throw tooMuch(file, entries && bytes);
  const below = entries.filter(({ path }) => path !== '');
  for (const entry of below) checkEntry(file, entry);
  checkSaved(workspace, file);
  const files = below.filter(({ kind }) => kind !== 'folder').length;
  const ofRun = file.mount === 'run';
  const data = { path: file.relative, deleted: true, ...(file.kind === 'folder' && { files }) };
  const why = file.protected ?? (await reasonInside(file, below));
  const configuration = file.configuration ?? configurationInside(file, below);
  const tool = file.kind === 'folder' ? 'fs.delete of folders' : 'fs.delete';
  return {
    what:
      file.kind === 'folder'
        ? message('Delete {0} with {1} ({2})', file.relative, localizedCount(files, 'file'), size(bytes))
        : message('Delete {0}', file.relative),
    where: file.path,
    why: why ?? configuration ?? message(removes[file.kind === 'missing' ? 'file' : file.kind]),
    paths: [file.relative, ...below.map(({ path }) => `${file.relative}/${path}`)],
    ...(below.length > 0 && { details: listed(below) }),
    ...(ofRun && { free: 'of-run' as const }),
    trace: async () => ({ removed: await contentsOf(file, entries) }),
    ...(why === undefined && !ofRun && fileGrantForRun({ ...file, configuration }, tool, 'fs.delete')),
    data: () => data,
    async run({ workspace }) {
      if ((await resolvePath(workspace.roots, input, 'delete')).path !== file.path)
        throw new ToolError('E_PRECONDITION_FAILED', `${quoteForMessage(file.relative)} is somewhere else now.`);
      checkSaved(workspace, file);
      await checkParentFolder(file);
      await workspace.delete(file.path, entries);
      return data;
    },
  };
}

const removes = {
  folder: 'It removes a folder with all that is in it.',
  file: 'It removes a file that is not text.',
  link: 'It removes a link, not its target.',
} as const;

function tooMuch(file: ResolvedPath, bytes: number | undefined): ToolError {
  const holds = bytes === undefined ? `more than ${maxEntries} files and folders` : toEnglishText(size(bytes));
  const message = `${quoteForMessage(file.relative)} holds ${holds}: too much to be kept for undo, so nothing was deleted.`;
  return new ToolError('E_WRITE_LIMIT', `${message} Delete parts of it, or put a command to the person.`);
}

// Throws for entries that a single deletion would refuse, and for entries that undo could not restore.
function checkEntry(file: ResolvedPath, { path, kind, mode }: TreeEntry): void {
  const relativePath = `${file.relative}/${path}`;
  const names = path.split('/');
  checkDisplayablePath(names);
  if (isGitInternal(names))
    throw createPathRefusal(
      'GIT_INTERNAL',
      `${quoteForMessage(relativePath)} belongs to Git; nothing was deleted. Use git through shell.run.`,
    );
  const odd = names.some((name) => isNonPortableFileName(name) || isLookalikePathSegment(name) || name === '~');
  const why = odd
    ? 'has a name that undo could not bring back'
    : kind === 'other'
      ? 'is a pipe or a device, which undo could not bring back'
      : kind === 'folder' && (mode & 0o222) === 0
        ? 'is read-only'
        : undefined;
  if (why)
    throw new ToolError('E_PRECONDITION_FAILED', `${quoteForMessage(relativePath)} ${why}. Nothing was deleted.`);
}

function checkSaved(workspace: Workspace, file: ResolvedPath): void {
  const unsaved = file.kind === 'folder' ? workspace.unsavedIn(file.path) : [];
  if (file.kind === 'file' && workspace.isDirty(file.path)) unsaved.push(file.path);
  if (unsaved.length === 0) return;
  const names = unsaved.map((path) => quoteForMessage(paths.join(file.relative, paths.relative(file.path, path))));
  throw new ToolError(
    'E_PRECONDITION_FAILED',
    `The editor holds unsaved changes of ${names.slice(0, 5).join(', ')}. Nothing was deleted; the person has to save or discard them.`,
  );
}

function configurationInside(file: ResolvedPath, below: readonly TreeEntry[]): LocalizedMessage | undefined {
  const found = below.find(({ path }) => approvalReasonForBuildFile(path.split('/')));
  return found && file.mount !== 'run'
    ? message('It contains {0}. {1}', found.path, approvalReasonForBuildFile(found.path.split('/'))!)
    : undefined;
}

async function reasonInside(file: ResolvedPath, below: readonly TreeEntry[]): Promise<LocalizedMessage | undefined> {
  if (await containsGitRepository(below.map(({ path }) => path))) return message('It contains a Git repository.');
  for (const { path, kind } of below) {
    const relativePath = `${file.relative}/${path}`;
    const reason =
      protectedPathReason(relativePath.split('/')) ?? (kind === 'file' ? await scriptsReason(file, path) : undefined);
    if (reason) return message('It contains {0}. {1}', path, reason);
  }
  return undefined;
}

async function scriptsReason(file: ResolvedPath, path: string): Promise<LocalizedMessage | undefined> {
  if (!/(^|\/)package\.json$/i.test(path)) return undefined;
  const text = (await readEntry(file, path)).toString('utf8');
  return hasInstallScriptChange(path, text, null) ? runsOnInstallReason : undefined;
}

// Returns all entries for undo; folders only if no other entry recreates them.
async function contentsOf(file: ResolvedPath, entries: readonly TreeEntry[]): Promise<RemovedEntry[]> {
  const removed: RemovedEntry[] = [];
  for (const { path, kind, mode, target } of entries) {
    const relativePath = path === '' ? file.relative : `${file.relative}/${path}`;
    if (kind === 'file') removed.push({ path: relativePath, kind, mode, content: await readEntry(file, path) });
    else if (kind === 'link') removed.push({ path: relativePath, kind, mode, content: Buffer.from(target!) });
    else if (kind === 'folder' && !entries.some((other) => isIn(path, other.path)))
      removed.push({ path: relativePath, kind, mode, content: Buffer.alloc(0) });
  }
  return removed;
}

const isIn = (folder: string, path: string) => path !== folder && (folder === '' || path.startsWith(`${folder}/`));

async function readEntry(file: ResolvedPath, path: string): Promise<Buffer> {
  const real = path === '' ? file.path : paths.join(file.path, path);
  const { handle, stats } = await openForReading({ ...file, path: real, relative: `${file.relative}/${path}` });
  try {
    if (stats.size > maxBytes) throw tooMuch(file, stats.size);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

function listed(below: readonly TreeEntry[]): LocalizableText {
  const names = below.map(({ path, kind }) =>
    kind === 'folder' ? `${path}/` : kind === 'link' ? message('{0} (link)', path) : path,
  );
  const more = names.length > 10 ? [message('… and {0} more', names.length - 10)] : [];
  return joinLocalizableTexts([...names.slice(0, 10), ...more], '\n');
}

const size = (bytes: number): LocalizedMessage =>
  bytes < 1000
    ? localizedCount(bytes, 'byte')
    : bytes < 1_000_000
      ? message('{0} KB', Math.round(bytes / 1000))
      : message('{0} MB', (bytes / 1_000_000).toFixed(1));
