import os from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import { LLMError } from '../../llm/core/errors.ts';
import { parseModelAddress } from '../../llm/local/download/modelAddress.ts';
import type { DownloadableModel } from '../../llm/local/download/modelHub.ts';
import { maxContextSize } from '../../llm/local/modelFile/contextSize.ts';
import { type MachineMemory, memoryFit } from '../../llm/local/modelFile/memoryFit.ts';
import {
  bestModelForMachine,
  type RecommendedModel,
  recommendedModels,
} from '../../llm/local/modelFile/recommendedModels.ts';
import { byteSizeText } from '../../protocol/text/byteSizes.ts';
import { t } from '../../protocol/text/l10n.ts';
import { localize, messageOf } from '../../protocol/text/localized.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import { notifyWithActions } from '../dialogs/notify.ts';
import type { SelectableModels } from '../models/models.ts';
import type { LocalEngine } from '../providers/localEngine.ts';
import { settings } from '../settings/settings.ts';
import type { ModelDownloads } from './downloads.ts';

/** Workflow from an address to a selected model: find, confirm, download, select. */
export class ModelDownloadWizard {
  constructor(
    private readonly models: SelectableModels,
    private readonly downloads: ModelDownloads,
    private readonly engine: LocalEngine,
    private readonly modals: Dialogs,
  ) {}

  /** Offers the recommended model for this machine, or a paused download. */
  async offer(): Promise<void> {
    await withDownloadFailureNotice(async () => {
      const begun = (await this.downloads.paused()).find(({ elsewhere }) => !elsewhere);
      if (begun) return this.fetch(begun.address);
      const best = bestModelForMachine(readMachineMemory(), maxContextSize(settings()['local.contextSize']));
      await this.fetch(best.address, { known: best });
    });
  }

  /** Finds, confirms, downloads and selects a model, unless the user has selected another meanwhile. */
  async fetch(address: string, { known, agreed }: { known?: RecommendedModel; agreed?: boolean } = {}): Promise<void> {
    const missing = this.engine.missing();
    if (missing) throw new LLMError('UNKNOWN', missing); // no download without an engine
    const model = await this.downloads.find(address);
    if (!model || !(agreed || (await this.agree(model, known)))) return;
    const before = this.models.currentId;
    const file = await this.downloads.fetch(model);
    if (!file) return this.stopped(address);
    const name = path.basename(file, '.gguf');
    if (this.models.currentId === before) {
      await this.models.pick(`local/${file}`);
      await offerCheck(t('{0} is installed and in use.', name));
      return;
    }
    const use = t('Use');
    if ((await notifyWithActions('info', t('{0} is installed.', name), use)) === use)
      await this.models.pick(`local/${file}`);
  }

  /** Offers to resume a stopped download; nothing if it was deleted. */
  private async stopped(address: string): Promise<void> {
    const paused = (await this.downloads.paused()).find((one) => one.address === address);
    if (!paused) return;
    const percent = Math.floor((paused.received / paused.total) * 100);
    const text = t('{0} is paused at {1}%. The downloaded part is stored.', path.basename(paused.first), percent);
    const [resume, remove] = [t('Resume'), t('Remove')];
    const chosen = await notifyWithActions('info', text, resume, remove);
    if (chosen === resume) await this.fetch(address, { agreed: true });
    if (chosen === remove) await this.downloads.discard(paused.first);
  }

  private async agree(model: DownloadableModel, known: RecommendedModel | undefined): Promise<boolean> {
    const bytes = model.files.reduce((sum, file) => sum + file.bytes, 0);
    const fit = known
      ? memoryFit(
          { ...known, bytes, contextSize: maxContextSize(settings()['local.contextSize']) },
          readMachineMemory(),
        )
      : memoryFit({ bytes, contextSize: maxContextSize(settings()['local.contextSize']) }, readMachineMemory());
    const names = model.files.map(({ name }) => name);
    const sums = model.files.every(({ sha256 }) => sha256 !== undefined);
    const detail = [
      `${byteSizeText(bytes)}, ${names.length > 1 ? t('{0} files', names.length) : names[0]}`,
      t('From {0}, {1}', new URL(model.files[0]!.url).host, model.address),
      t('To {0}', this.downloads.folder),
      known && t('License: {0}. {1}.', known.licence, known.goodFor),
      fit.verdict === 'too-large' ? t('It does not fit into this machine. {0}', fit.reason) : fit.reason,
      sums
        ? t('Its checksum is verified.')
        : t('The server names no checksum, so a damaged download may go unnoticed.'),
    ];
    const yes = t('Download');
    const other = t('Another Model…');
    const text = t('Download {0}?', known?.name ?? path.basename(names[0]!, '.gguf'));
    const asked = { text, detail: detail.filter(Boolean).join('\n'), buttons: [yes, other], opens: other };
    const answer = await this.modals.ask(asked);
    if (answer === other) void vscode.commands.executeCommand('towpath.manageModels');
    return answer === yes;
  }

  async askAddress(): Promise<void> {
    const address = await vscode.window.showInputBox({
      title: t('Towpath: download a model by its address'),
      prompt: t('hf:owner/repository, hf:owner/repository:Q4_K_M, hf:owner/repository/file.gguf, or https://….gguf'),
      placeHolder: recommendedModels[1]!.address,
      ignoreFocusOut: true,
      validateInput: (text) => {
        try {
          parseModelAddress(text, settings()['local.hub']);
          return undefined;
        } catch (error) {
          return localize(messageOf(error));
        }
      },
    });
    if (address) await this.fetch(address.trim());
  }
}

/** Offers a check of the new model. */
async function offerCheck(text: string): Promise<void> {
  const check = t('Check This Model…');
  if ((await notifyWithActions('info', text, check)) === check)
    await vscode.commands.executeCommand('towpath.checkModel');
}

/** Shows a failure as a message with the options without network. */
export async function withDownloadFailureNotice(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const ways = new Map([
      [t('Try Again…'), 'towpath.manageModels'],
      [t('A File…'), 'towpath.useLocal'],
      [t('Demo Model'), 'towpath.useDemo'],
      [t('An Endpoint…'), 'towpath.useEndpoint'],
    ]);
    const chosen = await notifyWithActions('error', localize(messageOf(error)), ...ways.keys());
    if (chosen) await vscode.commands.executeCommand(ways.get(chosen)!);
  }
}

export const readMachineMemory = (): MachineMemory => ({ freeMemory: os.freemem(), totalMemory: os.totalmem() });
