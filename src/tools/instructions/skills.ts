import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { WorkspaceInstructionFile } from '../../protocol/content/instructions.ts';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { truncateWithEllipsis } from '../../protocol/text/shorten.ts';
import { resolvePath } from '../sandbox/paths.ts';
import { type InstructionLookup, readInstructionFile } from './files.ts';
import { splitFrontmatter } from './header.ts';
import { formatSkillList, type Skill } from './skillList.ts';

const folders = ['.github/skills', '.claude/skills', '.agents/skills'];
const [longestName, longestDescription] = [64, 240];
const [maxFolders, maxDepth] = [1000, 3];

/** Finds the skills of the open folders: each folder with a `SKILL.md`. The first of equal texts counts. */
export async function findSkills(looking: InstructionLookup, roots: readonly string[]): Promise<Skill[]> {
  const skillFolders = roots.flatMap((root) => folders.map((folder) => join(root, folder)));
  const files = (await Promise.all(skillFolders.map((skillFolder) => skillFiles(looking, skillFolder)))).flat();
  const texts = new Set<string>();
  const found = await Promise.all(files.map((file) => readInstructionFile(looking, file)));
  return found.flatMap((file) => {
    if (!file || texts.has(file.text)) return [];
    texts.add(file.text);
    const { name = '', description = '' } = splitFrontmatter(file.text).head;
    const called = line(name || basename(dirname(file.path)), longestName);
    return [{ name: called, path: file.path, description: line(description, longestDescription) }];
  });
}

export async function loadSkillListInstruction(
  looking: InstructionLookup,
  roots: readonly string[],
): Promise<WorkspaceInstructionFile[]> {
  const skills = await findSkills(looking, roots);
  return skills.length === 0 ? [] : [{ path: 'skills', kind: 'skills', text: formatSkillList(skills) }];
}

/**
 * Returns the `SKILL.md` files below a folder, sorted. A skill folder is not searched for nested skills. Links are resolved later by the
 * reader.
 */
async function skillFiles({ workspace }: InstructionLookup, folder: string): Promise<string[]> {
  const resolved = await resolvePath(workspace.roots, folder, 'list').catch(() => undefined);
  if (!resolved) return [];
  const found: string[] = [];
  let searched = 0;
  const search = async (path: string, depth: number): Promise<void> => {
    const entries: Dirent[] = await readdir(path, { withFileTypes: true }).catch(() => []);
    const file = join(path, 'SKILL.md');
    if (depth > 0 && entries.some(({ name }) => name === 'SKILL.md')) return void found.push(file);
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const below = join(path, entry.name);
      const isSearched = entry.isDirectory() && depth < maxDepth && searched++ < maxFolders;
      if (isSearched) await search(below, depth + 1);
      else if (entry.isDirectory() || entry.isSymbolicLink()) found.push(join(below, 'SKILL.md'));
    }
  };
  await search(resolved.path, 0);
  return found;
}

const line = (text: string, most: number) => truncateWithEllipsis(escapeInvisibleInLine(text.trim()), most);
