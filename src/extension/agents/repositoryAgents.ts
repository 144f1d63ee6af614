import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { RunError } from '../../engine/core/errorInfo.ts';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { message } from '../../protocol/text/l10n.ts';
import { joinLocalizableTexts, messageOf, storedLocalizableText } from '../../protocol/text/localized.ts';
import { jsonTooLargeReason, maxJsonBytes } from '../../tools/core/parseLimits.ts';
import { ToolError } from '../../tools/core/tool.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import { resolvePath } from '../../tools/sandbox/paths.ts';
import { readRegularFile } from '../../tools/sandbox/regularFile.ts';
import { agentFileAbilities, repositoryAgentAbilities } from '../../workflows/agents/agentAbilities.ts';
import { agentFolders, agentFormatOf, agentNameOfFile } from '../../workflows/agents/agentLocations.ts';
import { repositoryAgentOf, repositoryAgentTurnOptions } from '../../workflows/agents/agentTurns.ts';
import type { RepositoryAgent } from '../../workflows/agents/parseAgentMarkdown.ts';
import type { AgentFile } from '../../workflows/plan/schema.ts';
import { agentOf, ownTurnOptions } from '../../workflows/run/agent.ts';
import { diskFolders, isVirtualWorkspace } from '../dialogs/folders.ts';
import {
  isAgentFile,
  type WorkflowFiles,
  workflowFileKindOf,
  workflowFileUri,
  workflowNameOf,
  workspaceRelativeId,
} from '../language/workflowFiles.ts';
import type { JobWorker } from '../worker/jobWorker.ts';
import { untrustedAgentsMessage } from './agentText.ts';
import { type AgentDefinition, agentsNamed, type LoadedAgent, severalAgentsError } from './loadedAgent.ts';

const maxAgentsPerFolder = 100;

interface Dependencies {
  files: WorkflowFiles;
  workspace: Workspace;
  worker: JobWorker;
  toolNames(): Promise<readonly string[]>;
  isExcluded(path: string): boolean;
  /** Model of a file that is set up here, as `provider/model`; undefined without one. */
  configuredModel(names: readonly string[]): string | undefined;
  /** Model that a file of `.towpath/agents` selects beside the user's own choice. */
  foreignModel(name: string): string | undefined;
}

/**
 * Agents of the repository: `.towpath/agents` and the folders of other programs. An untrusted or a virtual workspace has none, and its
 * files are not read.
 */
export class RepositoryAgents {
  constructor(private readonly parts: Dependencies) {}

  /** Returns all agents, sorted by path. A name that several agents share is a note of each. */
  async list(): Promise<LoadedAgent[]> {
    if (isVirtualWorkspace() || !vscode.workspace.isTrusted) return [];
    const uris = [...(await this.parts.files.find('agent')), ...(await this.markdownFiles())];
    const loaded = await Promise.all(uris.map((uri) => this.read(uri)));
    return loaded.sort((one, other) => (one.id < other.id ? -1 : 1)).map((agent) => withNamesakes(agent, loaded));
  }

  /** Finds an agent by its path, or by its name if only one has it. Throws a `RunError` with the reason. */
  async find(idOrName: string): Promise<LoadedAgent> {
    const named = agentsNamed(await this.list(), idOrName);
    if (named.length === 1) return named[0]!;
    throw named.length === 0
      ? new RunError('UNKNOWN', message('There is no agent {0}.', idOrName))
      : severalAgentsError(idOrName, named);
  }

  /** Loads the agent of a run by its workspace-relative path. Throws a `RunError` if it cannot be used. */
  async load(id: string): Promise<LoadedAgent & { definition: AgentDefinition }> {
    if (!vscode.workspace.isTrusted) throw new RunError('WORKFLOW_UNTRUSTED', untrustedAgentsMessage);
    const uri = workflowFileUri(id);
    if (!uri || !isAgentFile(uri)) throw new RunError('WORKFLOW_NOT_FOUND', message('There is no agent {0}.', id));
    const { definition, problem, ...agent } = await this.read(uri);
    if (definition) return { ...agent, definition };
    throw new RunError('WORKFLOW_INVALID', joinLocalizableTexts([id, problem ?? ''], ': '));
  }

  private async read(uri: vscode.Uri): Promise<LoadedAgent> {
    const fileName = fileNameOf(uri);
    const agent = { id: workspaceRelativeId(uri), uri, name: fileName, fileName, description: '', hash: '' };
    try {
      const file = await resolvePath(this.parts.workspace.roots, uri.fsPath, 'read'); // no link out of the workspace
      if (this.parts.isExcluded(file.relative)) return { ...agent, problem: message('Your rules deny reading it.') };
      if (workflowFileKindOf(uri) === 'agent') return await this.readAgentFile(agent);
      return await this.readMarkdown(agent, await readRegularFile(file.path, maxJsonBytes));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const unreadable =
        error instanceof ToolError
          ? message('It cannot be read, or is a link out of the workspace.')
          : messageOf(error);
      return { ...agent, problem: code === 'too large' ? jsonTooLargeReason : unreadable };
    }
  }

  private async readAgentFile(agent: LoadedAgent): Promise<LoadedAgent> {
    const { text, result } = await this.parts.files.loadText(agent.uri, 'agent');
    const hash = hashOf(text);
    const { value, problems } = result;
    if (!value) return { ...agent, hash, ...(problems[0] && { problem: storedLocalizableText(problems[0]) }) };
    const name = escapeInvisibleInLine(value.name ?? agent.name);
    const description = escapeInvisibleInLine(value.description ?? '');
    return { ...agent, hash, name, description, definition: await this.defineAgentFile(agent, value) };
  }

  private async defineAgentFile({ uri }: LoadedAgent, file: AgentFile): Promise<AgentDefinition> {
    const id = workflowNameOf(uri);
    const model = file.model === undefined ? undefined : this.parts.foreignModel(file.model);
    return {
      abilities: agentFileAbilities(file, await this.parts.toolNames()),
      asks: file.approval === 'ask',
      unknownTools: [],
      notes: [],
      ...(model !== undefined && { model }),
      agent: agentOf(id, file),
      turnOptions: (run) => ownTurnOptions(id, file, run),
    };
  }

  private async readMarkdown(agent: LoadedAgent, content: Buffer): Promise<LoadedAgent> {
    const text = new TextDecoder().decode(content);
    const hash = hashOf(text);
    const format = agentFormatOf(vscode.workspace.asRelativePath(agent.uri, false))!;
    const result = await this.parts.worker.run('agentMarkdown', text, agent.uri.path, format);
    if (result.agent === undefined) return { ...agent, hash, problem: result.problem };
    const { name, description } = result.agent;
    return { ...agent, hash, name, description, definition: this.defineMarkdown(agent, result.agent) };
  }

  private defineMarkdown({ uri }: LoadedAgent, file: RepositoryAgent): AgentDefinition {
    const id = fileNameOf(uri);
    const model = this.parts.configuredModel(file.models);
    const { asks, unknownTools, notes, models } = file;
    return {
      abilities: repositoryAgentAbilities(file),
      asks,
      unknownTools,
      notes,
      ...(model !== undefined ? { model } : models[0] !== undefined && { unavailableModel: models[0] }),
      agent: repositoryAgentOf(id, file, model),
      turnOptions: (run) => repositoryAgentTurnOptions(id, file, run, model),
    };
  }

  private async markdownFiles(): Promise<vscode.Uri[]> {
    const found = diskFolders().flatMap(({ uri }) =>
      agentFolders.map(async (folder): Promise<vscode.Uri[]> => {
        const location = vscode.Uri.joinPath(uri, folder);
        const resolved = await resolvePath(this.parts.workspace.roots, location.fsPath, 'list').catch(() => undefined);
        if (!resolved) return [];
        const entries = await readdir(resolved.path, { withFileTypes: true }).catch(() => []);
        return entries
          .filter((entry) => (entry.isFile() || entry.isSymbolicLink()) && agentFormatOf(`${folder}/${entry.name}`))
          .slice(0, maxAgentsPerFolder)
          .map(({ name }) => vscode.Uri.joinPath(location, name));
      }),
    );
    return (await Promise.all(found)).flat();
  }
}

function withNamesakes(agent: LoadedAgent, all: readonly LoadedAgent[]): LoadedAgent {
  const { definition } = agent;
  const others = all.filter(({ id, name }) => id !== agent.id && name === agent.name).map(({ id }) => id);
  if (!definition || others.length === 0) return agent;
  const note = message('Another agent has the same name: {0}.', others.join(', '));
  return { ...agent, definition: { ...definition, notes: [...definition.notes, note] } };
}

const fileNameOf = (uri: vscode.Uri): string =>
  escapeInvisibleInLine(
    workflowFileKindOf(uri) === 'agent' ? path.posix.parse(uri.path).name : agentNameOfFile(uri.path),
  );

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
