import type { LocalizedMessage } from '../../protocol/text/l10n.ts';

/**
 * Tests if commands of this window can be confined. `program` is the name and version of the sandbox, like `bubblewrap 0.8`; `isPreview`: its
 * authors have not run it. `reason` is a sentence part, like `bubblewrap is not installed`; `steps` is a sentence about installing or enabling
 * the sandbox.
 */
export type SandboxAvailability =
  | { isAvailable: true; program: string; isPreview?: true }
  | { isAvailable: false; reason: LocalizedMessage; steps?: LocalizedMessage };

/** Name by which rules cover the network access of sandboxed commands; not a tool of a model. */
export const networkAccessTool = 'shell.network';

/** Name by which rules let sandboxed commands write a folder outside of the workspace; not a tool of a model. */
export const folderAccessTool = 'shell.folder';
