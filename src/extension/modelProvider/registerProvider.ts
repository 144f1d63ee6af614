import * as vscode from 'vscode';
import {
  type EditorModelProvider,
  registerEditorModelProvider,
  supportsModelProviders,
} from '../providers/editorApi.ts';
import { userSettingValue } from '../settings/settingScopes.ts';

export type EditorModelProviderMethods = Omit<EditorModelProvider, 'onDidChangeLanguageModelChatInformation'>;

const name = 'offeredModels';

export function offerModelsToEditor(load: () => Promise<EditorModelProviderMethods>): vscode.Disposable {
  if (!supportsModelProviders()) return { dispose() {} };
  const changed = new vscode.EventEmitter<void>();
  const offered = registerEditorModelProvider({
    onDidChangeLanguageModelChatInformation: changed.event,
    provideLanguageModelChatInformation: async (...asked) =>
      offersAny() ? (await load()).provideLanguageModelChatInformation(...asked) : [],
    provideLanguageModelChatResponse: async (...asked) => (await load()).provideLanguageModelChatResponse(...asked),
    provideTokenCount: async (...asked) => (await load()).provideTokenCount(...asked),
  });
  if (!offered) return changed;
  const watching = vscode.workspace.onDidChangeConfiguration((change) => {
    // names, capabilities and addresses of models can change too
    if (change.affectsConfiguration(`towpath.${name}`) || (offersAny() && change.affectsConfiguration('towpath')))
      changed.fire();
  });
  return vscode.Disposable.from(offered, watching, changed);
}

function offersAny(): boolean {
  const value = userSettingValue(name, vscode.workspace.getConfiguration('towpath').inspect(name));
  return Array.isArray(value) && value.length > 0;
}
