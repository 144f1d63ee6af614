import * as vscode from 'vscode';
import type { LLMError } from '../../llm/errors.ts';
import { enginesFolder, ownModules, shippedIn } from '../../llm/local/engineHome.ts';
import { inGigabytes } from '../../llm/local/fit.ts';
import {
  addGpuEngine,
  addressOf,
  archiveOf,
  type GpuEngine,
  gpuEnginesFor,
  removeGpuEngine,
} from '../../llm/local/gpuEngine.ts';
import { takeLock } from '../../runs/lock.ts';
import type { Modals } from '../dialogs/modals.ts';
import { stoppable } from '../dialogs/stoppable.ts';
import { tell } from '../dialogs/tell.ts';
import { settings } from '../settings/settings.ts';
import type { LocalEngine } from './localEngine.ts';

const titles: Record<GpuEngine['kind'], string> = {
  cuda: 'CUDA, for graphics cards of NVIDIA',
  vulkan: 'Vulkan, for most others',
  'cuda-ext': 'CUDA for older drivers, beside the first',
};

/** The GPU engines that a person adds to the one that came with Towpath. */
export class GpuEngines {
  constructor(
    private readonly home: LocalEngine,
    private readonly modals: Modals,
  ) {}

  /** *Add GPU Engine…*: which, one question, then it comes; of one that is here, whether it is to go. */
  async add(kind?: string): Promise<void> {
    const { installed, hardware, missing } = this.home.state();
    const offered = gpuEnginesFor(process.platform, process.arch);
    if (missing ?? !offered.length) return tell('info', missing ?? this.none());
    if (!shippedIn(this.home.dist))
      return tell(
        'info',
        'This Towpath is a checkout. Run "npm run gpu -- vulkan" or "npm run gpu -- cuda" in its folder.',
      );
    const items = offered.map((engine) => ({
      label: titles[engine.kind],
      description: installed.includes(engine.name) ? 'here' : inGigabytes(engine.bytes),
      engine,
    }));
    const title = `Towpath: add a GPU engine. ${hardware ? `Found: ${hardware}` : 'No graphics card was found.'}`;
    const engine =
      offered.find((one) => one.kind === kind) ?? (await vscode.window.showQuickPick(items, { title }))?.engine;
    if (!engine) return;
    try {
      await (installed.includes(engine.name) ? this.remove(engine) : this.fetch(engine));
    } catch (error) {
      const { code, message } = error as LLMError;
      const told =
        code === ('STORE_LOCKED' as string) ? 'Another window is adding an engine. Its progress is there.' : message;
      tell('error', told);
    }
  }

  private async fetch(engine: GpuEngine): Promise<void> {
    const registry = settings()['local.engineRegistry'];
    const folder = enginesFolder(this.home.storage);
    const detail = [
      `${inGigabytes(engine.bytes)} to download, ${inGigabytes(engine.unpacked)} on the disk`,
      `From ${new URL(addressOf(engine, registry)).host}, @node-llama-cpp/${engine.name} ${engine.version}; not, if ${archiveOf(engine)} is in the folder already`,
      `To ${folder}`,
      'Its checksum must be the one that came with Towpath. It is a program, and runs in a process of its own.',
    ].join('\n');
    const yes = 'Download';
    if ((await this.modals.ask({ text: `Add the engine ${engine.name}?`, detail, buttons: [yes] })) !== yes) return;
    const done = await stoppable(`Towpath adds the engine ${engine.name}`, async (signal, progress) => {
      try {
        await addGpuEngine(engine, {
          modules: ownModules(this.home.dist),
          storage: this.home.storage,
          registry,
          signal,
          lock: takeLock,
          onProgress: ({ received, total }) =>
            progress(`${Math.floor((received / total) * 100)} % of ${inGigabytes(total)}`),
        });
        return true;
      } catch (error) {
        if (signal.aborted) return false;
        throw error;
      }
    });
    if (done)
      tell(
        'info',
        `The engine ${engine.name} is here. A model that is loaded from now on runs on the GPU as far as it fits; Towpath: Doctor tells whether it works.`,
      );
  }

  private async remove(engine: GpuEngine): Promise<void> {
    const yes = 'Remove';
    const text = `The engine ${engine.name} is here. Remove it?`;
    if ((await this.modals.ask({ text, detail: 'Local models run on the CPU then.', buttons: [yes] })) !== yes) return;
    await removeGpuEngine(engine, this.home.storage);
    tell('info', `The engine ${engine.name} is removed.`);
  }

  private none(): string {
    const { gpu } = this.home.state();
    return gpu.includes('metal')
      ? 'The engine that came with Towpath uses the GPU already.'
      : `There is no GPU engine for ${process.platform}-${process.arch}.`;
  }
}
