import path from 'node:path';
import * as vscode from 'vscode';
import { EngineError } from '../engine/engine.ts';
import type { Workflow } from '../engine/workflow.ts';
import { maximumBytes } from '../tools/files/text.ts';
import { readPlain } from '../tools/gate/open.ts';
import { agentWorkflow } from '../workflows/agent.ts';
import { chat } from '../workflows/chat.ts';
import type { Loaded } from '../workflows/check.ts';
import { graphWorkflow } from '../workflows/graph.ts';
import type { AgentFile, WorkflowFile } from '../workflows/schema.ts';
import { loadAgent, loadWorkflow } from '../workflows/validate.ts';

export type Kind = 'workflow' | 'agent';

/** Files that are read, below each folder of the workspace. */
export const patterns: Record<Kind, string> = {
  workflow: '**/.towpath/workflows/*.{yaml,yml,json}',
  agent: '**/.towpath/agents/*.{yaml,yml,json}',
};

export type FileOf<One extends Kind> = One extends 'workflow' ? WorkflowFile : AgentFile;

/** The workspace's workflows and agents. An untrusted workspace has none: its files are not read. */
export class WorkflowFiles {
  constructor(private readonly tools: readonly string[]) {}

  /** What a run of this id follows: `chat`, or the workspace-relative path of a file. Throws an `EngineError`. */
  readonly workflow = async (id: string): Promise<Workflow> => {
    if (id === chat.id) return chat;
    if (!vscode.workspace.isTrusted) throw new EngineError('UNKNOWN', untrusted);
    const uri = uriOf(id);
    const kind = uri && kindOf(uri);
    if (!uri || !kind) throw new EngineError('UNKNOWN', `There is no workflow ${id}.`);
    if (kind === 'agent') return agentWorkflow(nameOf(uri), inOrder(id, await this.load(uri, 'agent')));
    const file = inOrder(id, await this.load(uri, 'workflow'));
    return graphWorkflow({ id, file, agents: await this.agentsFor(file) });
  };

  /** Files of this kind, in the order of their paths. Empty in an untrusted workspace. */
  async find(kind: Kind): Promise<vscode.Uri[]> {
    if (!vscode.workspace.isTrusted) return [];
    const found = await vscode.workspace.findFiles(patterns[kind].replace('**/', ''), null, 500);
    return found.sort((one, other) => (one.path < other.path ? -1 : 1));
  }

  /** Reads a file as it is in the editor, saved or not. */
  async load<One extends Kind>(uri: vscode.Uri, kind: One): Promise<Loaded<FileOf<One>>> {
    const text = await textOf(uri);
    const known = { tools: this.tools, agents: (await this.find('agent')).map(nameOf) };
    return (kind === 'workflow' ? loadWorkflow(text, known) : loadAgent(text, known)) as Loaded<FileOf<One>>;
  }

  private async agentsFor(file: WorkflowFile): Promise<Map<string, AgentFile>> {
    const names = new Set(file.nodes.map((node) => node.agent));
    const uris = (await this.find('agent')).filter((uri) => names.has(nameOf(uri)));
    const entries = uris.map(
      async (uri): Promise<[string, AgentFile]> => [nameOf(uri), inOrder(idOf(uri), await this.load(uri, 'agent'))],
    );
    return new Map(await Promise.all(entries));
  }
}

const untrusted =
  'This workspace is not trusted, so its workflows are not read. Trust it first (Manage Workspace Trust).';

/** The workspace-relative path, as a run keeps it. */
export const idOf = (uri: vscode.Uri): string => vscode.workspace.asRelativePath(uri);

export const nameOf = (uri: vscode.Uri): string => path.posix.parse(uri.path).name;

/** Undefined for what is no file of ours, or not directly in a folder of the workspace. */
export function kindOf(uri: vscode.Uri): Kind | undefined {
  if (!vscode.workspace.getWorkspaceFolder(uri)) return undefined;
  const place = vscode.workspace.asRelativePath(uri, false);
  const [, folder] = /^\.towpath\/(workflows|agents)\/[^/]+\.(?:ya?ml|json)$/.exec(place) ?? [];
  if (!folder) return undefined;
  return folder === 'workflows' ? 'workflow' : 'agent';
}

/** Where the file of a run is. Undefined for what leads out of the workspace. */
export function uriOf(id: string): vscode.Uri | undefined {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const [name, ...rest] = id.split('/');
  const folder = folders.length > 1 ? folders.find((one) => one.name === name) : folders[0];
  const inside = folders.length > 1 ? rest : [name!, ...rest];
  if (!folder || inside.includes('..')) return undefined;
  return vscode.Uri.joinPath(folder.uri, ...inside);
}

async function textOf(uri: vscode.Uri): Promise<string> {
  const open = vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri.toString());
  if (open) return open.getText();
  try {
    // What is there may be a pipe, which would be waited for.
    const local = uri.scheme === 'file' ? readPlain(uri.fsPath, maximumBytes) : vscode.workspace.fs.readFile(uri);
    return new TextDecoder().decode(await local);
  } catch {
    throw new EngineError('ENOENT', `The file ${idOf(uri)} is not there any more.`);
  }
}

function inOrder<Value>(id: string, { value, problems }: Loaded<Value>): Value {
  if (value !== undefined) return value;
  const [first] = problems;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  throw new EngineError('UNKNOWN', `${id}:${first?.line}:${first?.column}: ${first?.message}${more}`);
}
