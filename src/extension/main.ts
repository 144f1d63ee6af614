// @invariant vscode-only-in-extension: Only `extension` imports `vscode`, only the worker program of the local model imports

// `node-llama-cpp`, and only `tools/mcp` imports the MCP SDK.
import * as vscode from 'vscode';
import { excludeCurrentFolderFromPath } from '../tools/core/programs.ts';
import { composeCommands } from './compose/composeCommands.ts';
import { composeEngine } from './compose/composeEngine.ts';
import { composeModels } from './compose/composeModels.ts';
import { composePanel } from './compose/composePanel.ts';
import { composePolicies } from './compose/composePolicies.ts';
import { composeRuns } from './compose/composeRuns.ts';
import { composeStatus } from './compose/composeStatus.ts';
import { composeStorage } from './compose/composeStorage.ts';
import { composeWindow } from './compose/composeWindow.ts';
import { startWindow } from './compose/startWindow.ts';
import type { ProvidedModel } from './modelProvider/registerProvider.ts';
import { settings } from './settings/settings.ts';
import { useEditorLanguage } from './useEditorLanguage.ts';
import type { ChatPage } from './view/chatPage.ts';

/**
 * Extension as used by the entry point (`start.ts`). `offered` returns the model provider for the editor. `close` is optional: journals are
 * always complete, and the model process ends with its parent.
 */
export interface Towpath {
  run(command: string, args: unknown[]): unknown;
  offered(): Promise<ProvidedModel>;
  close(): Promise<void>;
}

/**
 * Builds the extension. Each function builds the components of one area from those before, and adds them to the subscriptions of the
 * context; listeners of run events are called in this order, too.
 */
export function createTowpath(context: vscode.ExtensionContext, page: ChatPage): Towpath {
  excludeCurrentFolderFromPath(); // before any process starts
  useEditorLanguage(); // this bundle has its own copy of the localizer
  context.subscriptions.push(settings.watch(vscode.workspace.onDidChangeConfiguration)); // before all other listeners

  const window = composeWindow(context, page);
  const storage = composeStorage(context, window);
  const models = composeModels(context, window, storage);
  const policies = composePolicies(context, window, storage);
  const engine = composeEngine(context, window, storage, models, policies);
  const runs = composeRuns(context, window, storage, policies, engine);
  const panel = composePanel(context, window, storage, models, policies, engine, runs);
  composeStatus(context, page, window, policies, engine, runs);
  const { commands, offered } = composeCommands(context, window, storage, models, policies, engine, runs, panel);
  startWindow(context, window, storage, models, policies, engine, runs, panel);

  return {
    async run(command, args) {
      window.presence.called();
      return (await commands())(command, args);
    },
    offered,
    async close() {
      await Promise.all([engine.conversation.leave(), engine.background.close(), engine.engine.close()]);
      await Promise.all([
        models.models.dispose(),
        engine.toolset.made()?.mcp.dispose(),
        ...Object.values(window.asides).map((aside) => aside.dispose()),
      ]);
    },
  };
}
