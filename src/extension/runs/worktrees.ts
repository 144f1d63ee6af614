import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import * as z from 'zod';
import type { RunSummary } from '../../protocol/run/summary.ts';
import { localizedCount, t } from '../../protocol/text/l10n.ts';
import { localizedErrorText } from '../../protocol/text/localized.ts';
import { RunStore } from '../../runs/store.ts';
import type { PublishedRunStatus } from '../../runs/windowStatus.ts';
import { chooseCommitRepository, type GitExtension } from '../commit/git.ts';
import { disableCommandLinks } from '../dialogs/approvalText.ts';
import { withCancellation } from '../dialogs/cancellable.ts';
import { diskFolders } from '../dialogs/folders.ts';
import { notify } from '../dialogs/notify.ts';
import type { DecisionFile } from '../settings/decisionFile.ts';
import { copyIncludedFiles } from '../worktrees/copyIncludedFiles.ts';
import { mergeWorktree, planWorktreeMerge, type WorktreeMerge } from '../worktrees/mergeWorktree.ts';
import { maxUnusedDays, removeUnusedWorktree } from '../worktrees/removeUnusedWorktree.ts';
import { type AcceptedLosses, removeWorktree } from '../worktrees/removeWorktree.ts';
import {
  addWorktree,
  invalidBranchReason,
  removeActivationMarker,
  type WorktreeRepository,
  worktreeBranchName,
  worktreeFolder,
  writeActivationMarker,
} from '../worktrees/worktree.ts';
import { readWorktreeFacts } from '../worktrees/worktreeFacts.ts';
import type { WorktreeFacts } from '../worktrees/worktreeLosses.ts';
import type { PanelConversation } from './conversation.ts';
import { restingRunState, restingRunStatus } from './runStates.ts';

/**
 * Stored worktree; paths are absolute and real. `repository`: its origin. `task`: message of its first run. `runId`, `store`: the run once
 * started. `begun`: the run exists or existed in the store. `usedAt`: epoch milliseconds of the last known use of its window.
 */
const worktreeSchema = z.object({
  repository: z.string(),
  branch: z.string(),
  task: z.string(),
  runId: z.string().optional(),
  store: z.string().optional(),
  begun: z.literal(true).optional(),
  usedAt: z.number().optional(),
});
type Worktree = z.infer<typeof worktreeSchema>;

/** Run of another window in a worktree of an open repository. `run` is undefined before its start. */
export interface WorktreeRunStatus extends Partial<Pick<PublishedRunStatus, 'state' | 'awaitsApproval'>> {
  folder: string;
  branch: string;
  title: string;
  run?: RunSummary;
}

interface Dependencies {
  conversation: PanelConversation;
  memory: DecisionFile;
  store: string;
}

const day = 24 * 60 * 60 * 1000;

/** Runs on their own branches, each in its own folder and window. */
export class Worktrees {
  constructor(private readonly parts: Dependencies) {}

  async begin(): Promise<void> {
    try {
      const repository = await repositoryInFront();
      const title = t('Towpath: run in a worktree');
      const prompt = t('What do you want to do?');
      const task = (await vscode.window.showInputBox({ title, prompt, ignoreFocusOut: true }))?.trim();
      const branch = task && (await askBranch(repository, title, task));
      if (!branch) return;
      const folder = worktreeFolder(repository.root, branch);
      const isMade = await withCancellation(t('Towpath is creating {0}', path.basename(folder)), (signal) =>
        addWorktree(repository, { branch, folder }, signal).then(
          () => true,
          (error) => {
            if (signal.aborted) return false;
            throw error;
          },
        ),
      );
      if (!isMade) return;
      await copyFilesInto(folder, repository.root);
      await this.open(await this.keep(repository.root, folder, { branch, task }));
    } catch (error) {
      notify('error', localizedErrorText(error as Error));
    }
  }

  /** Starts the task of a new worktree window once the workspace is trusted. An interrupted start is repeated. */
  async arrive(): Promise<void> {
    const { conversation, memory, store } = this.parts;
    for (const { uri } of diskFolders()) {
      const folder = realOf(uri.fsPath);
      const worktree = this.known(folder);
      if (!worktree || worktree.begun) continue;
      await vscode.commands.executeCommand('towpath.showChat');
      await trusted(() =>
        conversation.notice({
          level: 'info',
          text: t('Your request starts when you trust this folder.'),
          action: { label: t('Manage Trust'), action: 'manage-trust' },
        }),
      );
      const isStored = (await new RunStore(store).list()).some(({ id }) => id === worktree.runId);
      if (!isStored) await conversation.open(undefined);
      const begins: Worktree = isStored ? worktree : { ...worktree, runId: conversation.id, store };
      memory.update(folder, begins);
      await removeActivationMarker(folder);
      if (!isStored) await conversation.begin({ userInput: worktree.task });
      memory.update(folder, { ...begins, begun: true } satisfies Worktree);
      return;
    }
  }

  async elsewhere(): Promise<WorktreeRunStatus[]> {
    const roots = diskFolders().map(({ uri }) => realOf(uri.fsPath));
    const runs = Object.keys(this.parts.memory.all()).map(async (folder): Promise<WorktreeRunStatus | undefined> => {
      const worktree = this.known(folder);
      if (!worktree || !this.isElsewhere(folder, worktree, roots)) return undefined;
      const { branch, task, runId, store } = worktree;
      const stored = store === undefined || runId === undefined ? undefined : await inStore(store, runId);
      if (worktree.begun && !stored) return undefined; // deleted in its window
      return { folder, branch, title: stored?.run.title ?? task, ...stored };
    });
    const found = (await Promise.all(runs)).filter((one) => one !== undefined);
    return found.sort((a, b) => (b.run?.updatedAt ?? Infinity) - (a.run?.updatedAt ?? Infinity));
  }

  /** Lists the worktrees of the open repositories that no window works in. */
  async removable(): Promise<{ folder: string; branch: string }[]> {
    const roots = diskFolders().map(({ uri }) => realOf(uri.fsPath));
    const found = Object.keys(this.parts.memory.all()).map(async (folder) => {
      const worktree = this.known(folder);
      if (!worktree || !this.isElsewhere(folder, worktree, roots)) return [];
      return (await isAtWork(worktree)) ? [] : [{ folder, branch: worktree.branch }];
    });
    return (await Promise.all(found)).flat();
  }

  /** Reads the state of a worktree. Undefined if Git fails. */
  async facts(folder: string): Promise<WorktreeFacts | undefined> {
    const worktree = this.known(folder);
    return worktree && readWorktreeFacts(worktree.repository, folder);
  }

  /** Removes the folder of a worktree. Its branch and its runs stay. Throws if anything else would be lost, or the error of Git. */
  async remove(folder: string, accepted: AcceptedLosses): Promise<void> {
    const { repository } = await this.resting(folder);
    await removeWorktree({ program: await gitProgram(), root: repository }, folder, accepted);
    this.parts.memory.update(folder, undefined);
  }

  async planMerge(folder: string): Promise<WorktreeMerge> {
    return planWorktreeMerge((await this.resting(folder)).repository, folder);
  }

  /** Merges the branch of a worktree into the branch of its repository's folder. Throws if nothing was merged. */
  async merge(folder: string): Promise<WorktreeMerge> {
    const { repository } = await this.resting(folder);
    return mergeWorktree({ program: await gitProgram(), root: repository }, folder);
  }

  /** Removes the worktrees that nobody used for a long time and that hold nothing to lose. */
  async sweep(): Promise<void> {
    const { memory } = this.parts;
    const found = vscode.workspace.isTrusted ? await this.removable() : [];
    let removed = 0;
    for (const { folder } of found) {
      const worktree = this.known(folder);
      if (!worktree?.begun) continue;
      const run = worktree.store && worktree.runId ? await inStore(worktree.store, worktree.runId) : undefined;
      const usedAt = Math.max(worktree.usedAt ?? 0, run?.run.updatedAt ?? 0);
      const repository = { program: await gitProgram(), root: worktree.repository };
      // A failure keeps the worktree; the next window tries again.
      if (!(await removeUnusedWorktree(repository, folder, usedAt, Date.now()).catch(() => false))) continue;
      memory.update(folder, undefined);
      removed++;
    }
    if (removed === 0) return;
    const count = localizedCount(removed, 'worktree');
    notify('info', t('Towpath deleted {0}, not used for {1} days. The branches stay.', count, maxUnusedDays));
  }

  /** Records the use of a worktree in this window, at most once a day. */
  recordUse(): void {
    const now = Date.now();
    for (const { uri } of diskFolders()) {
      const folder = realOf(uri.fsPath);
      const worktree = this.known(folder);
      if (worktree && (worktree.usedAt ?? 0) < now - day)
        this.parts.memory.update(folder, { ...worktree, usedAt: now });
    }
  }

  private isElsewhere(folder: string, { repository }: Worktree, roots: readonly string[]): boolean {
    if (roots.includes(folder) || !existsSync(folder)) return false;
    return roots.some((root) => contains(repository, root) || contains(root, repository));
  }

  /** Opens the window of a worktree created by Towpath; other folders are ignored. */
  async open(folder: string): Promise<void> {
    if (!this.known(folder)) return;
    await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(folder), { forceNewWindow: true });
  }

  private async keep(repository: string, made: string, what: Pick<Worktree, 'branch' | 'task'>): Promise<string> {
    const { memory } = this.parts;
    for (const folder of Object.keys(memory.all())) if (!existsSync(folder)) memory.update(folder, undefined);
    const folder = realOf(made);
    memory.update(folder, { repository: realOf(repository), ...what } satisfies Worktree);
    await writeActivationMarker(folder);
    return folder;
  }

  /** Throws for a worktree whose run is at work. */
  private async resting(folder: string): Promise<Worktree> {
    const worktree = this.known(folder);
    if (!worktree || (await isAtWork(worktree))) throw new Error(t('The run in this worktree is still working.'));
    return worktree;
  }

  private known(folder: string): Worktree | undefined {
    return worktreeSchema.safeParse(this.parts.memory.get(folder)).data;
  }
}

/** A worktree without these files is usable: a failure is reported only. */
async function copyFilesInto(folder: string, root: string): Promise<void> {
  try {
    const failed = await copyIncludedFiles(realOf(root), realOf(folder));
    if (failed.length === 0) return;
    const count = localizedCount(failed.length, 'ignored file was', 'ignored files were');
    notify('warning', t('{0} not copied into the worktree.', count));
  } catch (error) {
    notify('warning', localizedErrorText(error as Error));
  }
}

async function isAtWork({ store, runId }: Worktree): Promise<boolean> {
  if (store === undefined || runId === undefined) return false;
  return (await new RunStore(store).holder(runId).catch(() => undefined)) !== undefined;
}

async function inStore(
  folder: string,
  id: string,
): Promise<(Pick<WorktreeRunStatus, 'state' | 'awaitsApproval'> & { run: RunSummary }) | undefined> {
  const store = new RunStore(folder);
  const run = await store.listed(id).catch(() => undefined);
  if (!run) return undefined;
  const mark = (await store.marks.read()).get(id);
  if (!mark) return { run, ...restingRunState(run) };
  const isAtWork = mark.state === 'asking' || mark.state === 'working';
  const isHeld = isAtWork && (await store.holder(id).catch(() => undefined)) !== undefined;
  const { state, awaitsApproval } = isHeld ? mark : restingRunStatus(run, mark);
  return { run, state, ...(awaitsApproval && { awaitsApproval }) };
}

async function repositoryInFront(): Promise<WorktreeRepository> {
  const git = vscode.extensions.getExtension<GitExtension>('vscode.git');
  const inFront = vscode.window.activeTextEditor?.document.uri;
  const { isTrusted } = vscode.workspace;
  const { repository, program } = await chooseCommitRepository({ isTrusted, git, inFront });
  return { root: repository.rootUri.fsPath, program };
}

async function gitProgram(): Promise<string> {
  if (!vscode.workspace.isTrusted) throw new Error(t('Git is not used in an untrusted workspace. Trust it first.'));
  const extension = await vscode.extensions.getExtension<GitExtension>('vscode.git')?.activate();
  if (!extension?.enabled) throw new Error(t('Git is switched off (the setting git.enabled), or not installed here.'));
  return extension.getAPI(1).git.path;
}

async function askBranch(repository: WorktreeRepository, title: string, task: string): Promise<string | undefined> {
  const value = await worktreeBranchName(repository, task);
  const text = (branch: string) =>
    t(
      'A branch from the last commit, in the folder {0}. Uncommitted changes stay here.',
      disableCommandLinks(worktreeFolder(repository.root, branch)),
    );
  const branch = await vscode.window.showInputBox({
    title,
    prompt: text(value),
    value,
    ignoreFocusOut: true,
    validateInput: async (typed) => {
      const problem = await invalidBranchReason(repository, typed.trim());
      return problem ?? { message: text(typed.trim()), severity: vscode.InputBoxValidationSeverity.Info };
    },
  });
  return branch?.trim();
}

/** @param wait called if the workspace is not trusted yet */
async function trusted(wait: () => void): Promise<void> {
  if (vscode.workspace.isTrusted) return;
  wait();
  await new Promise<void>((resolve) => {
    const granted = vscode.workspace.onDidGrantWorkspaceTrust(() => {
      granted.dispose();
      resolve();
    });
  });
}

function contains(folder: string, file: string): boolean {
  return file === folder || file.startsWith(folder + path.sep);
}

function realOf(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
