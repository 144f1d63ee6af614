import { homedir, tmpdir } from 'node:os';
import * as paths from 'node:path';
import type { WorkspaceRoot } from '../core/workspace.ts';
import { secretReason } from '../policy/secretFiles.ts';
import { realRootsOf } from '../sandbox/paths.ts';
import { programOf, readShell } from '../shellSyntax/shellWords.ts';
import { programFolders } from './readOnlyPrograms.ts';

/** Whether a file (absolute, outside of the open folders) was made by a command of this run, as `shell/seenOutputFiles.ts` knows it. */
export type IsOutput = (path: string) => Promise<boolean>;

/** Folders for files that nobody misses. */
export const temporaryFolders = (): string[] => [...new Set([paths.resolve(tmpdir()), '/tmp'])];

/** Directly in such a folder, named as a file is that somebody else is to look at: `/tmp/server.log`. */
export const isOutputName = (path: string): boolean =>
  /^\/[\w./-]+$/.test(path) &&
  paths.normalize(path) === path &&
  temporaryFolders().includes(paths.dirname(path)) &&
  /^[A-Za-z0-9][\w-]*(\.[\w-]+)+$/.test(paths.basename(path)) &&
  secretReason(path.split('/')) === undefined;

/**
 * The files for temporary use that a command says it writes its output to, by a redirection or `tee`, spelled out to the last letter.
 * None where it names anything else outside of the open folders, or a variable of the environment: what is read there is another
 * question than what the command says. It may name one that it never writes: whether it made it, the disk has to show.
 * @param folder absolute and real
 */
export async function outputFilesOf(
  roots: readonly WorkspaceRoot[],
  folder: string,
  command: string,
): Promise<string[]> {
  if (process.platform === 'win32') return [];
  const written = readShell(command, { home: homedir(), platform: process.platform })
    .filter(({ nested }) => !nested)
    .flatMap(({ words, writes }) => {
      const at = words.findIndex((word) => programOf(word) === 'tee');
      return [...writes, ...(at < 0 ? [] : words.slice(at + 1))];
    });
  const outputs = [...new Set(written)].filter(isOutputName);
  if (outputs.length === 0 || elsewhere.test(command)) return [];
  const inside = (await realRootsOf(roots)).flatMap(({ path, realPath }) => [path, realPath]);
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

/** Variables of the environment, and `cd` to where nothing is said of: the home, or where one came from. */
const elsewhere = /\$\{?[A-Z_]|\b(cd|pushd|popd)[ \t]*(-[ \t]*)?($|[;&|\n)])/;
const harmless = new RegExp(`^/dev/(null|stdin|stdout|stderr)$|^(${programFolders.join('|')})/[\\w.+-]+$`);
