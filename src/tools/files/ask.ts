import { sentence } from '../../protocol/l10n.ts';
import { resolveToRead } from '../gate/anywhere.ts';
import type { Plan, ToolContext } from '../tool.ts';
import { foldersOf } from '../workspace.ts';
import { isAll } from './places.ts';

/**
 * The question for a read of a place that is not free to read; undefined when it is free. Each is asked every time, so
 * it has no grant. The path is decided again when it is read.
 */
export async function askToRead(
  path: string | undefined,
  operation: 'read' | 'list' | 'search',
  context: ToolContext,
  run: (context: ToolContext) => Promise<unknown>,
): Promise<Plan | undefined> {
  const { roots, virtual } = context.workspace;
  if (virtual && isAll(path)) return undefined; // nothing of it is more than a folder
  const folders = foldersOf(roots);
  const inputs = isAll(path) && folders.length > 1 ? folders.map((root) => root.path) : [path ?? '.'];
  for (const input of inputs) {
    const file = await resolveToRead(context.workspace, input, operation);
    if (file.protected)
      return { what: sentence(phrases[operation], file.relative), where: file.path, why: file.protected, run };
  }
  return undefined;
}

const phrases = { read: 'Read {0}', list: 'List {0}', search: 'Search {0}' } as const;
