import { message } from '../../protocol/text/l10n.ts';
import type { LocalizableText } from '../../protocol/text/localized.ts';
import { ToolError } from '../core/tool.ts';
import type { Workspace } from '../core/workspace.ts';
import { listFilesBelow } from '../search/listFiles.ts';

/** Names of all files and folders in the workspace except ignored ones, listed again after changes. */
export class WorkspaceFileNames {
  /** Result of the last listing: paths with `/`; folders end with `/`. */
  names: readonly string[] = [];
  problem: LocalizableText | undefined;
  private changes = 1;
  private listed = 0;
  private listing: Promise<void> | undefined;

  constructor(private readonly workspace: Workspace) {}

  changed(): void {
    this.changes += 1;
  }

  /** Resolves when the names include all changes until this call; undefined if already up to date. Only one listing runs at a time. */
  fresh(signal: AbortSignal): Promise<void> | undefined {
    if (this.listed === this.changes) return undefined;
    this.listing ??= this.list(signal).finally(() => {
      this.listing = undefined;
    });
    return this.listing;
  }

  private async list(signal: AbortSignal): Promise<void> {
    const upTo = this.changes;
    const files: string[] = [];
    const folders = new Set<string>();
    try {
      const onName = (path: string) => {
        files.push(path);
        for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
          const folder = path.slice(0, end + 1);
          if (folders.has(folder)) break;
          folders.add(folder);
        }
        return true;
      };
      const { cut } = await listFilesBelow(this.workspace, undefined, onName, signal);
      this.names = [...files, ...folders];
      this.problem = cut ? message('There are too many files to list them all in time.') : undefined;
      this.listed = upTo;
    } catch (error) {
      if (signal.aborted) return;
      this.problem =
        error instanceof ToolError ? message('Files cannot be listed here: {0}', error.message) : String(error);
      this.listed = upTo; // retried after the next change
    }
  }
}
