import type { LocalizedMessage } from '../../../protocol/text/l10n.ts';

/**
 * Answers whether an undo of the next command will restore these files and repositories (absolute paths, a repository by its `.git`). In
 * doubt, it does not.
 */
export type FileCoverage = (files: readonly string[]) => Promise<CoverageAnswer>;

/** `reason`: sentence for the user; `large`: files that are too large, with their size in bytes. */
export type CoverageAnswer =
  | { isWhole: true }
  | { isWhole: false; reason?: LocalizedMessage; large?: readonly LargeFile[] };

interface LargeFile {
  path: string;
  bytes: number;
}
