import { join } from 'node:path';
import { resolvePath } from '../gate/paths.ts';
import { foldersOf, type Workspace } from '../workspace.ts';
import { currentText } from './text.ts';

/**
 * Text of the first folder's AGENTS.md, when the workspace is trusted. It goes to the model unasked, so it is read like any
 * other file: not through a link that leads out of the workspace, or to a secret in it.
 */
export async function workspaceInstructions(workspace: Workspace): Promise<string | undefined> {
  const [root] = foldersOf(workspace.roots);
  if (!root || !workspace.trusted) return undefined;
  try {
    const file = await resolvePath(workspace.roots, join(root.path, 'AGENTS.md'), 'read');
    return file.protected ? undefined : (await currentText(workspace, file)).text;
  } catch {
    return undefined; // there is none, or none that may be read
  }
}
