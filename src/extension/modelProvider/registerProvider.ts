import * as vscode from 'vscode';
import { type ModelProvider, offerModels, takesModels } from '../providers/editorApi.ts';
import { ownValue } from '../settings/settingScopes.ts';

export type ProvidedModel = Omit<ModelProvider, 'onDidChangeLanguageModelChatInformation'>;

const name = 'offeredModels';

export function registerProvider(load: () => Promise<ProvidedModel>): vscode.Disposable {
  if (!takesModels()) return { dispose() {} };
  const changed = new vscode.EventEmitter<void>();
  const offered = offerModels({
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
  const value = ownValue(name, vscode.workspace.getConfiguration('towpath').inspect(name));
  return Array.isArray(value) && value.length > 0;
}
