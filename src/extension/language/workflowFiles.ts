import { createHash } from 'node:crypto';
import path from 'node:path';
import * as vscode from 'vscode';
import { RunError } from '../../engine/core/errorInfo.ts';
import { message } from '../../protocol/text/l10n.ts';
import { messageOf } from '../../protocol/text/localized.ts';
import { jsonTooLargeReason, maxJsonBytes } from '../../tools/core/parseLimits.ts';
import { readRegularFile } from '../../tools/sandbox/regularFile.ts';
import { agentFormatOf } from '../../workflows/agents/agentLocations.ts';
import type { AgentFile, WorkflowFile } from '../../workflows/plan/schema.ts';
import type { WorkflowLoadResult } from '../../workflows/read/check.ts';
import { isVirtualWorkspace } from '../dialogs/folders.ts';
import type { JobWorker } from '../worker/jobWorker.ts';
import { unreadableFileProblem } from './fileProblems.ts';

export type WorkflowFileKind = 'workflow' | 'agent';

export const workflowFilePatterns: Record<WorkflowFileKind, string> = {
  workflow: '**/.towpath/workflows/*.{yaml,yml,json}',
  agent: '**/.towpath/agents/*.{yaml,yml,json}',
};

type FileOf<One extends WorkflowFileKind> = One extends 'workflow' ? WorkflowFile : AgentFile;

const maxResults = 100;
/** Milliseconds until a retry after a timeout, because the machine may have been busy. */
const failureMs = 60_000;

type Result = Promise<WorkflowLoadResult<WorkflowFile> | WorkflowLoadResult<AgentFile>>;

/** Workflows and agents of the workspace. An untrusted workspace has none, and its files are not read. */
export class WorkflowFiles {
  private readonly results = new Map<string, { of: string; until: number; result: Result }>();

  constructor(
    private readonly tools: () => Promise<readonly string[]>,
    private readonly worker: JobWorker,
  ) {}

  /** Returns the files of a kind, sorted by path. Empty in an untrusted workspace. */
  async find(kind: WorkflowFileKind): Promise<vscode.Uri[]> {
    if (isVirtualWorkspace() || !vscode.workspace.isTrusted) return [];
    const found = await vscode.workspace.findFiles(workflowFilePatterns[kind].replace('**/', ''), null, 500);
    return found.sort((one, other) => (one.path < other.path ? -1 : 1));
  }

  readonly agents = async (): Promise<string[]> => (await this.find('agent')).map(workflowNameOf);

  /** Parses the editor's text of a file, saved or not, in a worker, because the content is third-party. */
  async load<One extends WorkflowFileKind>(
    uri: vscode.Uri,
    kind: One,
    agents?: string[],
  ): Promise<WorkflowLoadResult<FileOf<One>>> {
    return (await this.loadText(uri, kind, agents)).result;
  }

  /** Like `load`, with the parsed text. */
  async loadText<One extends WorkflowFileKind>(
    uri: vscode.Uri,
    kind: One,
    agents?: string[],
  ): Promise<{ text: string; result: WorkflowLoadResult<FileOf<One>> }> {
    const text = await textOf(uri);
    if (text === undefined) return { text: '', result: unreadableFileProblem(jsonTooLargeReason) };
    return { text, result: await this.parse(uri, text, kind, agents) };
  }

  private async parse<One extends WorkflowFileKind>(
    uri: vscode.Uri,
    text: string,
    kind: One,
    agents?: string[],
  ): Promise<WorkflowLoadResult<FileOf<One>>> {
    const workflows = kind === 'workflow' ? (await this.find('workflow')).map(workflowNameOf) : [];
    const known = { tools: await this.tools(), agents: agents ?? (await this.agents()), workflows };
    const of = createHash('sha256')
      .update(JSON.stringify([kind, known.agents, workflows]))
      .update(text)
      .digest('hex');
    const before = this.results.get(uri.toString());
    if (before?.of === of && before.until > Date.now())
      return before.result as Promise<WorkflowLoadResult<FileOf<One>>>;
    const entry = {
      of,
      until: Number.POSITIVE_INFINITY,
      result: this.worker.run(kind as WorkflowFileKind, text, known) as Result,
    };
    entry.result = entry.result.catch((error: unknown) => {
      entry.until = Date.now() + failureMs;
      return unreadableFileProblem(messageOf(error));
    });
    this.results.delete(uri.toString());
    this.results.set(uri.toString(), entry);
    for (const [oldest] of this.results) if (this.results.size > maxResults) this.results.delete(oldest);
    return entry.result as Promise<WorkflowLoadResult<FileOf<One>>>;
  }
}

export const workspaceRelativeId = (uri: vscode.Uri): string => vscode.workspace.asRelativePath(uri);

export const workflowNameOf = (uri: vscode.Uri): string => path.posix.parse(uri.path).name;

/** Returns undefined for other files, or files not directly in a workspace folder. */
export function workflowFileKindOf(uri: vscode.Uri): WorkflowFileKind | undefined {
  if (!vscode.workspace.getWorkspaceFolder(uri)) return undefined;
  const relativePath = vscode.workspace.asRelativePath(uri, false);
  const [, folder] = /^\.towpath\/(workflows|agents)\/[^/]+\.(?:ya?ml|json)$/.exec(relativePath) ?? [];
  if (!folder) return undefined;
  return folder === 'workflows' ? 'workflow' : 'agent';
}

/** Returns true for an agent of a workspace folder, of any format. */
export const isAgentFile = (uri: vscode.Uri): boolean =>
  workflowFileKindOf(uri) === 'agent' ||
  (vscode.workspace.getWorkspaceFolder(uri) !== undefined &&
    agentFormatOf(vscode.workspace.asRelativePath(uri, false)) !== undefined);

/** Returns the location of a run's file; undefined outside of the workspace. */
export function workflowFileUri(id: string): vscode.Uri | undefined {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const [name, ...rest] = id.split('/');
  const folder = folders.length > 1 ? folders.find((one) => one.name === name) : folders[0];
  const inside = folders.length > 1 ? rest : [name!, ...rest];
  if (!folder || inside.includes('..')) return undefined;
  return vscode.Uri.joinPath(folder.uri, ...inside);
}

async function textOf(uri: vscode.Uri): Promise<string | undefined> {
  const open = vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri.toString());
  if (open) return open.getText();
  try {
    // A pipe at this path would block a read.
    if (uri.scheme === 'file') return new TextDecoder().decode(await readRegularFile(uri.fsPath, maxJsonBytes));
    const { size } = await vscode.workspace.fs.stat(uri);
    return size > maxJsonBytes ? undefined : new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'too large') return undefined;
    throw new RunError('ENOENT', message('The file {0} no longer exists.', workspaceRelativeId(uri)));
  }
}
