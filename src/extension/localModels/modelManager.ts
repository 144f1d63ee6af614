import path from 'node:path';
import * as vscode from 'vscode';
import { maxContextSize } from '../../llm/local/modelFile/contextSize.ts';
import { type MemoryFit, memoryFit } from '../../llm/local/modelFile/memoryFit.ts';
import { type LocalModel, listModelFiles, type ModelFileReader } from '../../llm/local/modelFile/modelLibrary.ts';
import {
  bestModelForMachine,
  type RecommendedModel,
  recommendedModelFit,
  recommendedModels,
} from '../../llm/local/modelFile/recommendedModels.ts';
import { byteSizeText } from '../../protocol/text/byteSizes.ts';
import { t } from '../../protocol/text/l10n.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import type { ModelSetupDialogs } from '../models/modelPicker.ts';
import type { SelectableModels } from '../models/models.ts';
import type { StoredModelCheckResults } from '../models/storedChecks.ts';
import type { LocalEngine } from '../providers/localEngine.ts';
import { localModelFolders } from '../providers/modelFolders.ts';
import { saveSetting, settings } from '../settings/settings.ts';
import { deleteModel } from './deleteModel.ts';
import { type ModelDownloadWizard, readMachineMemory, withDownloadFailureNotice } from './downloadModel.ts';
import type { ActiveModelDownload, ModelDownloads } from './downloads.ts';
import { memoryFitLabel, modelDetails } from './modelDetails.ts';

interface Item extends vscode.QuickPickItem {
  run?(): unknown;
  /** Actions of the buttons, in order. */
  does?: (() => unknown)[];
}

type Begun = Awaited<ReturnType<ModelDownloads['paused']>>[number];

const scheme = 'towpath-model';
const button = (icon: string, tooltip: string) => ({ iconPath: new vscode.ThemeIcon(icon), tooltip });

/** *Manage Models…*: local models, active downloads, and available models. */
export class ModelManager implements vscode.TextDocumentContentProvider {
  private readonly shownAgain = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.shownAgain.event;

  constructor(
    private readonly engine: LocalEngine,
    private readonly models: SelectableModels,
    private readonly checks: StoredModelCheckResults,
    private readonly downloads: ModelDownloads,
    private readonly fetcher: ModelDownloadWizard,
    private readonly setup: ModelSetupDialogs,
    private readonly modals: Dialogs,
    private readonly readModel: ModelFileReader,
  ) {}

  register(): vscode.Disposable {
    return vscode.workspace.registerTextDocumentContentProvider(scheme, this);
  }

  async manage(): Promise<void> {
    const picker = vscode.window.createQuickPick<Item>();
    picker.title = t('Towpath: local models');
    picker.placeholder = t('Use a model, or download one');
    picker.matchOnDescription = true;
    picker.matchOnDetail = true;
    picker.busy = true;
    let listed: Item[] = [];
    let newest = 0;
    let open = true;
    const draw = async (again: boolean) => {
      if (again) {
        const own = ++newest;
        const found = await this.listed();
        if (own !== newest) return; // an older listing must not overwrite a newer one
        listed = found;
      }
      const items = [...this.transferItems(), ...listed];
      if (!open) return;
      const active = picker.activeItems[0]?.label;
      picker.keepScrollPosition = true;
      picker.items = items;
      const same = items.filter((item) => item.label === active);
      if (same.length > 0) picker.activeItems = same.slice(0, 1);
      picker.busy = false;
    };
    let atWork = this.downloads.running.length;
    const watching = this.downloads.onChange(() => {
      const now = this.downloads.running.length;
      void draw(now !== atWork);
      atWork = now;
    });
    picker.onDidTriggerItemButton(async ({ item, button: pressed }) => {
      await withDownloadFailureNotice(async () => item.does?.[item.buttons?.indexOf(pressed) ?? -1]?.());
      await draw(true);
    });
    picker.onDidAccept(() => {
      const [chosen] = picker.selectedItems;
      picker.hide();
      void withDownloadFailureNotice(async () => chosen?.run?.());
    });
    picker.onDidHide(() => {
      open = false;
      watching.dispose();
      picker.dispose();
    });
    picker.show();
    await draw(true);
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const [model] = await listModelFiles([uri.query], this.readModel);
    const { 'local.chatWrapper': chatWrapper, 'local.gpu': gpu } = settings();
    return model
      ? modelDetails(model, fitOfLocal(model), this.engine.state(), {
          chatWrapper,
          gpu,
          device: this.models.deviceOf(model.path),
          check: this.checks.of(`local/${model.path}`),
        })
      : `${t('There is no model file at {0}.', uri.query)}\n`;
  }

  private async listed(): Promise<Item[]> {
    const locations = [...localModelFolders(), this.downloads.folder, ...this.models.localFiles()];
    const [begun, local] = await Promise.all([this.downloads.paused(), listModelFiles(locations, this.readModel)]);
    const unfinished = new Set(begun.map(({ first }) => first));
    const context = maxContextSize(settings()['local.contextSize']);
    const best = bestModelForMachine(readMachineMemory(), context);
    return [
      ...begun.map((one) => this.pausedItem(one)),
      separator(t('On this machine')),
      ...local.filter((model) => !unfinished.has(model.path)).map((model) => this.localItem(model)),
      separator(t('To download')),
      ...recommendedModels.map((model) => this.curatedItem(model, model === best, context)),
      {
        label: `$(link) ${t('By address…')}`,
        detail: t('hf:owner/repository, or https://….gguf'),
        run: () => this.fetcher.askAddress(),
      },
      separator(t('Elsewhere on this machine')),
      { label: `$(file) ${t('A file…')}`, detail: t('A .gguf file'), run: () => this.setup.useLocal() },
      {
        label: `$(folder) ${t('A folder…')}`,
        detail: t('All .gguf files in it are listed here'),
        run: () => this.addFolder(),
      },
    ];
  }

  private transferItems(): Item[] {
    return this.downloads.running.map((transfer: ActiveModelDownload) => ({
      label: `$(sync~spin) ${path.basename(transfer.first)}`,
      description: transfer.text,
      alwaysShow: true,
      buttons: [
        button('debug-pause', t('Pause')),
        button('close', t('Cancel and delete the part that was downloaded')),
      ],
      does: [transfer.pause, transfer.cancel],
    }));
  }

  private pausedItem({ address, first, received, total, elsewhere }: Begun): Item {
    const percent = Math.floor((received / total) * 100);
    return {
      label: `$(debug-pause) ${path.basename(first)}`,
      description: elsewhere
        ? t('in another window, at {0}% of {1}', percent, byteSizeText(total))
        : t('paused at {0}% of {1}', percent, byteSizeText(total)),
      detail: elsewhere ? t('Its progress is there') : t('Continue the download'),
      buttons: [button('trash', t('Delete the part that was downloaded'))],
      does: [() => this.downloads.discard(first)],
      run: () => this.fetcher.fetch(address, { agreed: true }),
    };
  }

  private localItem(model: LocalModel): Item {
    const id = `local/${model.path}`;
    const inUse = this.models.currentId === id;
    const fit = fitOfLocal(model);
    const unload = this.models.isInMemory(model.path);
    const facts = [
      [inUse && t('in use'), unload && t('in memory')].filter(Boolean).join(', '),
      model.info?.sizeLabel,
      model.info?.quantisation,
      byteSizeText(model.bytes),
      model.trouble ? t('cannot be used') : !unload && memoryFitLabel(fit),
    ];
    return {
      label: path.basename(model.path, '.gguf'),
      description: facts.filter(Boolean).join(' · '),
      detail: [model.trouble ?? fit.reason, this.checks.inShort(id)].filter(Boolean).join(' · '),
      buttons: [
        button('info', t('Show details')),
        button('folder-opened', t('Show its folder')),
        ...(unload ? [button('debug-disconnect', t('Unload: frees its memory'))] : []),
        ...(model.trouble ? [] : [button('beaker', t('Check what it can do'))]),
        button('trash', t('Delete…')),
      ],
      does: [
        () => this.showDetails(model),
        () => vscode.commands.executeCommand('revealFileInOS', vscode.Uri.file(model.path)),
        ...(unload ? [() => vscode.commands.executeCommand('towpath.unloadLocal')] : []),
        ...(model.trouble ? [] : [() => vscode.commands.executeCommand('towpath.checkModel', id)]),
        () => deleteModel(model, this.models, this.modals),
      ],
      run: () => (model.trouble ? this.showDetails(model) : this.models.pick(id)),
    };
  }

  private curatedItem(model: RecommendedModel, best: boolean, context: number): Item {
    const fit = recommendedModelFit(model, readMachineMemory(), context);
    const facts = [
      t('about {0}', byteSizeText(model.bytes)),
      model.licence,
      memoryFitLabel(fit),
      best && t('recommended here'),
    ];
    return {
      label: `$(cloud-download) ${model.name}`,
      description: facts.filter(Boolean).join(' · '),
      detail: `${model.goodFor}. ${fit.reason}`,
      run: () => this.fetcher.fetch(model.address, { known: model }),
    };
  }

  private async addFolder(): Promise<void> {
    const options = { title: t('A folder with models'), openLabel: t('List Its Models'), canSelectFolders: true };
    const folders = await vscode.window.showOpenDialog({ ...options, canSelectFiles: false });
    const folder = folders?.[0]?.fsPath;
    if (!folder) return;
    await saveSetting('local.folders', [...new Set([...settings()['local.folders'], folder])]);
    await this.manage();
  }

  private async showDetails(model: LocalModel): Promise<void> {
    const uri = vscode.Uri.from({ scheme, path: `/${path.basename(model.path)}.md`, query: model.path });
    this.shownAgain.fire(uri); // updates an open document
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { preview: true });
  }
}

function fitOfLocal({ bytes, info }: LocalModel): MemoryFit {
  const { bytesPerToken, trainedContext } = info ?? {};
  const contextSize = maxContextSize(settings()['local.contextSize']);
  return memoryFit(
    { bytes, contextSize, ...(bytesPerToken && { bytesPerToken }), ...(trainedContext && { trainedContext }) },
    readMachineMemory(),
  );
}

const separator = (label: string): Item => ({ label, kind: vscode.QuickPickItemKind.Separator });
