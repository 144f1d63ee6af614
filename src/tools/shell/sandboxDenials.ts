/** Absolute paths that the sandbox did not let a command write. `changed`: number of files that it changed all the same. */
export interface SandboxDenial {
  paths: readonly string[];
  changed: number;
  /** Folders outside of the workspace that it was allowed to write. */
  allowed: readonly string[];
}

interface CommandKey {
  runId: string;
  folder: string;
  command: string;
}

const maxDenials = 200;

/** Denials of the last execution of commands in this window. */
export class SandboxDenials {
  private readonly denials = new Map<string, SandboxDenial>();

  set(key: CommandKey, denial: SandboxDenial): void {
    this.denials.delete(textOf(key));
    if (denial.paths.length > 0) this.denials.set(textOf(key), denial);
    const [oldest] = this.denials.keys();
    if (this.denials.size > maxDenials) this.denials.delete(oldest!);
  }

  of(key: CommandKey): SandboxDenial | undefined {
    return this.denials.get(textOf(key));
  }
}

const textOf = ({ runId, folder, command }: CommandKey): string => JSON.stringify([runId, folder, command]);
