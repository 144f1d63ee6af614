import type * as vscode from 'vscode';
import { lazyImport } from '../../protocol/panel/lazyImport.ts';
import type { EngineServices } from './composeEngine.ts';
import type { ModelServices } from './composeModels.ts';
import type { PanelServices } from './composePanel.ts';
import type { PolicyServices } from './composePolicies.ts';
import type { RunServices } from './composeRuns.ts';
import type { WindowStorage } from './composeStorage.ts';
import type { WindowServices } from './composeWindow.ts';

/** Creates the commands and the model provider (`offered`), both loaded on first use. */
export function composeCommands(
  context: vscode.ExtensionContext,
  window: WindowServices,
  windowStorage: WindowStorage,
  modelServices: ModelServices,
  policyServices: PolicyServices,
  engineServices: EngineServices,
  runServices: RunServices,
  panelServices: PanelServices,
) {
  const { log, modals } = window;
  const { models, readModel } = modelServices;
  const { engine, toolset } = engineServices;
  const offered = lazyImport(
    () => import('../modelProvider/providedModels.ts'),
    ({ ProvidedModels }) =>
      new ProvidedModels({
        context,
        models,
        modals,
        readModel,
        modelsAtWork: () => engine.liveIds.map((id) => engine.live(id)?.models?.at(-1)?.model ?? models.currentId),
        recorded: (model, ask) => windowStorage.audit.call('editor-ask', model, ask),
        log,
      }),
  );
  const commands = lazyImport(
    () => import('../commands.ts'),
    ({ createCommands }) =>
      createCommands({
        context,
        ...window,
        ...windowStorage,
        ...modelServices,
        ...policyServices,
        ...engineServices,
        ...runServices,
        ...panelServices,
        offered,
        mcp: async () => (await toolset()).mcp,
      }),
  );
  context.subscriptions.push({ dispose: () => offered.made()?.dispose() });
  return { offered, commands };
}
