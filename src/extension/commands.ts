import path from 'node:path';
import * as vscode from 'vscode';
import type { ExecutionEngine } from '../engine/run/engine.ts';
import type { ModelFileReader } from '../llm/local/modelFile/modelLibrary.ts';
import type { TowpathCommandId } from '../protocol/panel/intents.ts';
import { t } from '../protocol/text/l10n.ts';
import type { RunStore } from '../runs/store.ts';
import type { Workspace } from '../tools/core/workspace.ts';
import { createSearchExclusionPredicate } from '../tools/policy/policy.ts';
import type { PackageRegistry } from '../workflows/package/packageRegistry.ts';
import type { AgentServices } from './agents/agentServices.ts';
import type { ApprovalDialogQueue } from './approvals/approvals.ts';
import { showApprovalSettingsMenu } from './approvals/approvalsMenu.ts';
import { parseCallKey } from './approvals/findApproval.ts';
import type { ApprovalPolicies } from './approvals/policies.ts';
import { showRunApprovalPresetMenu } from './approvals/runPresetMenu.ts';
import type { SandboxPage } from './approvals/sandboxPage.ts';
import type { AskThreads } from './ask/askThreads.ts';
import type { BackgroundCommandList } from './background/backgroundCommands.ts';
import type { OrphanedCommandsNotice } from './background/orphanedCommandsNotice.ts';
import { CommitMessageWriter } from './commit/commitMessages.ts';
import type { SourceControl } from './commit/git.ts';
import type { Dialogs } from './dialogs/dialogs.ts';
import { notify } from './dialogs/notify.ts';
import { Doctor } from './doctor/doctor.ts';
import { doctorChecks } from './doctor/doctorChecks.ts';
import { helpCommand, showHelp } from './help/help.ts';
import { markHunkReviewed, showHunk, undoHunkAtCursor } from './hunks/hunkCommands.ts';
import type { RunHunks } from './hunks/runHunks.ts';
import { importAgentInstructions, showImportMenu } from './instructions/importOthers.ts';
import type { WorkflowFiles } from './language/workflowFiles.ts';
import { ModelDownloadWizard } from './localModels/downloadModel.ts';
import { ModelDownloads } from './localModels/downloads.ts';
import { GpuEngines } from './localModels/gpuEngines.ts';
import { ModelManager } from './localModels/modelManager.ts';
import { unloadLocalModel } from './localModels/unloadLocalModel.ts';
import { chooseEditorTools } from './mcp/editorToolsMenu.ts';
import type { McpServices } from './mcp/mcp.ts';
import { showMcpServers } from './mcp/mcpMenu.ts';
import type { Mentions } from './mentions/mentions.ts';
import { CodeContextCommands } from './mentions/runFromCode.ts';
import type { TerminalOutputs } from './mentions/terminals.ts';
import { offerModelsMenu, showIncomingModelRequests } from './modelProvider/providerMenu.ts';
import type { SharedModels } from './modelProvider/sharedModels.ts';
import { ModelCheckCommands } from './models/modelChecks.ts';
import { ModelSetupDialogs } from './models/modelPicker.ts';
import type { SelectableModels } from './models/models.ts';
import type { StoredModelCheckResults } from './models/storedChecks.ts';
import { testConnection } from './models/testConnection.ts';
import type { DetailLevelSetting } from './panel/detailLevel.ts';
import type { LocalEngine } from './providers/localEngine.ts';
import type { ModelConsent } from './providers/modelConsent.ts';
import { demoModelId } from './providers/modelIds.ts';
import type { MoneyLimits } from './providers/moneyLimits.ts';
import type { AuditLog } from './records/auditLog.ts';
import { copyRunLog } from './records/copyLog.ts';
import { exportRun, importRuns } from './records/exchange.ts';
import { Insights, listWorkspaceStores } from './records/insightsView.ts';
import { manageStorage } from './records/manageStorage.ts';
import type { ReviewComments } from './review/reviewComments.ts';
import type { ChangedFiles } from './runs/changedFiles.ts';
import type { PanelConversation } from './runs/conversation.ts';
import { confirmAndDeleteRun, deleteRunWithoutBranches, showDeletedRuns } from './runs/deletedRuns.ts';
import type { ConversationBranches } from './runs/forkRun.ts';
import type { InterruptedApprovals } from './runs/interruptedApprovals.ts';
import { continueInterruptedWork, repeatInterruptedWork } from './runs/interruptedWork.ts';
import type { AgentPicker } from './runs/pickAgent.ts';
import { pickCurrentRuns, pickRun } from './runs/pickRun.ts';
import { sendToRun, showQueuedMessages } from './runs/queuedMessagesMenu.ts';
import { raiseSpendingLimit } from './runs/raiseLimit.ts';
import { revertChangeAtCursor } from './runs/revertChange.ts';
import { showRunList } from './runs/runMenu.ts';
import type { RunStates } from './runs/runStates.ts';
import { takeOverRun } from './runs/takeOverRun.ts';
import type { RunTitles } from './runs/titles.ts';
import { pickModelOfRun, tryAnotherModel } from './runs/tryAnotherModel.ts';
import type { FileUndo } from './runs/undoFiles.ts';
import type { UserQuestionList } from './runs/userQuestions.ts';
import type { Worktrees } from './runs/worktrees.ts';
import type { Secrets } from './settings/secrets.ts';
import type { TaskDelegation } from './tasks/delegateTask.ts';
import type { ChatView } from './view/chatView.ts';
import type { createJobWorkers } from './worker/jobWorker.ts';
import { WorkflowPackageCommands } from './workflows/packages.ts';
import type { RepositoryAgentCommands } from './workflows/runAgent.ts';
import { WorkflowCommands } from './workflows/workflows.ts';

interface Dependencies {
  context: vscode.ExtensionContext;
  storage: string;
  /** Stores of all workspaces, absolute. */
  allStores(): string[];
  conversation: PanelConversation;
  agents: AgentPicker;
  agentCommands(): Promise<RepositoryAgentCommands>;
  delegation(): Promise<TaskDelegation>;
  repositoryAgents(): Promise<AgentServices>;
  engine: ExecutionEngine;
  store: RunStore;
  changedFiles: ChangedFiles;
  hunks: RunHunks;
  reviewComments: ReviewComments;
  askThreads(): Promise<AskThreads>;
  undo: FileUndo;
  leftRunning: OrphanedCommandsNotice;
  commandsAtWork: BackgroundCommandList;
  worktrees: Worktrees;
  shelf: PackageRegistry;
  workflowFiles: WorkflowFiles;
  jobWorkers: ReturnType<typeof createJobWorkers>;
  secrets: Secrets;
  localEngine: LocalEngine;
  readModel: ModelFileReader;
  models: SelectableModels;
  offered(): Promise<SharedModels>;
  checks: StoredModelCheckResults;
  limits: MoneyLimits;
  namedModels: ModelConsent;
  approvals: ApprovalDialogQueue;
  asks: UserQuestionList;
  interrupted: InterruptedApprovals;
  branches: ConversationBranches;
  titles: RunTitles;
  states: RunStates;
  policies: ApprovalPolicies;
  sandboxPage: SandboxPage;
  details: DetailLevelSetting;
  workspace: Workspace;
  audit: AuditLog;
  view: ChatView;
  mentions(): Promise<Mentions>;
  terminals: TerminalOutputs;
  mcp(): Promise<McpServices>;
  modals: Dialogs;
  log: vscode.LogOutputChannel;
}

type CommandServices = ReturnType<typeof createCommandServices>;

function createCommandServices(given: Dependencies) {
  const { context, conversation, engine, store, models, localEngine, policies, workspace, audit, modals, log } = given;
  const setup = new ModelSetupDialogs(models, given.secrets, log);
  const downloads = new ModelDownloads(context.globalStorageUri, log);
  const fetcher = new ModelDownloadWizard(models, downloads, localEngine, modals);
  const modelChecks = new ModelCheckCommands({ ...given, version: versionOf(context) });
  const manager = new ModelManager(
    localEngine,
    models,
    given.checks,
    downloads,
    fetcher,
    setup,
    modals,
    given.readModel,
  );
  const commitMessages = new CommitMessageWriter({ models, limits: given.limits, policies, workspace, audit });
  const templates = vscode.Uri.joinPath(context.extensionUri, 'src', 'workflows', 'templates');
  const { storageUri, globalStorageUri, extensionUri } = context;
  const insights = new Insights(extensionUri, path.join(given.storage, 'store'), () =>
    listWorkspaceStores(storageUri?.fsPath, path.join(globalStorageUri.fsPath, 'no-workspace')),
  );
  const servers = async () => (await given.mcp()).servers;
  const doctor = new Doctor(doctorChecks({ ...given, engine: localEngine, servers }), () => given.secrets.all(), log);
  context.subscriptions.push(
    downloads,
    manager.register(),
    modelChecks.register(),
    doctor.register(),
    commitMessages,
    insights,
  );
  return {
    ...given,
    setup,
    fetcher,
    manager,
    modelChecks,
    commitMessages,
    insights,
    fromCode: new CodeContextCommands({ ...given, secrets: () => given.secrets.all() }),
    exchange: { store, secrets: given.secrets, jobWorkers: given.jobWorkers.others },
    packages: new WorkflowPackageCommands(given.shelf, conversation, { engine, store }, modals),
    workflows: new WorkflowCommands(given.workflowFiles, conversation, templates),
    doctor,
    gpuEngines: new GpuEngines(localEngine, modals),
    helpPages: vscode.Uri.joinPath(context.extensionUri, 'src', 'help'),
  };
}

/** Creates the functions of the intents. Commands with an argument can be called from keybindings and tests. */
export function createCommands(given: Dependencies): (id: TowpathCommandId, args: unknown[]) => unknown {
  const parts = createCommandServices(given);
  const {
    view,
    conversation,
    undo,
    packages,
    setup,
    manager,
    fetcher,
    doctor,
    models,
    approvals,
    asks,
    workflows,
    fromCode,
    log,
  } = parts;
  const commands: Record<TowpathCommandId, (...args: never[]) => unknown> = {
    'towpath.run': async (text?: string) => {
      const task = typeof text === 'string' ? text : await askTask();
      if (!task?.trim()) return;
      await showPanel();
      await conversation.open(undefined);
      void conversation.send(task.trim());
    },
    'towpath.focus': async () => {
      if (!view.inView) await showPanel(); // a reveal of the focused panel would lose the user's next keys
      await view.focus({ requested: true });
    },
    'towpath.addContext': () => fromCode.addContext(),
    'towpath.addToChat': (...args: unknown[]) => fromCode.addToChat(args),
    'towpath.addSelection': () => fromCode.addSelection(),
    'towpath.addProblem': () => fromCode.addProblem(),
    'towpath.addChange': (...args: unknown[]) => fromCode.addChange(args),
    'towpath.addTestFailure': (...args: unknown[]) => fromCode.addTestFailure(args),
    'towpath.addTerminal': (...args: unknown[]) => fromCode.addTerminal(args),
    'towpath.addTerminalSelection': () => fromCode.addTerminalSelection(),
    'towpath.explain': (...args: unknown[]) => fromCode.ask('explain', args),
    'towpath.fix': (...args: unknown[]) => fromCode.ask('fix', args),
    'towpath.writeTests': (...args: unknown[]) => fromCode.ask('writeTests', args),
    'towpath.reviewChanges': () => fromCode.reviewChanges(),
    'towpath.askHere': async () => (await parts.askThreads()).open(),
    'towpath.askHere.send': async (reply?: unknown) => (await parts.askThreads()).send(reply),
    'towpath.askHere.openRun': async (thread?: unknown) => {
      const runId = (await parts.askThreads()).runOf(thread);
      if (runId !== undefined) await showRun(parts, runId);
    },
    'towpath.askHere.close': async (thread?: unknown) => (await parts.askThreads()).close(thread),
    'towpath.fixFinding': (thread?: unknown) => fromCode.fixFinding(parts.reviewComments.findingOf(thread)),
    'towpath.dismissFinding': (thread?: unknown) => parts.reviewComments.dismiss(thread),
    'towpath.dismissFindings': () => parts.reviewComments.dismissAll(),
    'towpath.explainTerminalSelection': () => fromCode.askTerminalSelection('explain'),
    'towpath.fixTerminalSelection': () => fromCode.askTerminalSelection('fix'),
    'towpath.runWorkflow': (id?: string, values?: Record<string, unknown>, text?: string) =>
      workflows.runWorkflow(id, values, text),
    'towpath.runAgent': async (id?: string, text?: string) => (await parts.agentCommands()).run(id, text),
    'towpath.delegateTask': async (agent?: unknown, prompt?: unknown) =>
      (await parts.delegation()).delegate(agent, prompt),
    'towpath.newWorkflow': (template?: string) => workflows.newWorkflow(template),
    [helpCommand]: (page?: unknown) => showHelp(parts.helpPages, page),
    'towpath.stop': () => stopRuns(parts),
    'towpath.pause': () => conversation.pause(),
    'towpath.say': (text?: unknown, when?: unknown) => sendToRun(parts, text, when),
    'towpath.waiting': () => showQueuedMessages(parts),
    'towpath.continue': async () => {
      await showPanel();
      void conversation.goOn();
    },
    'towpath.compact': async () => {
      await showPanel();
      void conversation.compact(); // not awaited: a compaction may take a minute, and the focus must return first
    },
    'towpath.raiseLimit': () => raiseSpendingLimit(parts),
    'towpath.continueAfter': () => continueInterruptedWork(parts),
    'towpath.runAgain': () => repeatInterruptedWork(parts),
    'towpath.tryAnotherModel': (id?: string) => tryAnotherModel(parts, id),
    'towpath.newRun': async () => {
      // Opened at once: a message that is sent before the panel is shown begins the new run.
      await Promise.all([conversation.open(undefined), showPanel()]);
      await view.focus();
    },
    'towpath.pickAgent': () => parts.agents.pick(),
    'towpath.planFirst': (mode?: unknown) => parts.agents.togglePlanMode(mode === 'plan' || undefined),
    'towpath.newRunInWorktree': () => parts.worktrees.begin(),
    'towpath.openRun': () => showRunList(parts),
    'towpath.runsNow': () => showRunsNow(parts),
    'towpath.renameRun': (id?: unknown) => parts.titles.rename(typeof id === 'string' ? id : undefined),
    'towpath.pinRun': (id?: unknown) => parts.titles.pin(typeof id === 'string' ? id : undefined),
    'towpath.deleteRun': async () => {
      const runId = (await pickRun(parts.store, parts.states, t('Towpath: delete a run')))?.run?.id;
      if (runId) await confirmAndDeleteRun(runId, parts);
    },
    'towpath.takeOver': () => takeOverRun(parts),
    'towpath.deletedRuns': () => showDeletedRuns(parts.store, conversation, parts.modals),
    'towpath.editAndSend': () => parts.branches.editAndSend(),
    'towpath.forkRun': () => parts.branches.fork(),
    'towpath.switchBranch': () => parts.branches.switch(),
    'towpath.restoreFiles': () => parts.branches.restoreFiles(),
    'towpath.details': () => parts.details.choose(),
    'towpath.undoTurn': () => undo.all('turn'),
    'towpath.undoRun': () => undo.all('run'),
    'towpath.redo': () => undo.redo(),
    'towpath.takeBackChange': () => revertChangeAtCursor(parts),
    'towpath.nextChange': () => showHunk(parts, 'next'),
    'towpath.previousChange': () => showHunk(parts, 'previous'),
    'towpath.undoChangeAtCursor': (uri?: unknown, key?: unknown) => undoHunkAtCursor(parts, uri, key),
    'towpath.markChangeReviewed': (uri?: unknown, key?: unknown) => markHunkReviewed(parts, uri, key),
    'towpath.commands': () => parts.commandsAtWork.choose(),
    'towpath.writeCommitMessage': (pressed?: SourceControl) => parts.commitMessages.write(pressed),
    'towpath.stopCommitMessage': (pressed?: SourceControl) => parts.commitMessages.stop(pressed),
    'towpath.endCommands': () => parts.leftRunning.choose(),
    'towpath.answer': async (given?: unknown) => {
      const key = parseCallKey(given);
      if (key && asks.has(key.runId, key.toolCallId)) return asks.show(key.runId);
      if (key ? approvals.has(key.runId, key.toolCallId) : approvals.inFront) return approvals.show(key);
      const { runId } = conversation;
      if (!key && runId !== undefined && asks.has(runId)) return asks.show(runId);
      if ((await parts.interrupted.answer(key)) || key) return;
      if (approvals.count > 0) return approvals.show();
      if (asks.count > 0) return asks.show();
      if (parts.interrupted.otherRuns.length === 0) return;
      await showPanel();
      await parts.interrupted.answerOther();
    },
    'towpath.denyWithWords': (given?: unknown) => approvals.deny(parseCallKey(given)),
    'towpath.review.allow': (uri?: vscode.Uri) => approvals.answerReview('allow', uri),
    'towpath.review.allowChanged': (uri?: vscode.Uri) => approvals.answerReview('allow', uri),
    'towpath.review.deny': (uri?: vscode.Uri) => approvals.answerReview('deny', uri),
    'towpath.review.denyWithWords': (uri?: vscode.Uri) => approvals.answerReview('deny', uri),
    'towpath.review.copyCommand': (uri?: vscode.Uri) => approvals.copyReviewedCommand(uri),
    'towpath.reviews.allow': () => approvals.answerReviews('allow'),
    'towpath.reviews.deny': () => approvals.answerReviews('deny'),
    'towpath.reviews.denyWithWords': () => approvals.answerReviews('deny'),
    'towpath.approvals': async () =>
      showApprovalSettingsMenu(parts.policies, await parts.mcp(), {
        models: parts.namedModels,
        agents: (await parts.repositoryAgents()).consent,
      }),
    'towpath.runPreset': async (id?: string) => {
      await conversation.restored;
      const runId = typeof id === 'string' ? id : conversation.id;
      const run = (await parts.store.list()).find((one) => one.id === runId);
      await showRunApprovalPresetMenu(parts.policies, { id: runId, title: run?.title ?? t('New run') });
    },
    'towpath.sandbox': () => parts.sandboxPage.show(),
    'towpath.setUpSandbox': () => showHelp(parts.helpPages, 'sandbox'),
    'towpath.packages': () => packages.menu(),
    'towpath.runPackageWorkflow': () => packages.runWorkflow(),
    'towpath.talkToPackageAgent': () => packages.talk(),
    'towpath.openPackage': (file?: unknown) => packages.open(typeof file === 'string' ? file : undefined),
    'towpath.forgetPackage': () => packages.forget(),
    'towpath.pickModel': (given?: { forBranch?: true }) => pickModelOfRun(parts, !given?.forBranch),
    'towpath.useLocal': () => setup.useLocal(),
    'towpath.unloadLocal': async () => {
      await parts.engine.makeWay();
      await unloadLocalModel(models);
    },
    'towpath.useEndpoint': () => setup.useEndpoint(),
    'towpath.useDemo': () => models.pick(demoModelId),
    'towpath.manageModels': () => manager.manage(),
    'towpath.checkModel': (id?: unknown) => parts.modelChecks.check(typeof id === 'string' ? id : undefined),
    'towpath.modelChecks': () => parts.modelChecks.show(),
    'towpath.exportChecks': (given?: { format?: 'markdown' | 'json'; to?: vscode.Uri }) =>
      parts.modelChecks.export(given),
    'towpath.downloadModel': () => fetcher.offer(),
    'towpath.addGpuEngine': (kind?: unknown) => parts.gpuEngines.add(typeof kind === 'string' ? kind : undefined),
    'towpath.setKey': (provider?: unknown) => setup.setKey(typeof provider === 'string' ? provider : undefined),
    'towpath.setSecret': (name?: unknown) => setup.headerSecrets.set(typeof name === 'string' ? name : undefined),
    'towpath.deleteKey': () => setup.deleteKey(),
    'towpath.mcpServers': async () => showMcpServers(await parts.mcp(), parts.policies),
    'towpath.editorTools': async () => {
      const { editorTools, reviews } = await parts.mcp();
      await chooseEditorTools(editorTools, reviews);
    },
    'towpath.offerModels': async () => offerModelsMenu(await parts.offered(), models, parts.modals),
    'towpath.editorAsks': async () => showIncomingModelRequests(await parts.offered()),
    'towpath.testConnection': () => testConnection(models, log),
    'towpath.doctor': () => doctor.examine(),
    'towpath.openSettings': (setting?: unknown) =>
      vscode.commands.executeCommand(
        'workbench.action.openSettings',
        typeof setting === 'string' ? `@id:${setting}` : '@ext:towpath.towpath',
      ),
    'towpath.openMachineSettings': () =>
      vscode.commands.executeCommand('workbench.action.openRemoteSettings', { query: '@ext:towpath.towpath' }),
    'towpath.showLog': () => log.show(),
    'towpath.copyRunLog': async () => {
      await conversation.restored;
      await copyRunLog(conversation.runId, { ...parts, version: versionOf(parts.context) });
    },
    'towpath.exportRun': async (given?: { format?: 'markdown' | 'json'; to?: vscode.Uri }) => {
      await conversation.restored;
      await exportRun(conversation.runId, parts.exchange, given);
    },
    'towpath.import': () => showImportMenu(),
    'towpath.importOthers': () =>
      importAgentInstructions({
        workspace: parts.workspace,
        isExcluded: (path) => createSearchExclusionPredicate(parts.policies.current(), '')(path),
      }),
    'towpath.importRuns': async (file?: vscode.Uri) => {
      const runId = await importRuns(parts.exchange, file);
      if (runId === undefined) return;
      await showPanel();
      await conversation.open(runId);
    },
    'towpath.openInEditor': () => view.showTab(),
    'towpath.insights': () => parts.insights.show(),
    'towpath.manageStorage': () =>
      manageStorage({
        ...parts,
        liveIds: () => parts.engine.liveIds,
        deleteRun: (id) => deleteRunWithoutBranches(id, parts),
        boundSnapshots: (request) => parts.jobWorkers.snapshots.run('boundSnapshots', request),
      }),
  };
  return (id, args) => commands[id](...(args as never[]));
}

const versionOf = ({ extension }: vscode.ExtensionContext): string => extension.packageJSON.version;

async function stopRuns({ conversation, engine, states }: CommandServices): Promise<void> {
  const live = states.all.filter(({ runId }) => engine.liveIds.includes(runId));
  if (live.length < 2) return conversation.stop();
  const shownFirst = live.toSorted(
    (one, other) => Number(other.runId === conversation.runId) - Number(one.runId === conversation.runId),
  );
  const chosen = await pickCurrentRuns(shownFirst, t('Towpath: stop a run'), t('All {0}', live.length));
  if (chosen) await conversation.stop(chosen.map(({ runId }) => runId));
}

async function showRunsNow(parts: CommandServices): Promise<void> {
  await parts.states.look();
  const { all } = parts.states;
  if (all.length === 0) {
    notify('info', t('No runs in progress.'));
    return;
  }
  const [run] = (await pickCurrentRuns(all, t('Towpath: active runs'))) ?? [];
  if (run) await showRun(parts, run.runId);
}

async function showRun({ conversation }: CommandServices, runId: string): Promise<void> {
  await showPanel();
  await conversation.open(runId);
}

async function showPanel(): Promise<void> {
  await vscode.commands.executeCommand('towpath.showChat');
}

function askTask(): Thenable<string | undefined> {
  return vscode.window.showInputBox({
    title: t('Towpath: a new run'),
    prompt: t('What do you want to do?'),
    ignoreFocusOut: true,
  });
}
