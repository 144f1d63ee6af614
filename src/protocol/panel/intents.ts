/** Command of Towpath, or of the editor, that the user can start. */
export interface Intent {
  /** Command id. Ids are in keybindings, tasks and links of users, and never change. */
  id: string;
  /** Title in the Command Palette and in menus; absent for commands of the editor. */
  title?: string;
  icon?: string;
  /** Condition for the Command Palette. `false`: only menus, pickers and keybindings start the command. */
  when?: string | false;
  /** Condition that disables the command everywhere if it is not met. */
  enablement?: string;
  /** Command after `/` in the message box. `takesText`: the text after it is sent as a message. `argument`: argument of the command. */
  slash?: { name: string; description: string; takesText?: true; argument?: string };
  /** Action of a panel button. */
  panel?: string;
  /** The action moves the focus out of the panel. */
  leavesPanel?: true;
}

/**
 * Every intent of the user. Its function is in `extension/commands.ts`. `npm run page` writes the commands and the conditions of the Command
 * Palette in `package.json`.
 */
export const intents = [
  // Chat and runs
  { id: 'towpath.run', title: 'Run…' },
  { id: 'towpath.focus', title: 'Focus Chat Input' },
  {
    id: 'towpath.newRun',
    title: 'New Run',
    icon: 'add',
    slash: { name: 'new', description: 'Start a new run', takesText: true },
  },
  { id: 'towpath.newRunInWorktree', title: 'Run in a Worktree…' },
  { id: 'towpath.openRun', title: 'Open Run…', icon: 'history' },
  { id: 'towpath.runsNow', title: 'Active Runs…' },
  { id: 'towpath.renameRun', title: 'Rename Run…', when: false },
  { id: 'towpath.pinRun', title: 'Pin or Unpin Run…', when: false },
  { id: 'towpath.deleteRun', title: 'Delete Run…', when: false },
  { id: 'towpath.deletedRuns', title: 'Deleted Runs…', when: false, panel: 'deleted-runs' },
  { id: 'towpath.takeOver', title: 'Take Over Run…', when: false, panel: 'take-over' },
  { id: 'towpath.openInEditor', title: 'Open Chat in an Editor' },
  { id: 'towpath.details', title: 'Level of Detail…' },

  // The shown run
  { id: 'towpath.stop', title: 'Stop', icon: 'debug-stop', when: 'towpath.running' },
  { id: 'towpath.pause', title: 'Pause', icon: 'debug-pause', when: 'towpath.running' },
  { id: 'towpath.say', title: 'Send While Running…' },
  { id: 'towpath.waiting', title: 'Queued Messages…' },
  { id: 'towpath.continue', title: 'Continue Run' },
  {
    id: 'towpath.compact',
    title: 'Compact Conversation',
    panel: 'compact',
    slash: { name: 'compact', description: 'Compact the conversation' },
  },
  { id: 'towpath.tryAnotherModel', title: 'Retry With…', panel: 'try-another-model' },
  { id: 'towpath.raiseLimit', title: 'Raise Spending Limit…', panel: 'raise-limit' },
  { id: 'towpath.continueAfter', title: 'Continue After Interrupted Step…', panel: 'continue-after' },
  { id: 'towpath.runAgain', title: 'Run Interrupted Step Again', panel: 'run-again' },
  { id: 'towpath.editAndSend', title: 'Edit and Send Again…' },
  { id: 'towpath.forkRun', title: 'Fork Run Here…' },
  { id: 'towpath.switchBranch', title: 'Switch Branch…' },

  // Code and terminals
  { id: 'towpath.addContext', title: 'Add to Chat…' },
  { id: 'towpath.addToChat', title: 'Add to Chat', when: false },
  { id: 'towpath.addSelection', title: 'Add Selection to Chat', when: false },
  { id: 'towpath.addProblem', title: 'Add Problem to Chat', when: false },
  { id: 'towpath.addChange', title: 'Add Change to Chat', when: false },
  { id: 'towpath.addTestFailure', title: 'Add Failure to Chat', when: false },
  { id: 'towpath.addTerminal', title: 'Add Last Terminal Command to Chat', when: false },
  { id: 'towpath.addTerminalSelection', title: 'Add Terminal Selection to Chat', when: 'terminalTextSelected' },
  { id: 'towpath.explain', title: 'Explain' },
  { id: 'towpath.fix', title: 'Fix' },
  { id: 'towpath.writeTests', title: 'Write Tests' },
  { id: 'towpath.reviewChanges', title: 'Review My Changes' },
  { id: 'towpath.askHere', title: 'Ask Towpath Here…', when: 'isWorkspaceTrusted && !virtualWorkspace' },
  { id: 'towpath.askHere.send', title: 'Ask', when: false },
  { id: 'towpath.askHere.openRun', title: 'Open Run', icon: 'comment-discussion', when: false },
  { id: 'towpath.askHere.close', title: 'Close', icon: 'close', when: false },
  { id: 'towpath.fixFinding', title: 'Fix This', icon: 'wrench', when: false },
  { id: 'towpath.dismissFinding', title: 'Dismiss', icon: 'check', when: false },
  { id: 'towpath.dismissFindings', title: 'Dismiss All Findings', icon: 'check-all', when: false },
  { id: 'towpath.explainTerminalSelection', title: 'Explain', when: false },
  { id: 'towpath.fixTerminalSelection', title: 'Fix', when: false },
  { id: 'towpath.writeCommitMessage', title: 'Generate Commit Message', icon: 'sparkle' },
  {
    id: 'towpath.stopCommitMessage',
    title: 'Stop Generating the Commit Message',
    icon: 'debug-stop',
    when: 'towpath.writingCommitMessage',
  },

  // Models
  {
    id: 'towpath.pickModel',
    title: 'Pick Model…',
    panel: 'pick-model',
    slash: { name: 'model', description: 'Pick the model' },
  },
  { id: 'towpath.manageModels', title: 'Manage Models…', panel: 'manage-models', leavesPanel: true },
  { id: 'towpath.useLocal', title: 'Run Local Model…' },
  { id: 'towpath.unloadLocal', title: 'Unload Local Model' },
  { id: 'towpath.downloadModel', title: 'Download a Model…', panel: 'download-model' },
  { id: 'towpath.addGpuEngine', title: 'Add GPU Engine…', panel: 'add-gpu-engine' },
  { id: 'towpath.useEndpoint', title: 'Connect to a Provider…', panel: 'use-endpoint' },
  { id: 'towpath.useDemo', title: 'Use the Demo Model', panel: 'use-demo' },
  { id: 'towpath.setKey', title: 'Set API Key…', panel: 'set-key' },
  { id: 'towpath.setSecret', title: 'Set Header Secret…', panel: 'set-secret' },
  { id: 'towpath.deleteKey', title: 'Delete API Key…', panel: 'forget-key' },
  { id: 'towpath.testConnection', title: 'Test Connection' },
  { id: 'towpath.checkModel', title: 'Check This Model' },
  { id: 'towpath.modelChecks', title: 'Model Check Results' },
  {
    id: 'towpath.exportChecks',
    title: 'Export Model Check Results…',
    icon: 'export',
    when: 'towpath.modelChecksShown',
  },
  { id: 'towpath.offerModels', title: 'Share Models with the Editor…' },
  { id: 'towpath.editorAsks', title: 'Requests from the Editor…' },

  // Agents, workflows and packages
  { id: 'towpath.pickAgent', title: 'Pick Agent…', panel: 'pick-agent' },
  {
    id: 'towpath.planFirst',
    title: 'Toggle Plan Mode',
    panel: 'plan-first',
    slash: { name: 'plan', description: 'Plan without changes', takesText: true, argument: 'plan' },
  },
  { id: 'towpath.runAgent', title: 'Run Agent…' },
  {
    id: 'towpath.delegateTask',
    title: 'Delegate Task…',
    slash: { name: 'task', description: 'Give a task to an agent' },
  },
  { id: 'towpath.runWorkflow', title: 'Run Workflow…' },
  { id: 'towpath.newWorkflow', title: 'New Workflow from Template…' },
  { id: 'towpath.packages', title: 'Packages…' },
  { id: 'towpath.runPackageWorkflow', title: 'Run Package Workflow…', when: false },
  { id: 'towpath.talkToPackageAgent', title: 'Chat with Package Agent…', when: false },
  { id: 'towpath.openPackage', title: 'Open Package…', when: false },
  { id: 'towpath.forgetPackage', title: 'Remove Package…', when: false },

  // Undo
  {
    id: 'towpath.undoTurn',
    title: 'Undo Turn',
    panel: 'undo-turn',
    slash: { name: 'undo', description: 'Undo the last reply' },
  },
  { id: 'towpath.undoRun', title: 'Undo Run' },
  { id: 'towpath.redo', title: 'Redo', panel: 'redo' },
  { id: 'towpath.takeBackChange', title: 'Undo Change…' },
  { id: 'towpath.nextChange', title: 'Next Change of This Run' },
  { id: 'towpath.previousChange', title: 'Previous Change of This Run' },
  { id: 'towpath.undoChangeAtCursor', title: 'Undo Change at Cursor' },
  { id: 'towpath.markChangeReviewed', title: 'Mark Change as Reviewed' },
  { id: 'towpath.restoreFiles', title: 'Restore Files to Here…' },

  // Background commands
  { id: 'towpath.commands', title: 'Background Commands…' },
  { id: 'towpath.endCommands', title: 'Stop Orphaned Commands…' },

  // Approvals
  { id: 'towpath.answer', title: 'Answer…', when: 'towpath.asking', panel: 'answer' },
  { id: 'towpath.denyWithWords', title: 'Deny', when: 'towpath.asking' },
  { id: 'towpath.review.allow', title: 'Allow', when: false },
  { id: 'towpath.review.allowChanged', title: 'Allow as Changed', when: false },
  { id: 'towpath.review.deny', title: 'Deny', when: false },
  { id: 'towpath.review.denyWithWords', title: 'Deny', when: false },
  { id: 'towpath.review.copyCommand', title: 'Copy Command', icon: 'copy', when: false },
  { id: 'towpath.reviews.allow', title: 'Allow All', when: false },
  { id: 'towpath.reviews.deny', title: 'Deny All', when: false },
  { id: 'towpath.reviews.denyWithWords', title: 'Deny All', when: false },
  { id: 'towpath.approvals', title: 'Approvals…' },
  { id: 'towpath.runPreset', title: 'Approvals for This Run…', when: false, panel: 'run-preset' },
  {
    id: 'towpath.sandbox',
    title: 'Sandbox',
    when: false,
    slash: { name: 'sandbox', description: 'Show what the sandbox allows' },
  },
  { id: 'towpath.setUpSandbox', title: 'Set Up Sandbox…', when: false },

  // Servers and editor tools
  { id: 'towpath.mcpServers', title: 'MCP Servers…' },
  { id: 'towpath.editorTools', title: 'Editor Tools…' },

  // Records, settings and help
  { id: 'towpath.copyRunLog', title: 'Copy Log of This Run' },
  { id: 'towpath.exportRun', title: 'Export Run…', slash: { name: 'export', description: 'Export this run' } },
  { id: 'towpath.import', title: 'Import…' },
  { id: 'towpath.importOthers', title: 'Import Instructions of Other Agents…', when: false },
  { id: 'towpath.importRuns', title: 'Import Runs…', when: false },
  { id: 'towpath.insights', title: 'Insights' },
  { id: 'towpath.manageStorage', title: 'Manage Storage…', panel: 'manage-storage', leavesPanel: true },
  { id: 'towpath.showLog', title: 'Show Log', panel: 'show-log', leavesPanel: true },
  { id: 'towpath.openSettings', title: 'Open Settings', panel: 'open-settings', leavesPanel: true },
  {
    id: 'towpath.openMachineSettings',
    title: 'Open Settings of the Remote Machine',
    when: false,
    enablement: 'remoteName',
  },
  { id: 'towpath.doctor', title: 'Doctor' },
  { id: 'towpath.help', title: 'Help…' },

  // Commands of the editor
  { id: 'workbench.action.openSettings', panel: 'set-window', leavesPanel: true },
  { id: 'workbench.action.openWalkthrough', panel: 'first-steps', leavesPanel: true },
  { id: 'workbench.action.files.openFolder', panel: 'open-folder', leavesPanel: true },
  { id: 'workbench.trust.manage', panel: 'manage-trust', leavesPanel: true },
  { id: 'workbench.view.scm', panel: 'source-control', leavesPanel: true },
] as const satisfies readonly Intent[];

type IntentRow = (typeof intents)[number];
type SlashRow = Extract<IntentRow, { slash: object }>;

export type TowpathCommandId = Extract<IntentRow, { title: string }>['id'];
export type PanelAction = Extract<IntentRow, { panel: string }>['panel'];
export type SlashAction = SlashRow['slash']['name'];

const rows: readonly Intent[] = intents;

export const panelActions = rows.flatMap(({ panel }) => panel ?? []) as PanelAction[];

/** Returns the row of a panel action. */
export const intentOfPanelAction = (action: PanelAction): Intent => rows.find(({ panel }) => panel === action)!;

/** Commands after `/`, in the order of the list. */
export const slashIntents = intents.filter((row): row is SlashRow => 'slash' in row);

/** Returns the row of a command after `/`. */
export const intentOfSlashAction = (action: SlashAction): Intent & { slash: NonNullable<Intent['slash']> } =>
  slashIntents.find(({ slash }) => slash.name === action)!;
