import type { PanelAction } from '../../protocol/panel/panelMessages.ts';

/** The command behind each of the panel's buttons. */
export const actions: Record<PanelAction, string> = {
  'set-key': 'towpath.setKey',
  'pick-model': 'towpath.pickModel',
  'try-another-model': 'towpath.tryAnotherModel',
  'raise-limit': 'towpath.raiseLimit',
  'continue-after': 'towpath.continueAfter',
  'run-again': 'towpath.runAgain',
  compact: 'towpath.compact',
  'set-window': 'workbench.action.openSettings',
  'download-model': 'towpath.downloadModel',
  'manage-models': 'towpath.manageModels',
  'use-endpoint': 'towpath.useEndpoint',
  'use-demo': 'towpath.useDemo',
  'run-preset': 'towpath.runPreset',
  'pick-agent': 'towpath.pickAgent',
  'plan-first': 'towpath.planFirst',
  'first-steps': 'workbench.action.openWalkthrough',
  'undo-turn': 'towpath.undoTurn',
  redo: 'towpath.redo',
  'deleted-runs': 'towpath.deletedRuns',
  'take-over': 'towpath.takeOver',
  answer: 'towpath.answer',
  'set-secret': 'towpath.setSecret',
  'forget-key': 'towpath.deleteKey',
  'add-gpu-engine': 'towpath.addGpuEngine',
  'open-settings': 'towpath.openSettings',
  'show-log': 'towpath.showLog',
  'open-folder': 'workbench.action.files.openFolder',
  'manage-trust': 'workbench.trust.manage',
  'source-control': 'workbench.view.scm',
};

/** What takes the person to another place on purpose. */
export const elsewhere: ReadonlySet<PanelAction> = new Set([
  'open-folder',
  'set-window',
  'manage-trust',
  'manage-models',
  'open-settings',
  'show-log',
  'source-control',
  'first-steps',
]);
