/** Maximum files, links and empty folders of a snapshot; more are not recorded. */
export const maxSnapshotEntries = 100_000;

/** Larger files are not stored if Git ignores them, and come last if untracked. In bytes. */
export const maxSmallBytes = 1_000_000;
