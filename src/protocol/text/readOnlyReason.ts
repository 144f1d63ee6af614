export const readOnlyReasonMessages = {
  /** The imported file lacks the effects of the run, and the local workflow file may differ. */
  importedWorkflow:
    'This run was imported and follows a workflow. You can read it here but not continue it. Run the workflow again instead.',
  writtenByNewer:
    'This run was written by a newer version of Towpath. This version shows what it can read. Update Towpath to continue it.',
  continuedByNewer:
    'A newer version of Towpath has continued this run. This version shows what it can read. Update Towpath to continue it.',
} as const;

export type ReadOnlyReasonCode = keyof typeof readOnlyReasonMessages;

export const readOnlyReasonCodes = Object.keys(readOnlyReasonMessages) as [ReadOnlyReasonCode, ...ReadOnlyReasonCode[]];
