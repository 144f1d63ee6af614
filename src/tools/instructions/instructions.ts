import { join } from 'node:path';
import type { WorkspaceInstructionFile } from '../../protocol/content/instructions.ts';
import { createGlobMatcher } from '../core/glob.ts';
import { openFolderRoots } from '../core/workspace.ts';
import { collectIncludedFiles, isOnlyIncludes } from '../policy/includes.ts';
import { resolvePath } from '../sandbox/paths.ts';
import {
  type FoundInstructionFile,
  type InstructionLookup,
  instructionFilesBelow,
  readInstructionFile,
  readRelativeInstruction,
} from './files.ts';
import { splitFrontmatter } from './header.ts';
import type { Skill } from './skillList.ts';
import { findSkills, loadSkillListInstruction } from './skills.ts';

/** Instructions of the open folders for agents. Unreadable files are skipped; nothing throws. */
export interface WorkspaceInstructions {
  /** Nothing is read in an untrusted workspace. */
  readonly trusted: boolean;
  everywhere(): Promise<WorkspaceInstructionFile[]>;
  /** Returns instructions for these files: the nearest `AGENTS.md` below the workspace folder, and files with a matching glob. */
  near(paths: readonly string[]): Promise<WorkspaceInstructionFile[]>;
}

// Adds the skills that the user can call by name; none in an untrusted workspace.
interface InstructionsAndSkills extends WorkspaceInstructions {
  skills(): Promise<Skill[]>;
}

// File of `.github/instructions`. `globs` selects files; empty means files that the user shows to the model.
interface Scoped extends WorkspaceInstructionFile {
  root: string;
  globs: string[];
}

export function workspaceInstructions(looking: InstructionLookup): InstructionsAndSkills {
  const { workspace } = looking;
  const folders = () => openFolderRoots(workspace.roots);
  const roots = () => folders().map(({ path }) => path);
  let scoped: Scoped[] | undefined;
  const readScoped = async () => (await Promise.all(folders().map(({ path }) => scopedIn(looking, path)))).flat();

  return {
    get trusted() {
      return workspace.trusted;
    },
    async everywhere() {
      if (!workspace.trusted) return [];
      const each = async (read: (root: string) => Promise<WorkspaceInstructionFile[]>) =>
        (await Promise.all(folders().map(({ path }) => read(path)))).flat();
      scoped = await readScoped();
      return eachOnce([
        ...(await each(async (root) => asInstructions(await readInstructionFile(looking, join(root, 'AGENTS.md'))))),
        ...(await each((root) => claudeIn(looking, root))),
        ...(await each(async (root) =>
          asInstructions(await readInstructionFile(looking, join(root, '.github', 'copilot-instructions.md'))),
        )),
        ...scoped.filter(({ globs }) => globs.some(isEverything)).map(({ path, text }) => ({ path, text })),
        ...(await loadSkillListInstruction(looking, roots())),
      ]);
    },
    skills: async () => (workspace.trusted ? findSkills(looking, roots()) : []),
    async near(paths) {
      if (!workspace.trusted || paths.length === 0) return [];
      scoped ??= await readScoped();
      const found = new Map<string, WorkspaceInstructionFile>();
      for (const path of paths) {
        const resolved = await resolvePath(workspace.roots, path, 'search').catch(() => undefined);
        if (!resolved || resolved.mount) continue;
        const nearest = await nearestAgents(looking, resolved.relative, resolved.kind === 'folder');
        const byGlob = scoped.filter((one) => !one.globs.some(isEverything) && matches(one, resolved.path));
        for (const { path, text, scope } of [...(nearest ? [nearest] : []), ...byGlob])
          found.set(path, { path, text, ...(scope !== undefined && { scope }) });
      }
      return [...found.values()];
    },
  };
}

const asInstructions = (...found: (FoundInstructionFile | undefined)[]): WorkspaceInstructionFile[] =>
  found.flatMap((one) => (one && one.text.trim() !== '' ? [{ path: one.path, text: one.text.trim() }] : []));

async function claudeIn(looking: InstructionLookup, root: string): Promise<WorkspaceInstructionFile[]> {
  const file = await readInstructionFile(looking, join(root, 'CLAUDE.md'));
  if (!file) return [];
  const more = await collectIncludedFiles(file, (spelled, from) => readRelativeInstruction(looking, spelled, from));
  return asInstructions(...(isOnlyIncludes(file.text) ? [] : [file]), ...more);
}

async function scopedIn(looking: InstructionLookup, root: string): Promise<Scoped[]> {
  const files = await instructionFilesBelow(looking, join(root, '.github', 'instructions'));
  const found = await Promise.all(
    files.filter((file) => file.endsWith('.instructions.md')).map((file) => readInstructionFile(looking, file)),
  );
  return found.flatMap((one) => {
    const { head, body } = splitFrontmatter(one?.text ?? '');
    const globs = parseGlobList(head.applyTo ?? '');
    if (!one || body.trim() === '' || globs.length === 0) return [];
    return [{ path: one.path, text: body.trim(), scope: globs.join(', '), root, globs }];
  });
}

export const parseGlobList = (list: string): string[] =>
  [...list.matchAll(/(?:\{[^}]*\}|[^,{])+/g)].map(([glob]) => glob.trim()).filter(Boolean);

const isEverything = (glob: string): boolean => /^(\*\*\/?)*\*{1,2}$/.test(glob);

function matches({ root, globs }: Scoped, path: string): boolean {
  if (!path.startsWith(root)) return false;
  const below = path.slice(root.length + 1).replaceAll('\\', '/');
  return globs.some((glob) => {
    try {
      return createGlobMatcher(glob)(below);
    } catch {
      return false; // the glob points out of the folder
    }
  });
}

async function nearestAgents(
  looking: InstructionLookup,
  path: string,
  isFolder: boolean,
): Promise<WorkspaceInstructionFile | undefined> {
  const names = path.split('/').slice(0, isFolder ? undefined : -1);
  const top = openFolderRoots(looking.workspace.roots).length > 1 ? 1 : 0;
  for (let depth = names.length; depth > top; depth--) {
    const folder = names.slice(0, depth).join('/');
    const found = await readInstructionFile(looking, `${folder}/AGENTS.md`);
    if (found && found.text.trim() !== '') return { path: found.path, text: found.text.trim(), scope: `${folder}/` };
  }
  return undefined;
}

function eachOnce(instructions: readonly WorkspaceInstructionFile[]): WorkspaceInstructionFile[] {
  const texts = new Set<string>();
  return instructions.filter(({ text }) => !texts.has(text) && texts.add(text));
}
