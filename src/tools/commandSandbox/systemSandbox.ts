import { message } from '../../protocol/text/l10n.ts';
import type { CommandSandbox } from './commandSandbox.ts';
import { createLinuxSandbox, type LinuxSandboxOptions } from './linux/linuxSandbox.ts';
import { createMacSandbox } from './macos/macSandbox.ts';

/** Returns the sandbox of this system; one that is not available where there is none. */
export function createSystemSandbox(options: LinuxSandboxOptions, platform = process.platform): CommandSandbox {
  if (platform === 'linux') return createLinuxSandbox(options);
  if (platform === 'darwin') return createMacSandbox(options);
  const reason =
    platform === 'win32' ? message('not supported on Windows outside WSL') : message('not supported on this system');
  return {
    availability: async () => ({ isAvailable: false, reason }),
    begin: () => Promise.reject(new Error('There is no sandbox on this system.')),
    allowableFolder: async () => undefined,
    close: async () => undefined,
  };
}
