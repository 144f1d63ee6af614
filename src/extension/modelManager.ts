import { existsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import { type AddressTrouble, parseAddress } from '../llm/local/address.ts';
import { bestFor, type CuratedModel, curated, curatedFit } from '../llm/local/curated.ts';
import { type EngineState, engineState } from '../llm/local/engines.ts';
import { type Fit, fitOf, inGigabytes, type Machine } from '../llm/local/fit.ts';
import type { RemoteModel } from '../llm/local/hub.ts';
import { type LocalModel, listModels } from '../llm/local/library.ts';
import type { PausedDownload } from '../llm/local/unfinished.ts';
import type { Downloads, Transfer } from './downloads.ts';
import { modelDetails, verdicts } from './modelDetails.ts';
import type { Models } from './models.ts';
import { saveSetting, settings } from './settings.ts';
import type { Setup } from './setup.ts';

interface Item extends vscode.QuickPickItem {
  run?(): unknown;
  /** What its buttons do, in their order. */
  does?: (() => unknown)[];
}

const scheme = 'towpath-model';
const button = (icon: string, tooltip: string) => ({ iconPath: new vscode.ThemeIcon(icon), tooltip });

/** *Manage Models…*: what is on this machine, what is being downloaded, and what could be. */
export class ModelManager implements vscode.TextDocumentContentProvider {
  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly models: Models,
    private readonly downloads: Downloads,
    private readonly setup: Setup,
  ) {}

  register(): vscode.Disposable {
    return vscode.workspace.registerTextDocumentContentProvider(scheme, this);
  }

  /** The engines that are installed, and what the machine has for them. */
  engine(): EngineState {
    return engineState(path.join(this.context.extensionPath, 'node_modules'));
  }

  async manage(): Promise<void> {
    const picker = vscode.window.createQuickPick<Item>();
    picker.title = 'Towpath: models on this machine';
    picker.placeholder = 'Use a model, or download one';
    picker.matchOnDescription = true;
    picker.matchOnDetail = true;
    picker.busy = true;
    let listed: Item[] = [];
    let open = true;
    const draw = async (again: boolean) => {
      if (again) listed = await this.listed();
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
      await this.told(async () => item.does?.[item.buttons?.indexOf(pressed) ?? -1]?.());
      await draw(true);
    });
    picker.onDidAccept(() => {
      const [chosen] = picker.selectedItems;
      picker.hide();
      void this.told(async () => chosen?.run?.());
    });
    picker.onDidHide(() => {
      open = false;
      watching.dispose();
      picker.dispose();
    });
    picker.show();
    await draw(true);
  }

  /** The curated model that fits this machine best, or what was begun before: one question, then it comes. */
  async offer(): Promise<void> {
    await this.told(async () => {
      const [begun] = await this.downloads.paused();
      if (begun) return this.download(begun.address);
      const best = bestFor(machine(), settings()['local.contextSize']);
      await this.download(best.address, best);
    });
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const [model] = await listModels([uri.query]);
    return model ? modelDetails(model, fitOfLocal(model), this.engine()) : `There is no model file at ${uri.query}.\n`;
  }

  private async listed(): Promise<Item[]> {
    const places = [...settings()['local.folders'].map(expandHome), this.downloads.folder, ...this.models.localFiles()];
    const [begun, local] = await Promise.all([this.downloads.paused(), listModels(places)]);
    const unfinished = new Set(begun.map(({ first }) => first));
    const context = settings()['local.contextSize'];
    const best = bestFor(machine(), context);
    return [
      ...begun.map((one) => this.pausedItem(one)),
      separator('On this machine'),
      ...local.filter((model) => !unfinished.has(model.path)).map((model) => this.localItem(model)),
      separator('To download'),
      ...curated.map((model) => this.curatedItem(model, model === best, context)),
      { label: '$(link) By address…', detail: 'hf:owner/repository, or https://….gguf', run: () => this.askAddress() },
      separator('Elsewhere on this machine'),
      { label: '$(file) A file…', detail: 'A .gguf file', run: () => this.setup.useLocal() },
      { label: '$(folder) A folder…', detail: 'All .gguf files in it are listed here', run: () => this.addFolder() },
    ];
  }

  private transferItems(): Item[] {
    return this.downloads.running.map((transfer: Transfer) => ({
      label: `$(sync~spin) ${path.basename(transfer.first)}`,
      description: transfer.text,
      alwaysShow: true,
      buttons: [button('debug-pause', 'Pause'), button('close', 'Cancel and remove what came so far')],
      does: [transfer.pause, transfer.cancel],
    }));
  }

  private pausedItem({ address, first, received, total }: PausedDownload): Item {
    const percent = Math.floor((received / total) * 100);
    return {
      label: `$(debug-pause) ${path.basename(first)}`,
      description: `paused at ${percent} % of ${inGigabytes(total)}`,
      detail: 'Go on with the download',
      buttons: [button('trash', 'Remove what came so far')],
      does: [() => this.downloads.discard(first)],
      run: () => this.download(address, undefined, true),
    };
  }

  private localItem(model: LocalModel): Item {
    const id = `local/${model.path}`;
    const inUse = this.models.currentId === id;
    const fit = fitOfLocal(model);
    const facts = [
      inUse && (this.models.loaded ? 'in use, in memory' : 'in use'),
      model.info?.sizeLabel,
      model.info?.quantisation,
      inGigabytes(model.bytes),
      model.trouble ? 'damaged' : verdicts[fit.verdict],
    ];
    const unload = inUse && this.models.loaded;
    return {
      label: path.basename(model.path, '.gguf'),
      description: facts.filter(Boolean).join(' · '),
      detail: model.trouble ?? fit.reason,
      buttons: [
        button('info', 'Show details'),
        button('folder-opened', 'Show its folder'),
        ...(unload ? [button('debug-disconnect', 'Unload: gives its memory back')] : []),
        button('trash', 'Delete…'),
      ],
      does: [
        () => this.showDetails(model),
        () => vscode.commands.executeCommand('revealFileInOS', vscode.Uri.file(model.path)),
        ...(unload ? [() => this.models.unload()] : []),
        () => this.delete(model),
      ],
      run: () => (model.trouble ? this.showDetails(model) : this.models.pick(id)),
    };
  }

  private curatedItem(model: CuratedModel, best: boolean, context: number): Item {
    const fit = curatedFit(model, machine(), context);
    const facts = [
      `about ${inGigabytes(model.bytes)}`,
      model.licence,
      verdicts[fit.verdict],
      best && 'a good start here',
    ];
    return {
      label: `$(cloud-download) ${model.name}`,
      description: facts.filter(Boolean).join(' · '),
      detail: `${model.goodFor}. ${fit.reason}`,
      run: () => this.download(model.address, model),
    };
  }

  /** Finds, asks, downloads, and takes the model into use, unless another one was picked meanwhile. */
  private async download(address: string, known?: CuratedModel, agreed = false): Promise<void> {
    const model = await this.downloads.find(address);
    if (!model || !(agreed || (await this.agree(model, known)))) return;
    const before = this.models.currentId;
    const file = await this.downloads.fetch(model);
    if (!file) return;
    const name = path.basename(file, '.gguf');
    if (this.models.currentId === before) {
      await this.models.pick(`local/${file}`);
      void vscode.window.showInformationMessage(`${name} is here and in use.`);
      return;
    }
    const use = 'Use It';
    if ((await vscode.window.showInformationMessage(`${name} is here.`, use)) === use)
      await this.models.pick(`local/${file}`);
  }

  /** Before the first byte: how much, from where, to where. */
  private async agree(model: RemoteModel, known: CuratedModel | undefined): Promise<boolean> {
    const bytes = model.files.reduce((sum, file) => sum + file.bytes, 0);
    const fit = known
      ? fitOf({ ...known, bytes, contextSize: settings()['local.contextSize'] }, machine())
      : fitOf({ bytes, contextSize: settings()['local.contextSize'] }, machine());
    const names = model.files.map(({ name }) => name);
    const sums = model.files.every(({ sha256 }) => sha256 !== undefined);
    const detail = [
      `${inGigabytes(bytes)}, ${names.length > 1 ? `${names.length} files` : names[0]}`,
      `From ${new URL(model.files[0]!.url).host}, ${model.address}`,
      `To ${this.downloads.folder}`,
      known && `Licence: ${known.licence}. ${known.goodFor}.`,
      `${fit.verdict === 'too-large' ? 'It does not fit this machine. ' : ''}${fit.reason}`,
      sums ? 'Its checksum is checked.' : 'The server names no checksum, so damage on the way may go unnoticed.',
    ];
    const yes = 'Download';
    const other = 'Another Model…';
    const question = `Download ${known?.name ?? path.basename(names[0]!, '.gguf')}?`;
    const answer = await vscode.window.showInformationMessage(
      question,
      { modal: true, detail: detail.filter(Boolean).join('\n') },
      yes,
      other,
    );
    if (answer === other) void this.manage();
    return answer === yes;
  }

  private async askAddress(): Promise<void> {
    const address = await vscode.window.showInputBox({
      title: 'Towpath: download a model by its address',
      prompt: 'hf:owner/repository, hf:owner/repository:Q4_K_M, hf:owner/repository/file.gguf, or https://….gguf',
      placeHolder: curated[1]!.address,
      ignoreFocusOut: true,
      validateInput: (text) => {
        try {
          parseAddress(text, settings()['local.hub']);
          return undefined;
        } catch (error) {
          return (error as AddressTrouble).message;
        }
      },
    });
    if (address) await this.download(address.trim());
  }

  private async addFolder(): Promise<void> {
    const options = { title: 'A folder with models', openLabel: 'List Its Models', canSelectFolders: true };
    const folders = await vscode.window.showOpenDialog({ ...options, canSelectFiles: false });
    const folder = folders?.[0]?.fsPath;
    if (!folder) return;
    await saveSetting('local.folders', [...new Set([...settings()['local.folders'], folder])]);
    await this.manage();
  }

  private async showDetails(model: LocalModel): Promise<void> {
    const uri = vscode.Uri.from({ scheme, path: `/${path.basename(model.path)}.md`, query: model.path });
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { preview: true });
  }

  private async delete(model: LocalModel): Promise<void> {
    const name = path.basename(model.path);
    const many = model.files.length > 1 ? ` (${model.files.length} files)` : '';
    const detail = `${model.path}${many}\n${inGigabytes(model.bytes)} on disk`;
    const yes = 'Move to Trash';
    if ((await vscode.window.showWarningMessage(`Delete ${name}?`, { modal: true, detail }, yes)) !== yes) return;
    if (this.models.currentId === `local/${model.path}`) await this.models.unload();
    let trash = true;
    for (const file of model.files) {
      if (trash && (await toTrash(file))) continue;
      const forGood = 'Delete Permanently';
      if (trash) {
        const question = `There is no trash for ${name} here. Delete it permanently?`;
        if ((await vscode.window.showWarningMessage(question, { modal: true, detail }, forGood)) !== forGood) return;
      }
      trash = false;
      await vscode.workspace.fs.delete(vscode.Uri.file(file));
    }
  }

  /** A failure is one sentence, with the ways on that need no network. */
  private async told(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const ways: Record<string, string> = {
        'Try Again…': 'towpath.manageModels',
        'A File…': 'towpath.useLocal',
        'Demo Model': 'towpath.useDemo',
        'An Endpoint…': 'towpath.useEndpoint',
      };
      const message = error instanceof Error ? error.message : String(error);
      const chosen = await vscode.window.showErrorMessage(message, ...Object.keys(ways));
      if (chosen) await vscode.commands.executeCommand(ways[chosen]!);
    }
  }
}

function fitOfLocal({ bytes, info }: LocalModel): Fit {
  const { bytesPerToken, trainedContext } = info ?? {};
  const contextSize = settings()['local.contextSize'];
  return fitOf(
    { bytes, contextSize, ...(bytesPerToken && { bytesPerToken }), ...(trainedContext && { trainedContext }) },
    machine(),
  );
}

const machine = (): Machine => ({ freeMemory: os.freemem(), totalMemory: os.totalmem() });

const separator = (label: string): Item => ({ label, kind: vscode.QuickPickItemKind.Separator });

const expandHome = (folder: string) => folder.replace(/^~(?=$|[\\/])/, os.homedir());

/** False when there is no trash, as on a remote machine. */
async function toTrash(file: string): Promise<boolean> {
  if (!existsSync(file)) return true;
  try {
    await vscode.workspace.fs.delete(vscode.Uri.file(file), { useTrash: true });
    return true;
  } catch {
    return false;
  }
}
