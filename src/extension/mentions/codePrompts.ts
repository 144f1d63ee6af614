export const codePromptTemplates = {
  explain: (subject: string) => `Explain ${subject}.`,
  fix: (subject: string) => `Fix ${subject}.`,
  writeTests: (subject: string) => `Write tests for ${subject}, in the way of the tests that are there.`,
  reviewChanges: (subject: string) =>
    `Review my changes (${subject}): what is wrong, risky or missing? Change nothing.`,
} as const satisfies Record<string, (subject: string) => string>;

/** Message about a finding of a review. The text of the model is quoted: it is not an instruction of the user. */
export const fixFindingPrompt = (subject: string, finding: string): string =>
  `Fix this finding of a review at ${subject}, if it is right:\n\n${finding.replace(/^/gm, '> ')}`;

/** Message of the user about lines of a file. */
export const codeQuestionPrompt = (subject: string, text: string): string => `${subject} ${text.trim()}`;
