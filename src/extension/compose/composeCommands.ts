import { lazyImport } from '../../protocol/panel/lazyImport.ts';
import type { PanelServices } from './composePanel.ts';

/** Creates the commands and the model provider (`offered`), both loaded on first use. */
export function composeCommands(services: PanelServices) {
  const { context, log, modals, audit, models, readModel, engine, toolset } = services;
  const offered = lazyImport(
    () => import('../modelProvider/sharedModels.ts'),
    ({ SharedModels }) =>
      new SharedModels({
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
    () => import('../commands.ts'),
    ({ createCommands }) =>
      createCommands({
        ...services,
        offered,
        mcp: async () => (await toolset()).mcp,
      }),
  );
  context.subscriptions.push({ dispose: () => offered.made()?.dispose() });
  return { offered, commands };
}
