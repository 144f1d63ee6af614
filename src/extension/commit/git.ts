import type * as vscode from 'vscode';
import { message } from '../../protocol/text/l10n.ts';
import { UserFacingError } from '../../protocol/text/localized.ts';

// Used part of the Git extension's public API, version 1 (`extensions/git/src/api/git.d.ts` of VS Code).

export interface GitChange {
  readonly uri: vscode.Uri;
  readonly originalUri: vscode.Uri;
  readonly status: number;
}

export interface CommitRepository {
  readonly rootUri: vscode.Uri;
  readonly inputBox: { value: string };
  readonly state: {
    readonly indexChanges: readonly GitChange[];
    readonly workingTreeChanges: readonly GitChange[];
    readonly mergeChanges: readonly GitChange[];
    /** Filled if the user separates them (`git.untrackedChanges`); otherwise part of the working tree changes. */
    readonly untrackedChanges: readonly GitChange[];
  };
  status(): Promise<void>;
  /** Returns the staged diff of a pathspec, in which characters like `*` match other files. */
  diffIndexWithHEAD(path: string): Promise<string>;
  /** Returns the unstaged diff, despite the name. */
  diffWithHEAD(path: string): Promise<string>;
  log(options: {
    maxEntries: number;
  }): Promise<readonly { message: string; parents: readonly string[]; commitDate?: Date }[]>;
}

export interface WatchedRepository extends CommitRepository {
  readonly state: CommitRepository['state'] & {
    readonly HEAD?: { readonly commit?: string };
    readonly onDidChange: vscode.Event<void>;
  };
  /** Returns the text of a file (absolute path) in a commit; an empty name means the index. */
  show(commit: string, path: string): Promise<string>;
  add(paths: string[]): Promise<void>;
  checkIgnore(paths: string[]): Promise<Set<string>>;
}

export interface GitExtension {
  readonly enabled: boolean;
  getAPI(version: 1): {
    readonly git: { readonly path: string };
    readonly state: 'uninitialized' | 'initialized';
    readonly repositories: readonly WatchedRepository[];
    readonly onDidOpenRepository: vscode.Event<unknown>;
    getRepository(uri: vscode.Uri): WatchedRepository | null;
  };
}

export type SourceControl = Pick<vscode.SourceControl, 'rootUri'>;

export interface RepositoryChoiceInputs {
  isTrusted: boolean;
  git?: { activate(): PromiseLike<GitExtension> };
  inFront?: vscode.Uri;
}

class NoRepository extends UserFacingError {
  override readonly name = 'NoRepository';
}

/**
 * Returns the repository of the pressed button, else the only repository, else the repository of the active editor, with the Git program.
 * Throws `NoRepository`.
 */
export async function chooseCommitRepository(
  { isTrusted, git, inFront }: RepositoryChoiceInputs,
  pressed?: SourceControl,
): Promise<{ repository: CommitRepository; program: string }> {
  if (!isTrusted) throw new NoRepository(message('Git is not used in an untrusted workspace. Trust it first.'));
  if (!git) throw new NoRepository(message("The editor's own Git extension is switched off. Enable it first."));
  const extension = await git.activate();
  if (!extension.enabled)
    throw new NoRepository(message('Git is switched off (the setting git.enabled), or not installed here.'));
  const api = extension.getAPI(1);
  if (api.state !== 'initialized')
    throw new NoRepository(message('Git is still looking for repositories. Try again in a moment.'));
  const { repositories } = api;
  if (repositories.length === 0) throw new NoRepository(message('There is no Git repository in this window.'));
  const root = pressed?.rootUri?.toString();
  const found = root
    ? repositories.find(({ rootUri }) => rootUri.toString() === root)
    : repositories.length === 1
      ? repositories[0]
      : inFront && api.getRepository(inFront);
  if (found) return { repository: found, program: api.git.path };
  if (root) throw new NoRepository(message('This repository is closed.'));
  throw new NoRepository(
    message('There are several repositories here. Use the button of one of them in Source Control.'),
  );
}
