import * as vscode from 'vscode';
import { RunError } from '../../engine/core/errorInfo.ts';
import type { Workflow } from '../../engine/core/workflow.ts';
import { message } from '../../protocol/text/l10n.ts';
import {
  joinLocalizableTexts,
  messageOf,
  storedLocalizableText,
  UserFacingError,
} from '../../protocol/text/localized.ts';
import { loadNestedWorkflows, nestedWorkflowNames } from '../../workflows/action/nested.ts';
import type { AgentFile, WorkflowFile } from '../../workflows/plan/schema.ts';
import type { WorkflowLoadResult } from '../../workflows/read/check.ts';
import { graphWorkflow } from '../../workflows/run/runGraph.ts';
import {
  type WorkflowFiles,
  workflowFileKindOf,
  workflowFileUri,
  workflowNameOf,
  workspaceRelativeId,
} from './workflowFiles.ts';

/** Returns the workflow of a file by workspace-relative path, with all referenced files. Throws a `RunError`. */
export async function loadWorkflowFromFile(files: WorkflowFiles, id: string): Promise<Workflow> {
  if (!vscode.workspace.isTrusted) throw new RunError('WORKFLOW_UNTRUSTED', untrusted);
  const uri = workflowFileUri(id);
  const kind = uri && workflowFileKindOf(uri);
  if (!uri || kind !== 'workflow') throw new RunError('WORKFLOW_NOT_FOUND', message('There is no workflow {0}.', id));
  const file = inOrder(id, await files.load(uri, 'workflow'));
  const workflows = await nestedOf(files, workflowNameOf(uri), file);
  const agents = await agentsFor(files, [file, ...workflows.values()]);
  return graphWorkflow({ id, file, agents, workflows });
}

const untrusted = message(
  'This workspace is not trusted, so its workflows are not read. Trust it first (Manage Workspace Trust).',
);

async function nestedOf(files: WorkflowFiles, name: string, file: WorkflowFile): Promise<Map<string, WorkflowFile>> {
  const uris = nestedWorkflowNames(file).length > 0 ? await files.find('workflow') : [];
  const load = async (one: string) => {
    const uri = uris.find((candidate) => workflowNameOf(candidate) === one);
    if (!uri) throw new UserFacingError(message('There is no workflow {0} in .towpath/workflows.', one));
    return inOrder(workspaceRelativeId(uri), await files.load(uri, 'workflow'));
  };
  return loadNestedWorkflows(name, file, load).catch((error: unknown) => {
    throw error instanceof RunError ? error : new RunError('WORKFLOW_INVALID', messageOf(error));
  });
}

async function agentsFor(files: WorkflowFiles, workflows: readonly WorkflowFile[]): Promise<Map<string, AgentFile>> {
  const names = new Set(workflows.flatMap(({ nodes }) => nodes.map((node) => node.agent)));
  const uris = (await files.find('agent')).filter((uri) => names.has(workflowNameOf(uri)));
  const entries = uris.map(
    async (uri): Promise<[string, AgentFile]> => [
      workflowNameOf(uri),
      inOrder(workspaceRelativeId(uri), await files.load(uri, 'agent')),
    ],
  );
  return new Map(await Promise.all(entries));
}

function inOrder<Value>(id: string, { value, problems }: WorkflowLoadResult<Value>): Value {
  if (value !== undefined) return value;
  const [first] = problems;
  const text = joinLocalizableTexts([`${id}:${first?.line}:${first?.column}`, storedLocalizableText(first!)], ': ');
  const more = problems.length - 1;
  throw new RunError('WORKFLOW_INVALID', more > 0 ? message('{0} (and {1} more)', text, more) : text);
}
