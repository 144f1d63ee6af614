import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import * as paths from 'node:path';
import { disablingFilters, isolatedGit } from '../../core/isolatedGit.ts';

/** File that differs from the repository: absolute path, and the state codes of the index and of the file as in `git status`. */
export interface GitStatusEntry {
  index: string;
  file: string;
  path: string;
}

// Maximum bytes of Git output.
const maxAnswer = 4_000_000;

/** Returns the folder with the `.git` of a path (absolute); undefined if there is none. */
export function findGitRepositoryRoot(path: string): string | undefined {
  for (let top = path; ; top = paths.dirname(top)) {
    if (existsSync(paths.join(top, '.git'))) return top;
    if (paths.dirname(top) === top) return undefined;
  }
}

/**
 * Git queries about one repository. Nothing of the repository runs: no hooks, filters, file system monitor, external diff or transport for
 * missing objects; nothing is locked or written. Each query throws if Git fails.
 */
export class IsolatedGitRepository {
  private filters?: Promise<string[]>;

  constructor(
    readonly top: string,
    private readonly signal: AbortSignal,
  ) {}

  /** Returns the changes below absolute paths; untracked folders are expanded to their files, except ignored files. */
  changesOf(files: readonly string[]): Promise<GitStatusEntry[]> {
    return this.status(this.top, ['--', ...files.map(this.pathspec)]);
  }

  async changes(folder: string, pathspecs: readonly string[] = []): Promise<GitStatusEntry[]> {
    return this.status(folder, pathspecs.length > 0 ? ['--', ...pathspecs] : []);
  }

  async trackedBelow(files: readonly string[]): Promise<number> {
    return zeroSeparated(await this.ask(this.top, 'ls-files', '-z', '--', ...files.map(this.pathspec))).length;
  }

  /** Returns ignored files (absolute) that match pathspecs relative to a folder; contents of ignored folders are omitted. */
  async ignored(folder: string, pathspecs: readonly string[]): Promise<string[]> {
    const options = ['-z', '--others', '--ignored', '--exclude-standard', '--directory', '--full-name'];
    const answer = zeroSeparated(await this.ask(folder, 'ls-files', ...options, '--', ...pathspecs));
    return answer.filter((one) => !one.endsWith('/')).map((one) => paths.join(this.top, one));
  }

  ignoredBelow(files: readonly string[]): Promise<string[]> {
    return this.ignored(this.top, files.map(this.pathspec));
  }

  workingTree(top: string): IsolatedGitRepository {
    return new IsolatedGitRepository(top, this.signal);
  }

  /**
   * Counts commits reachable only from a branch or tag (full name): not from other references, and not from `others`.
   * @param from start of the count instead of the reference
   */
  async commitsOnlyIn(ref: string, others: readonly string[], from = ref): Promise<number> {
    const without = (below: string) => (ref.startsWith(below) ? [`--exclude=${ref.slice(below.length)}`] : []);
    const branches = [...without('refs/heads/'), '--branches', ...without('refs/tags/'), '--tags'];
    const remotes = [...without('refs/remotes/'), '--remotes'];
    const all = [...branches, ...remotes, ...others];
    return Number((await this.ask(this.top, 'rev-list', '--count', from, '--not', ...all, '--')).trim());
  }

  async branch(): Promise<string | undefined> {
    const ref = await this.ask(this.top, 'symbolic-ref', '--quiet', 'HEAD').catch(() => '');
    return /^refs\/heads\/(.+)\n$/.exec(ref)?.[1];
  }

  async stashed(): Promise<number> {
    if (!(await this.has('refs/stash'))) return 0;
    return Number((await this.ask(this.top, 'rev-list', '--walk-reflogs', '--count', 'refs/stash')).trim());
  }

  has(revision: string): Promise<boolean> {
    return this.ask(this.top, 'rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`).then(
      () => true,
      () => {
        this.signal.throwIfAborted();
        return false;
      },
    );
  }

  async alias(name: string): Promise<string | undefined> {
    const text = await this.ask(this.top, 'config', '-z', '--get', `alias.${name}`).catch(() => undefined);
    this.signal.throwIfAborted();
    return text?.replace(/\0$/, '');
  }

  /** Returns the output of a read-only command. Throws on a timeout, or if the output is too large. */
  async shown(folder: string, command: readonly string[], args: readonly string[]): Promise<string> {
    return this.git(folder, [...(await this.noFilters()), ...command, ...args], true);
  }

  async settings(): Promise<{ scope: string; name: string; value: string }[]> {
    const fields = (await this.git(this.top, ['config', '-z', '--list', '--show-scope', '--includes'])).split('\0');
    const found: { scope: string; name: string; value: string }[] = [];
    for (let at = 0; at + 1 < fields.length; at += 2) {
      const [name = '', ...value] = fields[at + 1]!.split('\n');
      found.push({ scope: fields[at]!, name, value: value.join('\n') });
    }
    return found;
  }

  private async status(folder: string, pathspecs: readonly string[]): Promise<GitStatusEntry[]> {
    const options = ['--porcelain', '-z', '--untracked-files=all', '--no-renames', '--ignore-submodules=all'];
    const answer = zeroSeparated(await this.ask(folder, 'status', ...options, ...pathspecs));
    return answer.map((one) => ({ index: one[0]!, file: one[1]!, path: paths.join(this.top, one.slice(3)) }));
  }

  private readonly pathspec = (file: string): string => {
    const relative = paths.relative(this.top, file).replaceAll(paths.sep, '/');
    return relative === '' ? ':/' : `:(top,literal)${relative}`;
  };

  private async ask(folder: string, ...args: string[]): Promise<string> {
    return this.git(folder, [...(await this.noFilters()), ...args]);
  }

  private noFilters(): Promise<string[]> {
    this.filters ??= this.withoutFilters();
    return this.filters;
  }

  /** Returns options that disable all filters: Git would run a filter to compare a file. */
  private async withoutFilters(): Promise<string[]> {
    const names = await this.git(this.top, ['config', '-z', '--name-only', '--get-regexp', '^filter[.]']).catch(
      () => '',
    );
    this.signal.throwIfAborted();
    return disablingFilters(zeroSeparated(names));
  }

  private git(folder: string, args: readonly string[], acceptsFailure = false): Promise<string> {
    return new Promise((resolve, reject) => {
      const { program, args: all, options } = isolatedGit(folder, args);
      execFile(program, all, { ...options, maxBuffer: maxAnswer, signal: this.signal }, (error, stdout) =>
        error && !(acceptsFailure && typeof error.code === 'number') ? reject(error) : resolve(stdout),
      );
    });
  }
}

const zeroSeparated = (text: string): string[] => text.split('\0').filter((one) => one !== '');
