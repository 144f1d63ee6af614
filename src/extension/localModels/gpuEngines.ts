import * as vscode from 'vscode';
import type { LLMError } from '../../llm/core/errors.ts';
import {
  engineLibraryNodeModulesFolder,
  enginesFolder,
  readExtensionBuildInfo,
} from '../../llm/local/engineInstall/engineFolders.ts';
import {
  addGpuEngine,
  type GpuEngine,
  gpuEngineArchiveName,
  gpuEngineArchiveUrl,
  gpuEnginesFor,
  removeGpuEngine,
} from '../../llm/local/engineInstall/gpuEngine.ts';
import { byteSizeText } from '../../protocol/text/byteSizes.ts';
import { t } from '../../protocol/text/l10n.ts';
import { localize, messageOf } from '../../protocol/text/localized.ts';
import { acquireRunLock } from '../../runs/lock.ts';
import { withCancellation } from '../dialogs/cancellable.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import { notify } from '../dialogs/notify.ts';
import type { LocalEngine } from '../providers/localEngine.ts';
import { settings } from '../settings/settings.ts';

const titles = {
  cuda: 'CUDA, for graphics cards of NVIDIA',
  vulkan: 'Vulkan, for most others',
  'cuda-ext': 'CUDA for older drivers, next to the first engine',
} as const satisfies Record<GpuEngine['kind'], string>;

export class GpuEngines {
  constructor(
    private readonly home: LocalEngine,
    private readonly modals: Dialogs,
  ) {}

  /** *Add GPU Engine…*: selects and installs an engine after confirmation; for an installed engine, offers its removal. */
  async add(kind?: string): Promise<void> {
    const { installed, hardware, missing } = this.home.state();
    const offered = gpuEnginesFor(process.platform, process.arch);
    if (missing ?? !offered.length) return notify('info', missing ?? this.none());
    if (!readExtensionBuildInfo(this.home.dist))
      return notify(
        'info',
        t('This Towpath is a checkout. Run "npm run gpu -- vulkan" or "npm run gpu -- cuda" in its folder.'),
      );
    const items = offered.map((engine) => ({
      label: t(titles[engine.kind]),
      description: installed.includes(engine.name) ? t('here') : byteSizeText(engine.bytes),
      engine,
    }));
    const found = hardware ? t('Found: {0}', hardware) : t('No graphics card was found.');
    const title = t('Towpath: add a GPU engine. {0}', found);
    const engine =
      offered.find((one) => one.kind === kind) ?? (await vscode.window.showQuickPick(items, { title }))?.engine;
    if (!engine) return;
    try {
      await (installed.includes(engine.name) ? this.remove(engine) : this.fetch(engine));
    } catch (error) {
      const { code } = error as LLMError;
      const text =
        code === ('STORE_LOCKED' as string)
          ? t('Another window is adding an engine and shows its progress.')
          : localize(messageOf(error));
      notify('error', text);
    }
  }

  private async fetch(engine: GpuEngine): Promise<void> {
    const registry = settings()['local.engineRegistry'];
    const folder = enginesFolder(this.home.storage);
    const detail = [
      t('{0} to download, {1} on the disk', byteSizeText(engine.bytes), byteSizeText(engine.unpacked)),
      t(
        'From {0}, {1}; not if the folder already contains {2}',
        new URL(gpuEngineArchiveUrl(engine, registry)).host,
        `@node-llama-cpp/${engine.name} ${engine.version}`,
        gpuEngineArchiveName(engine),
      ),
      t('To {0}', folder),
      t('Its checksum must match the one that came with Towpath. It is a program and runs in its own process.'),
    ].join('\n');
    const yes = t('Download');
    const text = t('Add the engine {0}?', engine.name);
    if ((await this.modals.ask({ text, detail, buttons: [yes] })) !== yes) return;
    const done = await withCancellation(
      t('Towpath is adding the engine {0}', engine.name),
      async (signal, progress) => {
        try {
          await addGpuEngine(engine, {
            modules: engineLibraryNodeModulesFolder(this.home.dist),
            storage: this.home.storage,
            registry,
            signal,
            lock: acquireRunLock,
            onProgress: ({ received, total }) =>
              progress(t('{0}% of {1}', Math.floor((received / total) * 100), byteSizeText(total))),
          });
          return true;
        } catch (error) {
          if (signal.aborted) return false;
          throw error;
        }
      },
    );
    if (done)
      notify(
        'info',
        t(
          'The engine {0} is installed. A model that is loaded from now on runs on the GPU as far as it fits. Towpath: Doctor checks whether it works.',
          engine.name,
        ),
      );
  }

  private async remove(engine: GpuEngine): Promise<void> {
    const yes = t('Remove');
    const text = t('Remove the engine {0}?', engine.name);
    const detail = t('Local models then run on the CPU.');
    if ((await this.modals.ask({ text, detail, buttons: [yes] })) !== yes) return;
    await removeGpuEngine(engine, this.home.storage);
    notify('info', t('The engine {0} was removed.', engine.name));
  }

  private none(): string {
    const { gpu } = this.home.state();
    return gpu.includes('metal')
      ? t('The engine that came with Towpath already uses the GPU.')
      : t('There is no GPU engine for {0}.', `${process.platform}-${process.arch}`);
  }
}
