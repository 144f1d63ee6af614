// @invariant vscode-only-in-extension: Only `extension` imports `vscode`, only the worker program of the local model imports

// `node-llama-cpp`, and only `tools/mcp` imports the MCP SDK.
import path from 'node:path';
import * as vscode from 'vscode';
import { ExecutionEngine } from '../engine/run/engine.ts';
import type { StateCacheOptions } from '../llm/local/ipc/stateCacheOptions.ts';
import type { ModelFileReader } from '../llm/local/modelFile/modelLibrary.ts';
import { lazyImport } from '../protocol/panel/lazyImport.ts';
import type { RunEvent } from '../protocol/run/events.ts';
import { pendingApprovalIds } from '../protocol/run/pending.ts';
import { newRun, runTitle } from '../protocol/run/run.ts';
import { messageOf } from '../protocol/text/localized.ts';
import { createIsolatedListener } from '../protocol/values/listeners.ts';
import { modelStatesFolder } from '../runs/modelStates.ts';
import { RunStore } from '../runs/store.ts';
import { excludeCurrentFolderFromPath } from '../tools/core/programs.ts';
import { createSearchExclusionTest } from '../tools/policy/policy.ts';
import { BackgroundCommands } from '../tools/shell/background.ts';
import { OrphanedCommands } from '../tools/shell/orphanedCommands.ts';
import { PackageRegistry } from '../workflows/package/packageRegistry.ts';
import { defaultChatWorkflow } from '../workflows/run/chatWorkflow.ts';
import { AlwaysAllowedRules } from './approvals/addedRules.ts';
import { ApprovalDialogQueue } from './approvals/approvals.ts';
import { DiffDocumentProvider } from './approvals/diffs.ts';
import { notifyRunHeldByDenial } from './approvals/pausedRun.ts';
import { ApprovalPolicies } from './approvals/policies.ts';
import { ApprovalReviewEditors } from './approvals/reviews.ts';
import { BackgroundCommandList } from './background/backgroundCommands.ts';
import { CommandTerminal } from './background/commandTerminal.ts';
import { OrphanedCommandsNotice } from './background/orphanedCommandsNotice.ts';
import { Dialogs } from './dialogs/dialogs.ts';
import { setNotificationTarget } from './dialogs/notify.ts';
import { EditorWorkspace } from './editor/editorWorkspace.ts';
import { ChangeErrorDetector } from './editor/problems.ts';
import { watchPackages } from './language/packageProblems.ts';
import { WorkflowFiles } from './language/workflowFiles.ts';
import { workflowLanguageFeatures } from './language/workflowLanguage.ts';
import { watchWorkflowFiles } from './language/workflowProblems.ts';
import { AttachedSelection } from './mentions/attachedSelection.ts';
import { TerminalOutputs } from './mentions/terminals.ts';
import type { ProvidedModel } from './modelProvider/registerProvider.ts';
import { SelectableModels } from './models/models.ts';
import { StoredChecks } from './models/storedChecks.ts';
import { DetailLevelSetting } from './panel/detailLevel.ts';
import { WalkthroughProgress } from './panel/firstSteps.ts';
import { PanelMessageHandler } from './panel/panel.ts';
import { RunList } from './panel/runList.ts';
import { waitingRunsBadge } from './panel/status.ts';
import { StatusBar } from './panel/statusBar.ts';
import { LocalEngine } from './providers/localEngine.ts';
import { ModelConsent } from './providers/modelConsent.ts';
import { MoneyLimits } from './providers/moneyLimits.ts';
import { AuditLog } from './records/auditLog.ts';
import { FullDiskMonitor } from './records/freeSpace.ts';
import { RunLogOutput } from './records/runLogPage.ts';
import { allWorkspaceStorages, mergeWindowStorages, sharedStorage } from './records/storage.ts';
import { ChangedFiles } from './runs/changedFiles.ts';
import { PanelConversation } from './runs/conversation.ts';
import { Branches } from './runs/forkRun.ts';
import { InterruptedApprovals } from './runs/interruptedApprovals.ts';
import { notifyRunEnd } from './runs/notifyEnd.ts';
import { AgentPicker } from './runs/pickAgent.ts';
import { RunStates } from './runs/runStates.ts';
import { RunTitles } from './runs/titles.ts';
import { FileUndo } from './runs/undoFiles.ts';
import { UserQuestionList } from './runs/userQuestions.ts';
import { Worktrees } from './runs/worktrees.ts';
import { DecisionFile } from './settings/decisionFile.ts';
import { Secrets } from './settings/secrets.ts';
import { settings } from './settings/settings.ts';
import { useEditorLanguage } from './useEditorLanguage.ts';
import type { ChatPage } from './view/chatPage.ts';
import { ChatView } from './view/chatView.ts';
import { UserActivity } from './view/userActivity.ts';
import { createParserWorkers } from './worker/parserWorker.ts';

/** Milliseconds of delay before the suggestions are computed. */
const offersAfterMs = 1000;

/** Milliseconds of delay before obsolete data is removed. */
const sweepAfterMs = 60_000;

/**
 * Extension as used by the entry point (`start.ts`). `offered` returns the model provider for the editor. `close` is optional: journals are
 * always complete, and the model process ends with its parent.
 */
export interface Towpath {
  run(command: string, args: unknown[]): unknown;
  offered(): Promise<ProvidedModel>;
  close(): Promise<void>;
}

/** Builds the extension, in the order of a message's path. */
export function createTowpath(context: vscode.ExtensionContext, page: ChatPage): Towpath {
  excludeCurrentFolderFromPath(); // before any process starts
  useEditorLanguage(); // this bundle has its own copy of the localizer
  context.subscriptions.push(settings.watch(vscode.workspace.onDidChangeConfiguration)); // before all other listeners
  const log = vscode.window.createOutputChannel('Towpath', { log: true });
  // Without an open folder there is no workspace storage; runs are stored with the profile.
  const withoutFolder = path.join(context.globalStorageUri.fsPath, 'no-workspace');
  const storage = vscode.Uri.file(context.storageUri ? sharedStorage(context.storageUri.fsPath) : withoutFolder);
  const problems = new ChangeErrorDetector();
  const workspace = new EditorWorkspace(problems, context.extensionPath);
  const secrets = new Secrets(context.secrets, context.globalState);
  const runLogs = new RunLogOutput(log, () => secrets.all());
  const memory = new DecisionFile(path.join(storage.fsPath, 'approvals.json'));
  const panelTurned = () => {
    approvals.panelTurned();
    asks.panelTurned();
  };
  const view = new ChatView(page, (message) => panel.receive(message), log, panelTurned);
  setNotificationTarget(view, log);
  const presence = new UserActivity(view);
  const modals = new Dialogs(presence);
  const namedModels = new ModelConsent(memory, modals);
  const localEngine = new LocalEngine(context);
  const limits = new MoneyLimits(path.join(context.globalStorageUri.fsPath, 'spent'), modals);
  const checks = new StoredChecks(context.globalState, () => void panel.showState());
  const keep = (): StateCacheOptions | undefined => {
    const bytes = settings()['local.stateQuota'];
    const folders = allWorkspaceStorages(storage.fsPath, withoutFolder).map((one) => modelStatesFolder(storeIn(one)));
    return bytes > 0 ? { folder: store.modelStates, folders, runs: store.runsFolder, bytes } : undefined;
  };
  const readModel: ModelFileReader = (file) =>
    asides.others.run('model', file).catch((error: unknown) => ({ trouble: messageOf(error) }));
  const models = new SelectableModels(
    context,
    secrets,
    namedModels,
    localEngine,
    modals,
    limits.day,
    keep,
    log,
    checks,
    readModel,
    () => void panel.showState(),
  );
  const audit = new AuditLog({
    folder: () => settings()['audit.folder'],
    secrets: () => secrets.all(),
    roots: () => workspace.roots.map((root) => root.path),
    about: { towpath: context.extension.packageJSON.version, editor: vscode.version, window: windowName() },
  });
  const store = new RunStore(storeIn(storage.fsPath), Date.now, windowName(), audit.keep);
  const diskRoom = new FullDiskMonitor(storage.fsPath, () => void panel.showState());
  const diffs = new DiffDocumentProvider(store);
  const statusBar = new StatusBar();
  const logError = (error: unknown) => log.error(error instanceof Error ? error : String(error));
  // A rendering failure never stops approvals, runs or commands.
  const showStatus: (event?: unknown) => void = createIsolatedListener(
    [
      () => states.update(),
      () => {
        page.badge = waitingRunsBadge(states.all);
      },
      () =>
        statusBar.show({
          working: engine.liveIds.length,
          approvals: approvals.count + interrupted.count + interrupted.otherRuns.length,
          questions: asks.count,
          runs: states.all,
          widest: policies.widest([conversation.id, ...engine.liveIds]),
          commands: background.atWork,
        }),
    ],
    logError,
  );
  const states: RunStates = new RunStates({
    store,
    liveIds: () => engine.liveIds,
    waits: (runId) => (approvals.has(runId) ? 'approval' : asks.has(runId) ? 'question' : undefined),
    awaitsApproval: (runId) => pendingApprovalIds(engine.live(runId) ?? newRun(runId)).length > 0,
    titleOf: (runId) => {
      const run = engine.live(runId);
      return run && runTitle(run);
    },
    inView: () => (presence.panelInView ? conversation.runId : undefined),
    ended: (run) =>
      notifyRunEnd(run, {
        panelInView: () => presence.panelInView,
        read: (runId) => store.read(runId),
        async show(runId) {
          await vscode.commands.executeCommand('towpath.chat.focus');
          await conversation.open(runId);
        },
      }).catch((error) => log.error(error)),
    changed: () => {
      showStatus();
      void runList.refresh();
    },
  });
  const userMemory = new DecisionFile(path.join(context.globalStorageUri.fsPath, 'approvals.json'));
  const policies = new ApprovalPolicies(memory, userMemory, modals, log, () => {
    showStatus();
    void panel.showState();
  });
  const reviews = new ApprovalReviewEditors();
  const nameOf = (runId: string) => runTitle(engine.live(runId) ?? newRun(runId));
  const addedRules = new AlwaysAllowedRules(policies);
  const approvals = new ApprovalDialogQueue({
    reviews,
    addedRules,
    presence,
    changed: showStatus,
    shown: () => conversation.runId,
    otherRun: (runId) => (runId === conversation.runId ? undefined : nameOf(runId)),
    notice: (notice) => conversation.notice(notice),
    needsInstructions: (runId) =>
      void notifyRunHeldByDenial(nameOf(runId), async () => {
        await conversation.open(runId);
        await vscode.commands.executeCommand('towpath.focus');
      }),
  });
  const firstSteps = new WalkthroughProgress();
  const asides = createParserWorkers(path.join(context.extensionPath, 'dist', 'aside.cjs'));

  const terminal = new CommandTerminal();
  const left = new OrphanedCommands();
  const background: BackgroundCommands = new BackgroundCommands({
    keep: (runId, text) => store.contents.keep(runId, text),
    ended: ({ runId, toolCallId }, end) => engine.note(runId, { type: 'command-end', toolCallId, ...end }),
    changed: () => {
      showStatus();
      void panel.showState();
    },
    onListenerError: logError,
  });
  const toolset = lazyImport(
    () => import('./toolset.ts'),
    ({ createToolset }) =>
      createToolset({ context, workspace, modals, approvals, policies, left, background, terminal, asides }),
  );
  const workflowFiles = new WorkflowFiles(async () => (await toolset()).toolNames, asides.files);
  const workflowOfFile = lazyImport(
    () => import('./language/workflowOfFile.ts'),
    (part) => (id: string) => part.loadWorkflowFromFile(workflowFiles, id),
  );
  const packageRuns = lazyImport(() => import('../workflows/package/workflowOf.ts'));
  const shelf = new PackageRegistry({
    project: workspace,
    storage: path.join(storage.fsPath, 'packages'),
    openedFile: path.join(storage.fsPath, 'opened-packages.json'),
    stateFolder: (runId) => store.stateFolder(runId),
    autopilot: () => settings()['packages.autopilot'],
    now: () => new Date(),
    read: (place, folder) => asides.packages.run('package', place, folder),
    follow: async (...of) => (await packageRuns()).packageWorkflowOfRun(...of),
  });
  const instructions = lazyImport(
    () => import('../tools/instructions/instructions.ts'),
    (part) =>
      part.workspaceInstructions({
        workspace,
        isKept: (path) => createSearchExclusionTest(policies.current(), '')(path),
      }),
  );
  const engine: ExecutionEngine = new ExecutionEngine({
    store,
    host: async () => (await toolset()).host,
    workflow: async (id) =>
      id === defaultChatWorkflow.id
        ? defaultChatWorkflow
        : ((await shelf.workflow(id)) ?? (await workflowOfFile())(id)),
    model: (asked) => models.current(asked),
    modelId: () => models.currentId,
    small: (how) => models.small(how),
    naming: () => models.naming(),
    workspace: async () => ({
      names: [...(workspace.virtual?.folders ?? []), ...workspace.roots].map(({ name }) => name),
      ...(workspace.virtual && { virtual: true as const }),
    }),
    instructions: {
      get trusted() {
        return workspace.trusted;
      },
      everywhere: async () => (await instructions()).everywhere(),
      near: async (paths) => (await instructions()).near(paths),
    },
    maxTurns: () => settings().maxTurns,
    temperature: () => settings().temperature,
    runLimit: () => limits.of('run'),
    isAttended: (runId) => conversation.runId === runId,
    left,
    background,
    tell: createIsolatedListener<RunEvent>(
      [
        (event) => conversation.told(event),
        (event) => asks.told(event),
        (event) => interrupted.told(event),
        (event) => runLogs.told(event),
        (event) => audit.told(event),
        (event) => states.told(event),
        (event) => diskRoom.told(event),
        (event) => changedFiles.told(event),
        (event) => firstSteps.told(event),
        (event) => event.runId === conversation.runId && selected.told(event),
        (event) => event.type === 'phase' && showStatus(),
        (event) =>
          event.type === 'phase' &&
          event.phase !== 'Running' &&
          store.contents.trim(settings()['undo.quota'], new Set(engine.liveIds)),
      ],
      logError,
    ),
    onListenerError: logError,
  });

  const conversation: PanelConversation = new PanelConversation(
    engine,
    store,
    view,
    background,
    storage.fsPath,
    (runs) => {
      showStatus();
      void panel.showState();
      void runList.refresh();
      if (!runs) return;
      void branches.show();
      void states.look();
    },
    () => agents.next,
  );
  const interrupted: InterruptedApprovals = new InterruptedApprovals({
    engine,
    store,
    conversation,
    approvals,
    presence,
    workspace,
    states,
    changed: showStatus,
  });
  conversation.onShow = (run, isElsewhere) => {
    interrupted.show(run, isElsewhere);
    changedFiles.show(run);
    approvals.runShown();
  };
  const agents: AgentPicker = new AgentPicker({
    memory: context.workspaceState,
    engine,
    conversation,
    files: workflowFiles,
    changed: () => void panel.showState(),
  });
  const worktrees = new Worktrees({
    conversation,
    memory: new DecisionFile(path.join(context.globalStorageUri.fsPath, 'worktrees.json')),
    store: storeIn(storage.fsPath),
  });
  const elsewhere = () => worktrees.elsewhere();
  const runList = new RunList({ store, states, liveIds: () => engine.liveIds, elsewhere, view });
  const titles = new RunTitles({ engine, store, conversation, states, changed: () => void runList.refresh() });
  const asks = new UserQuestionList({
    shown: () => conversation.runId,
    panelInView: () => presence.panelInView,
    titleOf: nameOf,
    open: (runId) => conversation.open(runId),
    focus: () => view.focus(),
    notice: (notice) => conversation.notice(notice),
    changed: showStatus,
  });
  const leftRunning = new OrphanedCommandsNotice(store, left, conversation);
  const commandsAtWork = new BackgroundCommandList(background, conversation);
  const undo = new FileUndo(engine, store, workspace, conversation, modals);
  const branches = new Branches({ engine, store, conversation, undo, policies, view });
  const changedFiles: ChangedFiles = new ChangedFiles({
    shown: () => conversation.runId,
    store,
    workspace,
    reviewed: new DecisionFile(path.join(storage.fsPath, 'reviewed.json')),
    post: (message) => view.post(message),
    failed: logError,
  });
  const terminals = new TerminalOutputs(() => secrets.all());
  const mentions = lazyImport(
    () => import('./mentions/mentions.ts'),
    (part) =>
      new part.Mentions({
        workspace,
        terminals,
        policy: (runId) => policies.current(runId),
        window: () => models.window,
        post: (message) => view.post(message),
      }),
  );
  const offers = lazyImport(
    () => import('./mentions/gatherSuggestions.ts'),
    (part) => part.gatherSuggestions,
  );
  const selected = new AttachedSelection({
    workspace,
    memory: context.workspaceState,
    post: (message) => view.post(message),
  });
  const slashes = lazyImport(
    () => import('./mentions/slashCommands.ts'),
    (part) =>
      new part.SlashCommands({
        mentions,
        files: workflowFiles,
        servers: async () => (await toolset()).mcp.servers,
        skills: async () => (await instructions()).skills(),
        conversation,
        agents,
        post: (message) => view.post(message),
        focus: () => view.focus(),
      }),
  );
  const details = new DetailLevelSetting(context.workspaceState, (): Promise<void> => panel.showState());
  const panel = new PanelMessageHandler({
    view,
    conversation,
    agents,
    engine,
    store,
    models,
    limits,
    approvals,
    interrupted,
    asks,
    branches,
    changedFiles,
    modals,
    runList,
    titles,
    worktrees,
    policies,
    addedRules,
    details,
    diskRoom,
    diffs,
    undo,
    background,
    commandsAtWork,
    mentions,
    selected,
    slashes,
    offers: async () => (await offers())(workspace),
    firstSteps,
    workspace,
    log,
  });

  const offered = lazyImport(
    () => import('./modelProvider/providedModels.ts'),
    ({ ProvidedModels }) =>
      new ProvidedModels({
        context,
        models,
        modals,
        readModel,
        modelsAtWork: () => engine.liveIds.map((id) => engine.live(id)?.models?.at(-1)?.model ?? models.currentId),
        recorded: (model, ask) => audit.call('editor-ask', model, ask),
        log,
      }),
  );
  const commands = lazyImport(
    () => import('./commands.ts'),
    ({ createCommands }) =>
      createCommands({
        context,
        storage: storage.fsPath,
        details,
        conversation,
        agents,
        engine,
        store,
        changedFiles,
        undo,
        leftRunning,
        commandsAtWork,
        shelf,
        workflowFiles,
        asides,
        secrets,
        localEngine,
        readModel,
        models,
        offered,
        checks,
        limits,
        namedModels,
        approvals,
        interrupted,
        asks,
        branches,
        titles,
        states,
        worktrees,
        policies,
        workspace,
        audit,
        view,
        mentions,
        terminals,
        mcp: async () => (await toolset()).mcp,
        modals,
        log,
      }),
  );

  const sweep = async () => {
    await store.sweep();
    await shelf.sweep(() => store.workflowIds()).catch((error) => log.error(error));
    await localEngine.sweep();
  };
  const sweeping = setTimeout(sweep, sweepAfterMs);

  context.subscriptions.push(
    log,
    new vscode.Disposable(() => clearTimeout(sweeping)),
    statusBar,
    problems,
    terminal,
    terminals,
    selected,
    commandsAtWork,
    changedFiles,
    new vscode.Disposable(() => mentions.made()?.dispose()),
    new vscode.Disposable(() => offered.made()?.dispose()),
    diffs.register(),
    reviews.register(),
    presence,
    modals,
    diskRoom,
    approvals,
    policies,
    ...watchWorkflowFiles(workflowFiles, log),
    ...watchPackages(shelf, log),
    ...workflowLanguageFeatures(workflowFiles, asides.others),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('towpath')) void panel.showState();
      if (change.affectsConfiguration('towpath') && view.inView) void models.lookUpWindow();
    }),
    vscode.languages.onDidChangeDiagnostics(() => offersLater()),
    vscode.window.onDidChangeActiveTextEditor((front) => front && offersLater()),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void panel.showState()),
    vscode.workspace.onDidChangeWorkspaceFolders(() => void panel.showState()),
  );
  policies.look();
  let offering: NodeJS.Timeout | undefined;
  const offersLater = () => {
    clearTimeout(offering);
    offering = setTimeout(() => void panel.showOffers(), offersAfterMs);
  };
  context.subscriptions.push(new vscode.Disposable(() => clearTimeout(offering)));
  const lookAround = async () => {
    await states.look();
    await conversation.catchUp();
  };
  const watching = store.marks.watch(() => void lookAround());
  context.subscriptions.push(
    new vscode.Disposable(() => void watching.then((watch) => watch.dispose())),
    vscode.window.onDidChangeWindowState(({ focused }) => focused && void lookAround()),
  );
  void states.look();
  if (context.storageUri)
    mergeWindowStorages(storage.fsPath)
      .then((came) => (came > 0 ? runList.refresh() : undefined))
      .catch((error) => log.error(error));
  leftRunning.find().catch((error) => log.error(error));
  worktrees.arrive().catch((error) => log.error(error));
  view.listen();
  return {
    async run(command, args) {
      presence.called();
      return (await commands())(command, args);
    },
    offered,
    async close() {
      await Promise.all([conversation.leave(), background.close(), engine.close()]);
      await Promise.all([
        models.dispose(),
        toolset.made()?.mcp.dispose(),
        ...Object.values(asides).map((aside) => aside.dispose()),
      ]);
    },
  };
}

const storeIn = (storage: string) => path.join(storage, 'store');

/** Name of this window in its locks, for display in other windows. */
const windowName = () => [vscode.workspace.name, vscode.env.appName].filter(Boolean).join(' · ');
