/** Reasons why a run can be read and not gone on with, by their codes, as sentences for people. */
export const readOnlySentences = {
  /** What it has done is not here, and what its file says may be another. */
  importedWorkflow:
    'This run was imported, and follows a workflow: it can be read here, and not gone on with. Run the workflow again instead.',
  writtenByNewer:
    'This run was written by a newer Towpath. What this one understands is shown; update to go on with it.',
  continuedByNewer:
    'A newer Towpath has worked on this run. What this one understands is shown; update to go on with it.',
} as const;

export type ReadOnlyCode = keyof typeof readOnlySentences;

export const readOnlyCodes = Object.keys(readOnlySentences) as [ReadOnlyCode, ...ReadOnlyCode[]];
