import { realpath } from 'node:fs/promises';
import * as paths from 'node:path';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { collectIncludedFiles } from '../policy/includes.ts';
import { readRegularFile } from './regularFile.ts';

const maxBytes = 256 * 1024;

/**
 * Returns the reason to always approve a change of this file (real path): the `CLAUDE.md` of an open folder includes the file, so agents
 * receive the text. Undefined for other files.
 */
export async function includedInstructionApprovalReason(
  roots: readonly string[],
  file: string,
): Promise<LocalizedMessage | undefined> {
  for (const root of roots) {
    const read = async (path: string) => {
      const real = await realpath(path).catch(() => path);
      const text = await readRegularFile(real, maxBytes).catch(() => undefined);
      return text && { path: real, text: text.toString('utf8') };
    };
    const start = await read(paths.join(root, 'CLAUDE.md'));
    if (!start) continue;
    let named = false;
    await collectIncludedFiles(start, async (spelled, from) => {
      const at = paths.resolve(paths.dirname(from.path), spelled);
      const real = await realpath(at).catch(() => at); // a missing file may be created later
      named ||= real === file;
      return named || !isInside(roots, real) ? undefined : read(real);
    });
    if (named) return message('CLAUDE.md includes it, so it instructs agents, this one included.');
  }
  return undefined;
}

const isInside = (roots: readonly string[], path: string) => roots.some((root) => path.startsWith(root + paths.sep));
