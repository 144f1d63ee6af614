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

/** What runs local models here: the engine that came with Towpath, and GPU engines that a person adds to it. */
export class LocalEngine {
  readonly dist: string;
  /** Where GPU engines are added. */
  readonly storage: string;

  constructor(context: vscode.ExtensionContext) {
    this.dist = path.join(context.extensionPath, 'dist');
    this.storage = context.globalStorageUri.fsPath;
  }

  /** The `node_modules` that a model's process takes its engine from. */
  modules(): string {
    return engineModules(this.dist, this.storage);
  }

  /** Why no local model can run here; undefined where one can. */
  missing(): LocalizedMessage | undefined {
    return missingEngine(this.dist);
  }

  state(): EngineState {
    const missing = this.missing();
    return { ...engineState(this.modules()), ...(missing && { missing: t(missing) }) };
  }

  /** Clears away what belongs to another version. */
  async sweep(): Promise<void> {
    await removeOthers(this.storage, libraryVersion(ownModules(this.dist)));
  }
}
