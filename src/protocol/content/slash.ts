/** What can be said after a `/` at the beginning of a message. */
export interface Slash {
  /** As it is written: `/plan`, `/review`, `/skill:review`, `/mcp.server.name`. */
  word: string;
  kind: 'act' | 'prompt' | 'skill' | 'workflow' | 'agent' | 'server-prompt';
}

/** Those of Towpath's own, done as soon as they are chosen. `takesWords`: what stands behind it is said then. */
export const slashActs = {
  new: { does: 'Start a new run', takesWords: true },
  compact: { does: 'Compact the conversation', takesWords: false },
  model: { does: 'Pick the model', takesWords: false },
  plan: { does: 'Plan without changes', takesWords: true },
  undo: { does: 'Undo the last reply', takesWords: false },
  export: { does: 'Export this run', takesWords: false },
} as const satisfies Record<string, { does: string; takesWords: boolean }>;
export type SlashAct = keyof typeof slashActs;

/** The word that a message begins with, where it can be one of these, and what stands behind it. */
export function slashIn(text: string): { word: string; rest: string } | undefined {
  const [, word, rest] = /^(\/[^\s/]{1,200})(?:\s+([\s\S]*))?$/.exec(text) ?? [];
  return word === undefined ? undefined : { word, rest: rest ?? '' };
}
