export interface SlashCommand {
  word: string;
  kind: 'act' | 'prompt' | 'skill' | 'workflow' | 'agent' | 'server-prompt';
}

/** Splits a message into a leading slash word and the rest; undefined if the message starts with none. */
export function splitSlashCommand(text: string): { word: string; rest: string } | undefined {
  const [, word, rest] = /^(\/[^\s/]{1,200})(?:\s+([\s\S]*))?$/.exec(text) ?? [];
  return word === undefined ? undefined : { word, rest: rest ?? '' };
}
