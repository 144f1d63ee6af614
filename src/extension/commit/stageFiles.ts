import path from 'node:path';
import * as vscode from 'vscode';
import { t } from '../../protocol/text/l10n.ts';
import { activeGitApi } from './committed.ts';
import type { WatchedRepository } from './git.ts';

interface Staged {
  roots: vscode.Uri[];
  left: string[];
}

/** Stages exactly these files (absolute paths) in their repositories, without a commit. Throws Git errors. */
export async function stageFiles(files: readonly string[]): Promise<Staged> {
  const git = activeGitApi();
  if (!git) throw new Error(t('Git is not active in this window.'));
  const byRepository = new Map<WatchedRepository, string[]>();
  const left: string[] = [];
  for (const file of files) {
    const repository = git.getRepository(vscode.Uri.file(file));
    if (repository) byRepository.set(repository, [...(byRepository.get(repository) ?? []), file]);
    else left.push(path.basename(file));
  }
  const roots: vscode.Uri[] = [];
  for (const [repository, own] of byRepository) {
    const ignored = await repository.checkIgnore(own).catch(() => new Set<string>());
    const taken = own.filter((file) => !ignored.has(file) && literal(file) !== undefined);
    left.push(...own.filter((file) => !taken.includes(file)).map((file) => path.basename(file)));
    if (taken.length === 0) continue;
    await repository.add(taken.map((file) => literal(file)!));
    roots.push(repository.rootUri);
  }
  return { roots, left };
}

// Escapes a path for Git, which takes paths as patterns; undefined if impossible.
function literal(file: string): string | undefined {
  if (path.sep === '\\') return /[*?[\]]/.test(file) ? undefined : file;
  return file.replace(/[*?[\]\\]/g, '\\$&');
}
