import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import * as paths from 'node:path';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';

/**
 * Returns the reason to approve an access to an absolute path in the user's home: hidden files there are settings, history or accounts.
 * `written`: a command changes the path; `started`: a command runs the program. Installed programs and their data may be run and read.
 */
export async function homePathApprovalReason(
  path: string,
  home: string,
  { written, started, platform }: { written: boolean; started: boolean; platform: string },
): Promise<LocalizedMessage | undefined> {
  const style = platform === 'win32' ? paths.win32 : paths.posix;
  for (const one of new Set([home, await realpath(home).catch(() => home)])) {
    const below = style.relative(one, path);
    const [first = '', ...rest] = below.split(style.sep);
    const own = /^\.(?!\.?$)/.test(first) || /^(Library|AppData)$/i.test(first);
    if (!own || style.isAbsolute(below)) continue;
    const ofPrograms = first === '.cache' || rest.some((name) => programFolders.has(name.toLowerCase()));
    if (!written && (started || ofPrograms)) return undefined;
    return message('It names {0}, which belongs to you and not to the workspace.', `~/${below.replaceAll('\\', '/')}`);
  }
  return undefined;
}

/** Returns an absolute path as users write it: `~/.cache` for a path in the home folder. */
export const abbreviateHome = (path: string, home = homedir()): string =>
  path.startsWith(`${home}${paths.sep}`) ? `~${path.slice(home.length)}` : path;

const programFolders = new Set(
  'bin shims lib versions toolchains installs candidates cache caches _cacache registry repository packages sdk envs wrapper'.split(
    ' ',
  ),
);
