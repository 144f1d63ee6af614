export interface SlashCommand {
  word: string;
  kind: 'act' | 'prompt' | 'skill' | 'workflow' | 'agent' | 'server-prompt';
}

export const slashActions = {
  new: { does: 'Start a new run', takesWords: true },
  compact: { does: 'Compact the conversation', takesWords: false },
  model: { does: 'Pick the model', takesWords: false },
  plan: { does: 'Plan without changes', takesWords: true },
  undo: { does: 'Undo the last reply', takesWords: false },
  export: { does: 'Export this run', takesWords: false },
} as const satisfies Record<string, { does: string; takesWords: boolean }>;
export type SlashAction = keyof typeof slashActions;

/** Splits a message into a leading slash word and the rest; undefined if the message starts with none. */
export function splitSlashCommand(text: string): { word: string; rest: string } | undefined {
  const [, word, rest] = /^(\/[^\s/]{1,200})(?:\s+([\s\S]*))?$/.exec(text) ?? [];
  return word === undefined ? undefined : { word, rest: rest ?? '' };
}
