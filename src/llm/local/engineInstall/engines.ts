import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { t } from '../../../protocol/text/l10n.ts';

/** Installed engines, and user-facing texts about the machine; a text is absent if there is nothing to report. */
export interface InferenceEngineStatus {
  installed: string[];
  gpu: string[];
  missing?: string;
  hardware?: string;
  advice?: string;
}

const platforms: Record<string, string> = { linux: 'linux', darwin: 'mac', win32: 'win' };

/** Examines files only: a GPU is verified when a model is loaded. */
export function inspectInstalledEngines(
  modules: string,
  machine: { platform: string; arch: string; exists(file: string): boolean } = {
    platform: process.platform,
    arch: process.arch,
    exists: existsSync,
  },
): InferenceEngineStatus {
  const installed = installedEngines(modules, machine);
  const gpu = ['metal', 'cuda', 'vulkan'].filter((kind) => installed.some((one) => one.includes(kind)));
  const { hardware, kind } = graphicsOf(machine);
  const advice = kind && !gpu.includes(kind) ? t('Run *Towpath: Add GPU Engine…* to add an engine for it.') : undefined;
  return { installed, gpu, ...(hardware && { hardware }), ...(advice && { advice }) };
}

export function installedEngines(modules: string, { platform, arch }: { platform: string; arch: string }): string[] {
  const name = `${platforms[platform] ?? platform}-${arch}`;
  return enginesIn(path.join(modules, '@node-llama-cpp')).filter((one) => one.startsWith(name));
}

/**
 * Returns the engines of a folder. The overrides of package.json replace GPU engines with another package, so the name is read from the
 * package itself.
 */
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
