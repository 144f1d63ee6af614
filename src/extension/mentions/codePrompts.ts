export const codePromptTemplates = {
  explain: (words: string) => `Explain ${words}.`,
  fix: (words: string) => `Fix ${words}.`,
  writeTests: (words: string) => `Write tests for ${words}, in the way of the tests that are there.`,
  reviewChanges: (words: string) => `Review my changes (${words}): what is wrong, risky or missing? Change nothing.`,
} as const satisfies Record<string, (words: string) => string>;
