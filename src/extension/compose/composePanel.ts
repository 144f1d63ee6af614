import * as vscode from 'vscode';
import { isMorePermissivePreset } from '../../protocol/content/policy.ts';
import { lazyImport } from '../../protocol/panel/lazyImport.ts';
import { DiffDocumentProvider } from '../approvals/diffs.ts';
import { confirmSandbox } from '../approvals/presetDialogs.ts';
import { showSandboxOffer } from '../approvals/sandboxNotices.ts';
import { SandboxOffer } from '../approvals/sandboxOffer.ts';
import { AttachedSelection } from '../mentions/attachedSelection.ts';
import { TerminalOutputs } from '../mentions/terminals.ts';
import { DetailLevelSetting } from '../panel/detailLevel.ts';
import { WalkthroughProgress } from '../panel/firstSteps.ts';
import { PanelMessageHandler } from '../panel/panel.ts';
import type { RunServices } from './composeRuns.ts';

/** Milliseconds of delay before the suggestions are computed. */
const offersAfterMs = 1000;

export type PanelServices = ReturnType<typeof composePanel>;

/** Creates the handler of the panel's messages, with completions and attachments of the message box. Changes in the editor update the panel. */
export function composePanel(services: RunServices) {
  const { context, logError, changes, workspace, view, modals, secrets, store, models, engine } = services;
  const { policies, sandbox, userMemory } = services;
  const { events, toolset, instructions, workflowFiles, conversation } = services;
  const memory = context.workspaceState;

  const terminals = new TerminalOutputs(() => secrets.all());
  const mentions = lazyImport(
    () => import('../mentions/mentions.ts'),
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
    () => import('../mentions/gatherSuggestions.ts'),
    (part) => part.gatherSuggestions,
  );
  const selected = new AttachedSelection({ workspace, memory, post: (message) => view.post(message) });
  const slashes = lazyImport(
    () => import('../mentions/slashCommands.ts'),
    (part) =>
      new part.SlashCommands({
        mentions,
        files: workflowFiles,
        repositoryAgents: services.repositoryAgents,
        servers: async () => (await toolset()).mcp.servers,
        skills: async () => (await instructions()).skills(),
        conversation,
        delegation: services.delegation,
        post: (message) => view.post(message),
        focus: () => view.focus(),
      }),
  );
  const askThreads = lazyImport(
    () => import('../ask/askThreads.ts'),
    (part) => new part.AskThreads({ workspace, conversation, engine, store, mentions, failed: logError }),
  );
  const details = new DetailLevelSetting(memory, changes.state.notify);
  const firstSteps = new WalkthroughProgress();
  const diffs = new DiffDocumentProvider(store);
  const panel = new PanelMessageHandler({
    ...services,
    details,
    diffs,
    mentions,
    selected,
    slashes,
    offers: async () => (await offers())(workspace),
    firstSteps,
  });

  const sandboxOffer = new SandboxOffer({
    isWanted: () => workspace.trusted && isMorePermissivePreset('sandbox', policies.preset),
    panelInView: () => view.inView,
    probe: () => sandbox.probe(),
    memory: userMemory,
    show: showSandboxOffer,
    confirm: async () => {
      if (await confirmSandbox(modals)) await policies.choose('sandbox');
    },
  });

  changes.state.add(() => panel.showState());
  changes.runs.add(() => askThreads.made()?.removeDeleted());
  events.add(
    (event) => sandboxOffer.onEvent(event),
    (event) => firstSteps.onEvent(event),
    (event) => askThreads.made()?.onEvent(event),
    (event) => event.runId === conversation.runId && selected.onEvent(event),
  );
  let offering: NodeJS.Timeout | undefined;
  const offersLater = () => {
    clearTimeout(offering);
    offering = setTimeout(() => void panel.showOffers(), offersAfterMs);
  };
  context.subscriptions.push(
    terminals,
    selected,
    { dispose: () => mentions.made()?.dispose() },
    { dispose: () => askThreads.made()?.dispose() },
    diffs.register(),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('towpath')) changes.state.notify();
      if (change.affectsConfiguration('towpath') && view.inView) void models.lookUpWindow();
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => changes.state.notify()),
    vscode.workspace.onDidChangeWorkspaceFolders(() => changes.state.notify()),
    vscode.languages.onDidChangeDiagnostics(offersLater),
    vscode.window.onDidChangeActiveTextEditor((front) => front && offersLater()),
    { dispose: () => clearTimeout(offering) },
  );
  return { ...services, panel, details, mentions, terminals, askThreads };
}
