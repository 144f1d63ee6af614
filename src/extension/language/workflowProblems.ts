import * as vscode from 'vscode';
import { t } from '../../protocol/text/l10n.ts';
import { localizedErrorText } from '../../protocol/text/localized.ts';
import type { YamlProblem } from '../../workflows/read/yaml.ts';
import { SerialQueue } from './fileProblems.ts';
import {
  type WorkflowFileKind,
  type WorkflowFiles,
  workflowFileKindOf,
  workflowFilePatterns,
  workspaceRelativeId,
} from './workflowFiles.ts';

/** Milliseconds without typing before a file is checked again. */
const restMs = 200;

interface Watched {
  uri: vscode.Uri;
  kind: WorkflowFileKind;
}

/** Reports problems of workflow and agent files in the editor's problem list, and shows *Run* above each. */
export function registerWorkflowDiagnostics(files: WorkflowFiles, log: vscode.LogOutputChannel): vscode.Disposable[] {
  const problems = vscode.languages.createDiagnosticCollection('towpath');
  const timers = new Map<string, NodeJS.Timeout>();
  let over = false;
  /** Agents at the time of the last added file, listed once for all waiting files. */
  let agents: Promise<string[]> | undefined;
  const waiting = new SerialQueue<Watched>(async ({ uri, kind }) => {
    try {
      const none = { problems: [], warnings: [] };
      agents ??= files.agents();
      const loaded = vscode.workspace.isTrusted ? await files.load(uri, kind, await agents) : none;
      if (over) return;
      problems.set(uri, [
        ...loaded.problems.map((one) => toEditorDiagnostic(one, vscode.DiagnosticSeverity.Error)),
        ...loaded.warnings.map((one) => toEditorDiagnostic(one, vscode.DiagnosticSeverity.Warning)),
      ]);
    } catch (error) {
      if (!over) problems.delete(uri);
      log.debug(String(error));
    }
  });
  const look = (uri: vscode.Uri, kind: WorkflowFileKind, next = false) => {
    agents = undefined;
    waiting.add(uri.toString(), { uri, kind }, next);
  };
  const later = (key: string, act: () => void) => {
    clearTimeout(timers.get(key));
    timers.set(key, setTimeout(act, restMs));
  };
  const soon = (uri: vscode.Uri) => {
    const kind = workflowFileKindOf(uri);
    if (kind) later(uri.toString(), () => look(uri, kind, true));
  };
  const all = async (...kinds: WorkflowFileKind[]) => {
    for (const kind of kinds) for (const uri of await files.find(kind)) look(uri, kind);
  };
  void all('workflow', 'agent');
  /** Checks all workflows after a change of agents, because workflows refer to agents. */
  const allWorkflows = () => later('workflows', () => void all('workflow'));
  const isInFolder = (uri: vscode.Uri) => {
    soon(uri);
    if (workflowFileKindOf(uri) === 'agent') allWorkflows();
  };
  const watchers = Object.values(workflowFilePatterns).map((pattern) =>
    vscode.workspace.createFileSystemWatcher(pattern),
  );
  return [
    problems,
    ...watchers,
    ...watchers.flatMap((watcher) => [
      watcher.onDidCreate(isInFolder),
      watcher.onDidChange(soon),
      watcher.onDidDelete((uri) => {
        problems.delete(uri);
        if (workflowFileKindOf(uri) === 'agent') allWorkflows();
      }),
    ]),
    vscode.workspace.onDidOpenTextDocument(({ uri }) => isInFolder(uri)), // a file in a new folder may not be reported
    vscode.workspace.onDidChangeTextDocument(({ document }) => soon(document.uri)),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void all('workflow', 'agent')),
    vscode.languages.registerCodeLensProvider(
      Object.values(workflowFilePatterns).map((pattern) => ({ scheme: 'file', pattern })),
      { provideCodeLenses: (document) => lenses(document) },
    ),
    {
      dispose() {
        over = true;
        waiting.stop();
        for (const timer of timers.values()) clearTimeout(timer);
      },
    },
  ];
}

export function toEditorDiagnostic(
  { line, column, endLine, endColumn, ...text }: YamlProblem,
  severity: vscode.DiagnosticSeverity,
) {
  const range = new vscode.Range(line - 1, column - 1, endLine - 1, endColumn - 1);
  const problem = new vscode.Diagnostic(range, localizedErrorText(text), severity);
  problem.source = 'Towpath';
  return problem;
}

function lenses(document: vscode.TextDocument): vscode.CodeLens[] {
  const kind = workflowFileKindOf(document.uri);
  if (!kind || !vscode.workspace.isTrusted) return [];
  const command = kind === 'workflow' ? 'towpath.runWorkflow' : 'towpath.runAgent';
  const title = `$(play) ${kind === 'workflow' ? t('Run Workflow') : t('Run Agent')}`;
  return [
    new vscode.CodeLens(new vscode.Range(0, 0, 0, 0), {
      title,
      command,
      arguments: [workspaceRelativeId(document.uri)],
    }),
  ];
}
