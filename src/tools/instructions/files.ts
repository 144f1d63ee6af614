import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { visibleProse } from '../../protocol/text/escapeInvisible.ts';
import type { Workspace } from '../core/workspace.ts';
import { currentText } from '../sandbox/fileText.ts';
import { resolvePath } from '../sandbox/paths.ts';

/** Characters of a file that are looked at: more than any model is sent of it. */
const mostCharacters = 64_000;
const [mostFiles, mostDepth] = [100, 3];

/** A file that speaks to agents: what it is called, and where it really is. */
export interface FoundFile {
  path: string;
  real: string;
  text: string;
}

/** Where such files are looked for, and which of them a rule of the person's keeps from being read without a question. */
export interface InstructionLookup {
  workspace: Workspace;
  isKept(path: string): boolean;
}

/**
 * The text of a file that goes to the model unasked: read as by a tool, so neither through a link that leads out of the workspace, nor a
 * secret, nor what a rule keeps. Undefined where there is none.
 */
export async function readFound(
  { workspace, isKept }: InstructionLookup,
  path: string,
): Promise<FoundFile | undefined> {
  try {
    const file = await resolvePath(workspace.roots, path, 'read');
    if (file.protected || file.mount || isKept(file.relative)) return undefined;
    const { text } = await currentText(workspace, file);
    return { path: file.relative, real: file.path, text: visibleProse(text.slice(0, mostCharacters)) };
  } catch {
    return undefined;
  }
}

/** As a file spells it: from its own folder. */
export const readBeside = (
  looking: InstructionLookup,
  spelled: string,
  from: FoundFile,
): Promise<FoundFile | undefined> => readFound(looking, join(dirname(from.real), spelled));

/** Paths of the files below a folder, in order, a few levels deep; links are not followed. */
export async function instructionFilesBelow({ workspace }: InstructionLookup, folder: string): Promise<string[]> {
  const found: string[] = [];
  const go = async (path: string, depth: number): Promise<void> => {
    const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (found.length >= mostFiles) return;
      const below = join(path, entry.name);
      if (entry.isFile()) found.push(below);
      else if (entry.isDirectory() && depth < mostDepth) await go(below, depth + 1);
    }
  };
  const place = await resolvePath(workspace.roots, folder, 'list').catch(() => undefined);
  if (place) await go(place.path, 1);
  return found;
}
