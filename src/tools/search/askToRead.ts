import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import type { ToolCallPlan, ToolContext } from '../core/tool.ts';
import { openFolderRoots, type Workspace } from '../core/workspace.ts';
import { mayContainSecretsReason } from '../policy/secretFiles.ts';
import { maxTextFileBytes } from '../sandbox/fileText.ts';
import type { ResolvedPath } from '../sandbox/paths.ts';
import { resolvePathForReading } from '../sandbox/resolveReadPath.ts';
import { headContainsSecrets } from '../sandbox/secretContent.ts';
import { workspacePathOfUri } from '../sandbox/virtual.ts';
import { isWholeWorkspacePath } from './searchRoots.ts';

/**
 * Returns the plan for a read that needs an approval; undefined if free. The plan has no grant, so each read is approved separately. The
 * path is checked again at the read.
 */
export async function planReadApproval(
  path: string | undefined,
  operation: 'read' | 'list' | 'search',
  context: ToolContext,
  run: (context: ToolContext) => Promise<unknown>,
): Promise<ToolCallPlan | undefined> {
  const { roots, virtual } = context.workspace;
  if (virtual && isWholeWorkspacePath(path)) return undefined; // contains only folders
  const folders = openFolderRoots(roots);
  const inputs = isWholeWorkspacePath(path) && folders.length > 1 ? folders.map((root) => root.path) : [path ?? '.'];
  for (const input of inputs) {
    const file = await resolvePathForReading(context.workspace, input, operation);
    const why = file.protected ?? (await unsavedReason(context.workspace, file, operation));
    if (why)
      return { what: message(phrases[operation], file.relative), where: file.path, why, paths: [file.relative], run };
  }
  return undefined;
}

// Returns the reason for secrets in text that is not on disk: unsaved text, and files of virtual folders.
async function unsavedReason(
  { virtual, openText }: Workspace,
  { path, kind, size }: ResolvedPath,
  operation: 'read' | 'list' | 'search',
): Promise<LocalizedMessage | undefined> {
  if (operation !== 'read' || kind !== 'file') return undefined;
  const isVirtual = virtual && workspacePathOfUri(virtual, path) !== undefined;
  const content = openText(path) ?? (isVirtual && size <= maxTextFileBytes ? await virtual.read(path) : '');
  return headContainsSecrets(content) ? mayContainSecretsReason : undefined;
}

const phrases = { read: 'Read {0}', list: 'List {0}', search: 'Search {0}' } as const;
