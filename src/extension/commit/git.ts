import type * as vscode from 'vscode';
import { message } from '../../protocol/text/l10n.ts';
import { UserFacingError } from '../../protocol/text/localized.ts';

// What is used of the editor's own Git extension: its public API, version 1 (`extensions/git/src/api/git.d.ts` of VS Code).

export interface GitChange {
  /** Where the file is now, and where it was. */
  readonly uri: vscode.Uri;
  readonly originalUri: vscode.Uri;
  /** A `const enum`; `commitChanges.ts` has what matters of it. */
  readonly status: number;
}

export interface CommitRepository {
  readonly rootUri: vscode.Uri;
  /** The box above the changes. */
  readonly inputBox: { value: string };
  readonly state: {
    readonly indexChanges: readonly GitChange[];
    readonly workingTreeChanges: readonly GitChange[];
    readonly mergeChanges: readonly GitChange[];
    /** Where the person has them apart (`git.untrackedChanges`); else they are in the working tree's. */
    readonly untrackedChanges: readonly GitChange[];
  };
  /** Looks anew at what has changed; `state` says it then. */
  status(): Promise<void>;
  /** What is staged of a path. It is a pathspec: signs such as `*` mean other files, too. */
  diffIndexWithHEAD(path: string): Promise<string>;
  /** What is not staged of it, whatever the name says. */
  diffWithHEAD(path: string): Promise<string>;
  log(options: {
    maxEntries: number;
  }): Promise<readonly { message: string; parents: readonly string[]; commitDate?: Date }[]>;
}

/** What is used of it beside a commit's message. */
export interface WatchedRepository extends CommitRepository {
  readonly state: CommitRepository['state'] & {
    readonly HEAD?: { readonly commit?: string };
    readonly onDidChange: vscode.Event<void>;
  };
  /** The text of a file (absolute) in a commit. */
  show(commit: string, path: string): Promise<string>;
  /** Stages what there is of these, also that they are gone. They are pathspecs. */
  add(paths: string[]): Promise<void>;
  checkIgnore(paths: string[]): Promise<Set<string>>;
}

export interface GitExtension {
  readonly enabled: boolean;
  getAPI(version: 1): {
    /** Where its program is. */
    readonly git: { readonly path: string };
    readonly state: 'uninitialized' | 'initialized';
    readonly repositories: readonly WatchedRepository[];
    readonly onDidOpenRepository: vscode.Event<unknown>;
    getRepository(uri: vscode.Uri): WatchedRepository | null;
  };
}

/** What a command of `scm/title` is called with. */
export type SourceControl = Pick<vscode.SourceControl, 'rootUri'>;

/** What is looked at for a repository. */
export interface CommitWindow {
  isTrusted: boolean;
  git?: { activate(): PromiseLike<GitExtension> };
  /** The file in the editor in front. */
  inFront?: vscode.Uri;
}

/** Why there is no repository. What names changes in a message says it to a model, too. */
class NoRepository extends UserFacingError {
  override readonly name = 'NoRepository';
}

/**
 * The repository whose button was pressed, else the only one, else that of the editor in front, and Git's own program. Throws a
 * `NoRepository`.
 */
export async function repositoryOf(
  { isTrusted, git, inFront }: CommitWindow,
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
