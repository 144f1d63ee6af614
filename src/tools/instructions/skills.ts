import { basename, dirname, join } from 'node:path';
import type { Instruction } from '../../protocol/instructions.ts';
import { shortened, visibleLine } from '../../protocol/visible.ts';
import { filesBelow, type Looking, readFound } from './files.ts';
import { headed } from './header.ts';

const folders = ['.github/skills', '.claude/skills', '.agents/skills'];
const [mostSkills, longestName, longestDescription] = [60, 64, 240];

/** The skills of the open folders, as one list: what each is called, what it is for, and its file, which has the rest. */
export async function skillsIn(looking: Looking, roots: readonly string[]): Promise<Instruction[]> {
  const files: string[] = [];
  for (const folder of roots.flatMap((root) => folders.map((folder) => join(root, folder))))
    for (const file of await filesBelow(looking, folder)) if (basename(file) === 'SKILL.md') files.push(file);
  const lines: string[] = [];
  const names = new Set<string>();
  for (const file of files.slice(0, mostSkills)) {
    const found = await readFound(looking, file);
    if (!found) continue;
    const { name = '', description = '' } = headed(found.text).head;
    const called = line(name || basename(dirname(file)), longestName);
    if (description === '' || names.has(called)) continue; // nobody could know when it is meant; the same in another folder
    names.add(called);
    lines.push(`- ${called} (${found.path}): ${line(description, longestDescription)}`);
  }
  return lines.length === 0 ? [] : [{ path: 'skills', kind: 'skills', text: lines.join('\n') }];
}

const line = (text: string, most: number) => shortened(visibleLine(text.trim()), most);
