import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { t } from '../../../protocol/text/l10n.ts';

/** What can run local models here: engines that are installed, and what the machine has for them. */
export interface EngineState {
  /** Packages such as `linux-x64`, `linux-x64-vulkan`. */
  installed: string[];
  /** `metal`, `cuda`, `vulkan`: what the installed engines could use. */
  gpu: string[];
  /** Why no local model can run, for people; absent where one can. */
  missing?: string;
  /** What looks like a graphics card of this machine, as a sentence for people; absent where nothing does. */
  hardware?: string;
  /** What to do to use it, as a sentence for people; absent where nothing is to be done. */
  advice?: string;
}

const platforms: Record<string, string> = { linux: 'linux', darwin: 'mac', win32: 'win' };

/** Looks at files only: whether a GPU really works is known when a model is loaded. */
export function engineState(
  modules: string,
  machine: { platform: string; arch: string; exists(file: string): boolean } = {
    platform: process.platform,
    arch: process.arch,
    exists: existsSync,
  },
): EngineState {
  const installed = installedEngines(modules, machine);
  const gpu = ['metal', 'cuda', 'vulkan'].filter((kind) => installed.some((one) => one.includes(kind)));
  const { hardware, kind } = graphicsOf(machine);
  const advice = kind && !gpu.includes(kind) ? t('Run *Towpath: Add GPU Engine…* to add an engine for it.') : undefined;
  return { installed, gpu, ...(hardware && { hardware }), ...(advice && { advice }) };
}

/** The packages of engines that this machine could run. */
export function installedEngines(modules: string, { platform, arch }: { platform: string; arch: string }): string[] {
  const name = `${platforms[platform] ?? platform}-${arch}`;
  return enginesIn(path.join(modules, '@node-llama-cpp')).filter((one) => one.startsWith(name));
}

/** The overrides of package.json put some other package where a GPU engine would be: the real name is inside. */
function enginesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).filter((name) => {
    try {
      return (
        JSON.parse(readFileSync(path.join(folder, name, 'package.json'), 'utf8')).name === `@node-llama-cpp/${name}`
      );
    } catch {
      return false;
    }
  });
}

function graphicsOf({ platform, arch, exists }: { platform: string; arch: string; exists(file: string): boolean }): {
  hardware?: string;
  kind?: 'cuda' | 'vulkan' | 'metal';
} {
  if (platform === 'darwin') return arch === 'arm64' ? { hardware: t('Apple graphics (Metal).'), kind: 'metal' } : {};
  const nvidia = ['/proc/driver/nvidia/version', 'C:\\Windows\\System32\\nvcuda.dll'];
  if (nvidia.some(exists)) return { hardware: t('An NVIDIA driver.'), kind: 'cuda' };
  const others = ['/dev/dri/renderD128', 'C:\\Windows\\System32\\vulkan-1.dll'];
  if (others.some(exists)) return { hardware: t('A graphics device that may support Vulkan.'), kind: 'vulkan' };
  return {};
}
