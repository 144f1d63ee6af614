import path from 'node:path';
import type * as vscode from 'vscode';
import {
  engineLibraryNodeModulesFolder,
  engineLibraryVersion,
  engineNodeModulesFolder,
  missingEngineReason,
  removeOtherEngines,
} from '../../llm/local/engineInstall/engineFolders.ts';
import { type InferenceEngineStatus, inspectInstalledEngines } from '../../llm/local/engineInstall/engines.ts';
import { type LocalizedMessage, t } from '../../protocol/text/l10n.ts';

export class LocalEngine {
  readonly dist: string;
  readonly storage: string;

  constructor(context: vscode.ExtensionContext) {
    this.dist = path.join(context.extensionPath, 'dist');
    this.storage = context.globalStorageUri.fsPath;
  }

  modules(): string {
    return engineNodeModulesFolder(this.dist, this.storage);
  }

  missing(): LocalizedMessage | undefined {
    return missingEngineReason(this.dist);
  }

  state(): InferenceEngineStatus {
    const missing = this.missing();
    return { ...inspectInstalledEngines(this.modules()), ...(missing && { missing: t(missing) }) };
  }

  async sweep(): Promise<void> {
    await removeOtherEngines(this.storage, engineLibraryVersion(engineLibraryNodeModulesFolder(this.dist)));
  }
}
