export const codePromptTemplates = {
  explain: (subject: string) => `Explain ${subject}.`,
  fix: (subject: string) => `Fix ${subject}.`,
  writeTests: (subject: string) => `Write tests for ${subject}, in the way of the tests that are there.`,
  reviewChanges: (subject: string) =>
    `Review my changes (${subject}): what is wrong, risky or missing? Change nothing.`,
} as const satisfies Record<string, (subject: string) => string>;
