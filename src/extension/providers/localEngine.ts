import path from 'node:path';
import type * as vscode from 'vscode';
import {
  engineModules,
  libraryVersion,
  missingEngine,
  ownModules,
  removeOthers,
} from '../../llm/local/engineInstall/engineFolders.ts';
import { type EngineState, engineState } from '../../llm/local/engineInstall/engines.ts';
import { type LocalizedMessage, t } from '../../protocol/text/l10n.ts';

/** Engine of local models: the packaged engine, and GPU engines added by the user. */
export class LocalEngine {
  readonly dist: string;
  /** Folder of GPU engines. */
  readonly storage: string;

  constructor(context: vscode.ExtensionContext) {
    this.dist = path.join(context.extensionPath, 'dist');
    this.storage = context.globalStorageUri.fsPath;
  }

  modules(): string {
    return engineModules(this.dist, this.storage);
  }

  /** Returns the reason that no local model can run; undefined if a model can run. */
  missing(): LocalizedMessage | undefined {
    return missingEngine(this.dist);
  }

  state(): EngineState {
    const missing = this.missing();
    return { ...engineState(this.modules()), ...(missing && { missing: t(missing) }) };
  }

  /** Deletes engines of other versions. */
  async sweep(): Promise<void> {
    await removeOthers(this.storage, libraryVersion(ownModules(this.dist)));
  }
}
