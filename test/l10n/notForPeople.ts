/** What reads like words and is not told to people, or is told to others as well: in which file (or folder), which, and why. */
export const notForPeople: readonly { file: string; words: RegExp; why: string }[] = [
  { file: 'src/extension/view/chatPage.ts', words: /^(script|style|font|img)-src /, why: 'the policy of a page' },
];
