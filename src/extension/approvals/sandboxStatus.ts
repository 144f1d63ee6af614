import type { ApprovalPreset } from '../../protocol/content/policy.ts';
import { message } from '../../protocol/text/l10n.ts';
import { messageOf } from '../../protocol/text/localized.ts';
import type { SandboxAvailability } from '../../tools/core/commandSandbox.ts';

interface Dependencies {
  /** Tests the sandbox of the system; called once per window. */
  probe(): Promise<SandboxAvailability>;
  /** Location of the open folders: a disk of this machine, virtual, or none. */
  folders(): 'disk' | 'virtual' | 'none';
  onKnown(): void;
}

/** Milliseconds until a probe without a result counts as failed. */
const maxProbeMs = 10_000;

/** Returns the preset in force: without the sandbox, its preset allows only edits. */
export const effectivePreset = (
  preset: ApprovalPreset,
  { trusted, sandbox }: { trusted: boolean; sandbox: SandboxAvailability | undefined },
): ApprovalPreset => (preset === 'sandbox' && !(trusted && sandbox?.isAvailable) ? 'edits-free' : preset);

/** Availability of the sandbox in this window. Until the probe has finished, the sandbox counts as not available. */
export class SandboxStatus {
  private probing?: Promise<SandboxAvailability>;
  private system?: SandboxAvailability;

  constructor(
    private readonly dependencies: Dependencies,
    private readonly limitMs = maxProbeMs,
  ) {}

  /** Returns undefined until the probe has finished. */
  get current(): SandboxAvailability | undefined {
    return this.withoutFolder ?? this.system;
  }

  async probe(): Promise<SandboxAvailability> {
    if (this.withoutFolder) return this.withoutFolder;
    this.probing ??= this.test();
    return this.probing;
  }

  private get withoutFolder(): SandboxAvailability | undefined {
    const folders = this.dependencies.folders();
    if (folders === 'disk') return undefined;
    const reason =
      folders === 'virtual' ? message('the folders of this window are virtual') : message('no folder is open');
    return { isAvailable: false, reason };
  }

  private async test(): Promise<SandboxAvailability> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<SandboxAvailability>((resolve) => {
      timer = setTimeout(resolve, this.limitMs, { isAvailable: false, reason: message('its test did not finish') });
    });
    const failed = (error: unknown): SandboxAvailability => ({
      isAvailable: false,
      reason: message('its test failed ({0})', messageOf(error)),
    });
    this.system = await Promise.race([this.dependencies.probe().catch(failed), late]);
    clearTimeout(timer);
    this.dependencies.onKnown();
    return this.system;
  }
}
