import * as vscode from 'vscode';
import { localize } from '../protocol/text/localized.ts';
import type { CommandSandbox } from '../tools/commandSandbox/commandSandbox.ts';
import type { BackgroundRecordings } from '../tools/host/backgroundRecordings.ts';
import { builtinTools } from '../tools/host/builtinTools.ts';
import { createToolHost, type ToolHost } from '../tools/host/host.ts';
import type { BackgroundCommands } from '../tools/shell/background.ts';
import type { OrphanedCommands } from '../tools/shell/orphanedCommands.ts';
import { createFileRecorder, type FileRecorder } from '../tools/snapshot/fileRecorder.ts';
import type { ApprovalDialogQueue } from './approvals/approvals.ts';
import type { ApprovalPolicies } from './approvals/policies.ts';
import type { CommandOutputTerminal } from './background/commandTerminal.ts';
import type { Dialogs } from './dialogs/dialogs.ts';
import type { EditorWorkspace } from './editor/editorWorkspace.ts';
import { editorLanguageService } from './editor/languageService.ts';
import { McpServices } from './mcp/mcp.ts';
import type { AuditLog } from './records/auditLog.ts';
import { settings } from './settings/settings.ts';
import type { createJobWorkers } from './worker/jobWorker.ts';

interface Dependencies {
  context: vscode.ExtensionContext;
  workspace: EditorWorkspace;
  modals: Dialogs;
  approvals: ApprovalDialogQueue;
  policies: ApprovalPolicies;
  sandbox: Pick<CommandSandbox, 'begin' | 'allowableFolder' | 'availability'>;
  left: OrphanedCommands;
  background: BackgroundCommands;
  backgroundRecordings: BackgroundRecordings;
  terminal: CommandOutputTerminal;
  /** Folder for the recording of commands, absolute. */
  snapshotsFolder: string;
  jobWorkers: ReturnType<typeof createJobWorkers>;
  audit: AuditLog;
}

interface Toolset {
  host: ToolHost;
  recorder: FileRecorder;
  mcp: McpServices;
  toolNames: string[];
}

/** Creates the tools on first use; the panel alone does not need them. */
export function createToolset(parts: Dependencies): Toolset {
  const { workspace, approvals, policies, left, background, terminal, jobWorkers } = parts;
  const mcp = new McpServices(parts.context, workspace, parts.modals, parts.audit, parts.sandbox);
  workspace.startedFiles = () => mcp.servers.startedFiles();
  const recorder = createFileRecorder({
    workspace,
    store: parts.snapshotsFolder,
    isOn: () => settings()['undo.commands'],
    budget: () => settings()['undo.commandBudget'],
    isBusy: async (but) =>
      background.atWork.some(({ runId, changesFiles }) => changesFiles && runId !== but) ||
      (await left.atWork()).length > 0,
    take: (request) => jobWorkers.snapshots.run('takeSnapshot', request),
    compare: (request) => jobWorkers.snapshots.run('compareSnapshot', request),
    discard: (request) => jobWorkers.snapshots.run('discardSnapshot', request),
  });
  const tools = builtinTools({
    delete: { quota: () => settings()['undo.quota'] },
    shell: {
      timeout: () => settings()['shell.timeout'],
      left,
      background,
      sandbox: parts.sandbox,
      covers: (files) => recorder.covers(files),
      mirror: (command, folder) => (settings()['shell.terminal'] ? terminal.mirror(command, folder) : undefined),
    },
    web: {
      allowPrivate: () => settings()['web.allowPrivate'],
      pageText: (page) => jobWorkers.others.run('page', page),
    },
    language: editorLanguageService,
  });
  parts.context.subscriptions.push(
    vscode.workspace.onDidSaveTextDocument(({ uri }) => recorder.noteChange(uri.fsPath)),
  );
  const host = createToolHost({
    workspace,
    recorder,
    backgroundRecordings: parts.backgroundRecordings,
    tools: () => [...tools, ...mcp.tools()],
    approve: approvals.approve,
    policy: policies.current,
    prepare: mcp.prepare,
    localizer: localize,
  });
  return { host, mcp, recorder, toolNames: tools.map((tool) => tool.definition.name) };
}
