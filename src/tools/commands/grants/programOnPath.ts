import { constants } from 'node:fs';
import { access, realpath } from 'node:fs/promises';
import * as paths from 'node:path';
import type { WorkspaceRoot } from '../../core/workspace.ts';
import { realRootsOf } from '../../sandbox/paths.ts';

export type OnPath =
  | {
      in: 'system';
      /** A version manager's shim; the folder determines the program. */
      shimmed?: true;
    }
  | { in: 'project'; folder: string };

/** Finds a program like a shell in `folder` (absolute and real). A missing program counts as a system program, because it cannot start. */
export async function onPath(program: string, folder: string, roots: readonly WorkspaceRoot[]): Promise<OnPath> {
  const open = (await realRootsOf(roots)).flatMap(({ path, realPath }) => [path, realPath]);
  const isOpen = (path: string) => open.some((root) => path === root || path.startsWith(`${root}/`));
  for (const entry of (process.env.PATH ?? '').split(paths.delimiter)) {
    const place = paths.resolve(folder, entry);
    const file = paths.join(place, program);
    if (!(await isExecutable(file))) continue;
    if (isOpen(place)) return { in: 'project', folder: place };
    const real = await realpath(file).catch(() => file);
    if (isOpen(real)) return { in: 'project', folder: paths.dirname(real) };
    return { in: 'system', ...(/(^|\/)\.?shims$/.test(place) && { shimmed: true }) };
  }
  return { in: 'system' };
}

const isExecutable = (file: string): Promise<boolean> =>
  access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
