/** Maximum files, links and empty folders of a snapshot; more are not recorded. */
export const maxSnapshotEntries = 100_000;

/** Larger files are not stored if Git ignores them, and come last if untracked. In bytes. */
export const maxSmallBytes = 1_000_000;

/** Coarsest time of a file system, in nanoseconds: an entry as young as this may change again without another identity. */
export const coarsestTime = 2_000_000_000n;
