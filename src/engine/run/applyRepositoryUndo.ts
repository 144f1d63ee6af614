import { dirname } from 'node:path';
import type { RepositoryChange } from '../../protocol/content/repositoryChange.ts';
import { message } from '../../protocol/text/l10n.ts';
import { UserFacingError } from '../../protocol/text/localized.ts';
import type { RunStore } from '../../runs/store.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import { resolvePath } from '../../tools/sandbox/paths.ts';
import {
  changeRepository,
  type PreparedRepositoryChange,
  prepareRepositoryChange,
  type RepositoryContents,
} from '../../tools/snapshot/restoreRepository.ts';
import { type RepositoryUndo, reverseRepositoryChange } from './planRepositoryUndo.ts';

/**
 * Effect of an undo on a repository, for the confirmation. `branches` move from a commit to another; null: no branch. `head`: branch or
 * commit that is checked out again; `pushed`: remotes whose pushes stay.
 */
export interface RepositoryUndoPreview {
  path: string;
  branches: { name: string; from: string | null; to: string | null }[];
  head?: string;
  pushed: string[];
}

export interface PreparedRepositoryUndo extends RepositoryUndo {
  prepared: PreparedRepositoryChange;
}

interface Parts {
  store: RunStore;
  workspace: Workspace;
}

/** Checks that a repository can be changed. Throws `UserFacingError` if something else has changed it since. */
export async function prepareRepositoryUndo(
  { store, workspace }: Parts,
  runId: string,
  undo: RepositoryUndo,
): Promise<PreparedRepositoryUndo> {
  if (undo.isBroken) throw new UserFacingError(message('Something else changed it between these commands.'));
  const folder = await resolveTree(workspace, undo.change.path);
  const trees = new Map<string, string>();
  for (const { name, isLink } of undo.change.files) if (isLink) trees.set(name, await resolveTree(workspace, name));
  const location = { folder, trees };
  return { ...undo, prepared: await prepareRepositoryChange(location, undo.change, contentsOf(store, runId)) };
}

/** Returns the folder of a `.git`, which may be missing. Throws if a link leads elsewhere by now. */
async function resolveTree({ roots }: Workspace, git: string): Promise<string> {
  const folder = dirname(git);
  const found = await resolvePath(roots, folder, 'list').catch(() => resolvePath(roots, folder, 'mkdir'));
  if (found.relative !== folder) throw new UserFacingError(message('Something else is there now.'));
  return found.path;
}

/** Applies a prepared change and returns it as it was done. */
export const applyRepositoryUndo = (
  { store }: Parts,
  runId: string,
  { prepared }: PreparedRepositoryUndo,
): Promise<RepositoryChange> => changeRepository(prepared, contentsOf(store, runId), `Towpath: undo in ${runId}`);

const contentsOf = ({ contents }: RunStore, runId: string): RepositoryContents => ({
  read: (id) => contents.readBytes(runId, id),
  store: (content) => contents.keep(runId, content),
});

const branchPrefix = 'refs/heads/';

export function previewRepositoryUndo({ change, pushed, prepared }: PreparedRepositoryUndo): RepositoryUndoPreview {
  const content = prepared.files
    .find((one) => one.change.name === 'HEAD')
    ?.content?.toString('utf8')
    .trim();
  const head = content?.replace(/^ref: (refs\/heads\/)?/, '');
  const branches = prepared.refs.filter(({ name }) => name.startsWith(branchPrefix));
  return {
    path: change.path,
    branches: branches.map(({ name, before, after }) => ({
      name: name.slice(branchPrefix.length),
      from: before,
      to: after,
    })),
    ...(head && { head }),
    pushed,
  };
}

/** The commits of an undo are known, so that nothing is checked for what was built on them. */
export function redoOfRepositoryUndo(undone: RepositoryChange): RepositoryChange {
  const change = reverseRepositoryChange(undone);
  return { ...change, refs: change.refs.map(({ isNew: _, ...one }) => one) };
}
