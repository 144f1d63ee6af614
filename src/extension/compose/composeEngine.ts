import * as vscode from 'vscode';
import { ExecutionEngine } from '../../engine/run/engine.ts';
import { lazyImport } from '../../protocol/panel/lazyImport.ts';
import type { RunEvent } from '../../protocol/run/events.ts';
import { newRun, runTitle } from '../../protocol/run/run.ts';
import { taskTitleOfCall } from '../../protocol/run/tasks.ts';
import { IsolatedListeners } from '../../protocol/values/listeners.ts';
import { BackgroundRecordings } from '../../tools/host/backgroundRecordings.ts';
import { BackgroundCommands } from '../../tools/shell/background.ts';
import { OrphanedCommands } from '../../tools/shell/orphanedCommands.ts';
import { ApprovalDialogQueue } from '../approvals/approvals.ts';
import { notifyRunHeldByDenial } from '../approvals/pausedRun.ts';
import { ApprovalReviewEditors } from '../approvals/reviews.ts';
import { CommandOutputTerminal } from '../background/commandTerminal.ts';
import { PanelConversation } from '../runs/conversation.ts';
import { AgentPicker } from '../runs/pickAgent.ts';
import { settings } from '../settings/settings.ts';
import { createTaskOptions } from '../tasks/delegationOptions.ts';
import { TaskAgentList } from '../tasks/taskAgentList.ts';
import type { PolicyServices } from './composePolicies.ts';
import { composeWorkflowServices } from './composeWorkflows.ts';

export type EngineServices = ReturnType<typeof composeEngine>;

/**
 * Creates the engine with the tools, the conversation and the approvals of its runs. These form a cycle: the engine calls tools, a tool
 * needs an approval, and an approval names and opens runs. Some callbacks use a value that is created after them, marked by "later"; none
 * is called before a run starts. `events` delivers the events of all runs.
 */
export function composeEngine(services: PolicyServices) {
  const { context, logError, changes, workspace, view, presence, modals, jobWorkers } = services;
  const { storage, store, audit, models, limits, policies, addedRules, commandSandbox } = services;
  const events = new IsolatedListeners<RunEvent>(logError);

  const terminal = new CommandOutputTerminal();
  const left = new OrphanedCommands();
  const background: BackgroundCommands = new BackgroundCommands({
    keep: (runId, text) => store.contents.keepOutput(runId, text),
    applying: async ({ runId }) => (await toolset()).recorder.noteBackgroundChanges(runId), // later
    async ended({ runId, toolCallId }, end) {
      await backgroundRecordings.commandEnded({ runId, toolCallId });
      await engine.note(runId, { type: 'command-end', toolCallId, ...end }); // later
    },
    changed: () => {
      changes.status.notify();
      changes.state.notify();
    },
    onListenerError: logError,
    takesInput: true,
  });
  const backgroundRecordings: BackgroundRecordings = new BackgroundRecordings({
    begin: async (call) => (await toolset()).recorder.begin(call), // later
    emit: (runId, body) => engine.note(runId, body), // later
    newPack: (runId) => store.contents.newPack(runId),
    atWork: (runId) => background.atWork.flatMap((one) => (one.runId === runId ? [one.toolCallId] : [])),
  });
  events.add((event) => backgroundRecordings.onEvent(event));
  const toolset = lazyImport(
    () => import('../toolset.ts'),
    ({ createToolset }) =>
      createToolset({
        context,
        workspace,
        modals,
        approvals, // later
        policies,
        sandbox: {
          begin: async (request) => (await commandSandbox()).begin(request),
          availability: () => services.sandbox.probe(),
          allowableFolder: async (path, folders) => (await commandSandbox()).allowableFolder(path, folders),
        },
        left,
        background,
        backgroundRecordings,
        terminal,
        snapshotsFolder: store.snapshotsFolder,
        jobWorkers,
        audit,
      }),
  );
  const workflows = composeWorkflowServices(services, async () => (await toolset()).toolNames);
  const { repositoryAgents, instructions } = workflows;

  const taskAgents = new TaskAgentList({ agents: repositoryAgents });
  const parallelTasks = () => (workspace.trusted && !workspace.virtual ? settings()['tasks.parallel'] : 0);
  const otherRun = (runId: string) => (runId === conversation.runId ? undefined : titleOf(runId)); // later

  const engine: ExecutionEngine = new ExecutionEngine({
    store,
    host: async () => (await toolset()).host,
    workflow: workflows.workflow,
    model: (asked) => models.current(asked),
    modelId: () => models.currentId,
    effortOf: (id) => models.efforts.of(id),
    small: (options) => models.small(options),
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
    isAttended: (runId) => conversation.runId === runId, // later
    tasks: createTaskOptions({
      parallel: parallelTasks,
      today: () => limits.today(),
      list: taskAgents,
      dialogs: modals,
      otherRun,
    }),
    left,
    background,
    onEvent: events.notify,
    onListenerError: logError,
  });
  const titleOf = (runId: string) => runTitle(engine.live(runId) ?? newRun(runId));

  const conversation: PanelConversation = new PanelConversation(
    engine,
    store,
    view,
    background,
    storage,
    (runs) => {
      changes.status.notify();
      changes.state.notify();
      changes.runList.notify();
      if (runs) changes.runs.notify();
    },
    () => agents.next, // later
  );
  const agentCommands = lazyImport(
    () => Promise.all([import('../workflows/runAgent.ts'), repositoryAgents()]),
    ([{ RepositoryAgentCommands }, services]) => new RepositoryAgentCommands(services, conversation),
  );
  const agents: AgentPicker = new AgentPicker({
    memory: context.workspaceState,
    engine,
    conversation,
    repositoryAgents,
    mayUse: async (agent) => (await agentCommands()).mayUse(agent),
    changed: changes.state.notify,
  });
  const delegation = lazyImport(
    () => import('../tasks/delegateTask.ts'),
    ({ TaskDelegation }) =>
      new TaskDelegation({
        list: taskAgents,
        agents,
        conversation,
        workspace,
        mayUse: async (agent) => (await agentCommands()).mayUse(agent),
        parallel: () => settings()['tasks.parallel'],
        window: () => models.window,
      }),
  );

  const reviews = new ApprovalReviewEditors();
  const approvals = new ApprovalDialogQueue({
    reviews,
    addedRules,
    presence,
    changed: () => changes.status.notify(),
    shown: () => conversation.runId,
    otherRun,
    taskOf: ({ runId, toolCallId }) => taskTitleOfCall(engine.live(runId), toolCallId),
    notice: (notice) => conversation.notice(notice),
    systemNotification: (text) => view.post({ type: 'system-notification', text }),
    needsInstructions: (runId) =>
      void notifyRunHeldByDenial(titleOf(runId), async () => {
        await conversation.open(runId);
        await vscode.commands.executeCommand('towpath.focus');
      }),
  });
  context.subscriptions.push(terminal, reviews.register(), approvals);
  return {
    ...services,
    ...workflows,
    engine,
    events,
    titleOf,
    toolset,
    background,
    backgroundRecordings,
    left,
    conversation,
    agents,
    agentCommands,
    delegation,
    approvals,
  };
}
