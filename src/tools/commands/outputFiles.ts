import { homedir, tmpdir } from 'node:os';
import * as paths from 'node:path';
import type { WorkspaceRoot } from '../core/workspace.ts';
import { secretFileReason } from '../policy/secretFiles.ts';
import { resolveWorkspaceRoots } from '../sandbox/paths.ts';
import { commandProgramName, parseShellCommandSegments } from '../shellSyntax/shellWords.ts';
import { systemProgramFolders } from './readOnlyPrograms.ts';

/** Tests if a file (absolute, outside of the open folders) was created by a command of this run; see `shell/seenOutputFiles.ts`. */
export type CommandOutputFilePredicate = (path: string) => Promise<boolean>;

export const temporaryFolders = (): string[] => [...new Set([paths.resolve(tmpdir()), '/tmp'])];

export const isTemporaryLogPath = (path: string): boolean =>
  /^\/[\w./-]+$/.test(path) &&
  paths.normalize(path) === path &&
  temporaryFolders().includes(paths.dirname(path)) &&
  /^[A-Za-z0-9][\w-]*(\.[\w-]+)+$/.test(paths.basename(path)) &&
  secretFileReason(path.split('/')) === undefined;

/**
 * Returns the temporary files to which a command visibly writes its output, by a redirection or `tee` with a literal path. Empty if the
 * command names anything else outside of the open folders, or an environment variable. The command may still never write the file; the disk
 * must prove the creation.
 * @param folder absolute and real
 */
export async function commandOutputFiles(
  roots: readonly WorkspaceRoot[],
  folder: string,
  command: string,
): Promise<string[]> {
  if (process.platform === 'win32') return [];
  const written = parseShellCommandSegments(command, { home: homedir(), platform: process.platform })
    .filter(({ nested }) => !nested)
    .flatMap(({ words, writes }) => {
      const at = words.findIndex((word) => commandProgramName(word) === 'tee');
      return [...writes, ...(at < 0 ? [] : words.slice(at + 1))];
    });
  const outputs = [...new Set(written)].filter(isTemporaryLogPath);
  if (outputs.length === 0 || elsewhere.test(command)) return [];
  const inside = (await resolveWorkspaceRoots(roots)).flatMap(({ path, realPath }) => [path, realPath]);
  const isInside = (path: string) => inside.some((root) => path === root || path.startsWith(`${root}/`));
  const named = command
    .replaceAll('\\', '')
    .replace(/\bhttps?:\/\/[^\s'"`|&;<>()]*/g, ' ')
    .split(/[\s'"`;|&<>(){}=,:@]+/)
    .map((word) => word.replace(/^-+\w*(?=[/~])/, ''))
    .filter((word) => /^[/~]|(^|\/)\.\.(\/|$)/.test(word));
  const isHarmless = (word: string) =>
    outputs.includes(word) || harmless.test(word) || (!word.startsWith('~') && isInside(paths.resolve(folder, word)));
  return named.every(isHarmless) ? outputs : [];
}

// Environment variables, and `cd` to the home or the previous folder.
const elsewhere = /\$\{?[A-Z_]|\b(cd|pushd|popd)[ \t]*(-[ \t]*)?($|[;&|\n)])/;
const harmless = new RegExp(`^/dev/(null|stdin|stdout|stderr)$|^(${systemProgramFolders.join('|')})/[\\w.+-]+$`);
