import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { escapeInvisibleProse } from '../../protocol/text/escapeInvisible.ts';
import type { Workspace } from '../core/workspace.ts';
import { readCurrentText } from '../sandbox/fileText.ts';
import { resolvePath } from '../sandbox/paths.ts';

const maxCharacters = 64_000;
const [maxFiles, maxDepth] = [100, 3];

export interface FoundInstructionFile {
  path: string;
  real: string;
  text: string;
}

export interface InstructionLookup {
  workspace: Workspace;
  isExcluded(path: string): boolean;
}

/**
 * Reads a file that is sent to the model without a request, with the checks of a tool: no link out of the workspace, no secret, no
 * protected file. Undefined if there is none.
 */
export async function readInstructionFile(
  { workspace, isExcluded }: InstructionLookup,
  path: string,
): Promise<FoundInstructionFile | undefined> {
  try {
    const file = await resolvePath(workspace.roots, path, 'read');
    if (file.protected || file.mount || isExcluded(file.relative)) return undefined;
    const { text } = await readCurrentText(workspace, file);
    return { path: file.relative, real: file.path, text: escapeInvisibleProse(text.slice(0, maxCharacters)) };
  } catch {
    return undefined;
  }
}

export const readRelativeInstruction = (
  looking: InstructionLookup,
  spelled: string,
  from: FoundInstructionFile,
): Promise<FoundInstructionFile | undefined> => readInstructionFile(looking, join(dirname(from.real), spelled));

/** Returns the paths of files below a folder, sorted, a few levels deep. Links are not followed. */
export async function instructionFilesBelow({ workspace }: InstructionLookup, folder: string): Promise<string[]> {
  const found: string[] = [];
  const go = async (path: string, depth: number): Promise<void> => {
    const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (found.length >= maxFiles) return;
      const below = join(path, entry.name);
      if (entry.isFile()) found.push(below);
      else if (entry.isDirectory() && depth < maxDepth) await go(below, depth + 1);
    }
  };
  const resolved = await resolvePath(workspace.roots, folder, 'list').catch(() => undefined);
  if (resolved) await go(resolved.path, 1);
  return found;
}
