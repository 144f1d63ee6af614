// @invariant vscode-only-in-extension: Only `extension` imports `vscode`, only the worker program of the local model imports
// `node-llama-cpp`, and only `tools/mcp` imports the MCP client.
import * as vscode from 'vscode';
import type { TowpathCommandId } from '../protocol/panel/intents.ts';
import { excludeCurrentFolderFromPath } from '../tools/core/programs.ts';
import { composeCommands } from './compose/composeCommands.ts';
import { composeEngine } from './compose/composeEngine.ts';
import { composeModelServices } from './compose/composeModels.ts';
import { composePanel } from './compose/composePanel.ts';
import { composePolicyServices } from './compose/composePolicies.ts';
import { composeRunServices } from './compose/composeRuns.ts';
import { composeStatusBar } from './compose/composeStatus.ts';
import { composeStorage } from './compose/composeStorage.ts';
import { composeWindowServices } from './compose/composeWindow.ts';
import { startWindowServices } from './compose/startWindow.ts';
import type { EditorModelProviderMethods } from './modelProvider/registerProvider.ts';
import { settings } from './settings/settings.ts';
import { useEditorLanguage } from './useEditorLanguage.ts';
import type { ChatPage } from './view/chatPage.ts';

/**
 * Extension as used by the entry point (`start.ts`). `offered` returns the model provider for the editor. `close` is optional: journals are
 * always complete, and the model process ends with its parent.
 */
export interface Towpath {
  run(command: TowpathCommandId, args: unknown[]): unknown;
  offered(): Promise<EditorModelProviderMethods>;
  close(): Promise<void>;
}

/**
 * Builds the extension. Each function takes the components of the areas before, adds those of its area, and disposes them with the context;
 * listeners of run events are called in this order, too.
 */
export function createTowpath(context: vscode.ExtensionContext, page: ChatPage): Towpath {
  excludeCurrentFolderFromPath(); // before any process starts
  useEditorLanguage(); // this bundle has its own copy of the localizer
  context.subscriptions.push(settings.watch(vscode.workspace.onDidChangeConfiguration)); // before all other listeners

  const window = composeWindowServices(context, page);
  const storage = composeStorage(window);
  const models = composeModelServices(storage);
  const policies = composePolicyServices(models);
  const engine = composeEngine(policies);
  const runs = composeRunServices(engine);
  const panel = composePanel(runs);
  composeStatusBar(runs);
  const { commands, offered } = composeCommands(panel);
  startWindowServices(panel);

  return {
    async run(command, args) {
      window.presence.called();
      return (await commands())(command, args);
    },
    offered,
    async close() {
      await Promise.all([panel.conversation.leave(), panel.background.close(), panel.engine.close()]);
      await Promise.all([
        panel.models.dispose(),
        panel.toolset.made()?.mcp.dispose(),
        ...Object.values(panel.jobWorkers).map((worker) => worker.dispose()),
      ]);
    },
  };
}
