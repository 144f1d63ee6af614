import * as vscode from 'vscode';
import { linesWithoutEndings } from '../../tools/sandbox/fileText.ts';
import type { GitExtension, WatchedRepository } from './git.ts';

export function activeGitApi(): ReturnType<GitExtension['getAPI']> | undefined {
  const git = vscode.extensions.getExtension<GitExtension>('vscode.git');
  return git?.isActive && git.exports.enabled ? git.exports.getAPI(1) : undefined;
}

/** Cache for the question if a file's content is committed. Asks Git once per new commit, and for a file only if the commit is newer. */
export class FileCommitStatusCache implements vscode.Disposable {
  private readonly watches: vscode.Disposable[] = [];
  /** Latest commit by repository root, with its time (epoch milliseconds). */
  private readonly heads = new Map<string, { commit: string | undefined; at: Promise<number> }>();
  private watchesGit = false;

  constructor(private readonly changed: () => void) {}

  dispose(): void {
    for (const one of this.watches.splice(0)) one.dispose();
  }

  /** @param since time of the file's change (epoch milliseconds): earlier commits are ignored */
  async has(file: string, text: string | null, since: number): Promise<boolean> {
    const git = activeGitApi();
    if (git && !this.watchesGit) this.watches.push(git.onDidOpenRepository(this.changed));
    this.watchesGit ||= git !== undefined;
    const repository = git?.getRepository(vscode.Uri.file(file));
    if (!repository || (await this.newest(repository)) + 999 < since) return false; // Git counts whole seconds
    const committed = await repository.show('HEAD', file).catch(() => null);
    if (committed === null || text === null) return committed === text;
    return linesWithoutEndings(committed).join('\n') === linesWithoutEndings(text).join('\n');
  }

  private newest(repository: WatchedRepository): Promise<number> {
    const root = repository.rootUri.toString();
    const { state } = repository;
    const known = this.heads.get(root);
    if (!known)
      this.watches.push(
        state.onDidChange(() => {
          if (state.HEAD?.commit !== this.heads.get(root)?.commit) this.changed();
        }),
      );
    if (known && known.commit === state.HEAD?.commit) return known.at;
    const at = repository.log({ maxEntries: 1 }).then(
      ([commit]) => commit?.commitDate?.getTime() ?? 0,
      () => 0, // no commit yet
    );
    this.heads.set(root, { commit: state.HEAD?.commit, at });
    return at;
  }
}
