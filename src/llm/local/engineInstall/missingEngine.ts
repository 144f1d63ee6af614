import { type LocalizedMessage, message } from '../../../protocol/text/l10n.ts';
/** Description of a Towpath package, in `target.json` beside the programs. A checkout has no such file. */
export interface ExtensionBuildInfo {
  target: string;
  engine?: string;
}

export const enginePackageByPlatform = {
  'linux-x64': 'linux-x64',
  'linux-arm64': 'linux-arm64',
  'darwin-x64': 'mac-x64',
  'darwin-arm64': 'mac-arm64-metal',
  'win32-x64': 'win-x64',
  'win32-arm64': 'win-arm64',
} as const;

export interface EnginePlatform {
  platform: string;
  arch: string;
  /** False on Linux with musl (Alpine), which the engines do not support. */
  glibc: boolean;
}

export function thisMachine(): EnginePlatform {
  const { platform, arch } = process;
  return { platform, arch, glibc: platform !== 'linux' || hasGlibc() };
}

/** Returns the reason that no engine can run, and a solution. `existsInWorkspace`: the engine's files exist but fail to load. */
export function unavailableEngineReason(
  machine: EnginePlatform,
  shipped: ExtensionBuildInfo | undefined,
  isInstalled: boolean,
): LocalizedMessage {
  const here = `${machine.platform}-${machine.arch}`;
  if (!(here in enginePackageByPlatform) || !machine.glibc) {
    const where = machine.glibc ? here : message('a Linux without glibc (Alpine and others)');
    return message(
      'There is no local engine for {0}, so local models do not run on this machine. Connect to a provider.',
      where,
    );
  }
  if (isInstalled)
    return message(
      'The local engine for {0} does not start here: its files are damaged, or this system is too old for it. Connect to a provider, or reinstall Towpath.',
      here,
    );
  if (!shipped)
    return message(
      'There is no local engine for {0} here. Run "npm ci" in Towpath\'s folder, or connect to a provider.',
      here,
    );
  if (shipped.target === 'universal')
    return message(
      'This is the package of Towpath for every platform, which has no local engine. Install the one for {0}, or connect to a provider.',
      here,
    );
  if (shipped.target !== here)
    return message(
      'This is the package of Towpath for {0}, and this machine is {1}. Install the one for it, or connect to a provider.',
      shipped.target,
      here,
    );
  return message('Files of the local engine are missing or damaged. Reinstall Towpath, or connect to a provider.');
}

let glibc: boolean | undefined;

/**
 * Detects glibc by the process report, which names the C library; network look-ups are excluded from the report because of their duration.
 */
function hasGlibc(): boolean {
  if (glibc !== undefined) return glibc;
  const report = process.report as NodeJS.ProcessReport & { excludeNetwork?: boolean };
  report.excludeNetwork = true;
  const { header } = report.getReport() as unknown as { header?: { glibcVersionRuntime?: string } };
  glibc = header?.glibcVersionRuntime !== undefined;
  return glibc;
}
