import type { LocalizedMessage } from './l10n.ts';

/** Ids of commands and of the setting named in a message, for buttons beside the message. */
export interface Links {
  commands?: string[] | undefined;
  setting?: string | undefined;
}

const linksBySentence = new WeakMap<LocalizedMessage, Links>();

export function linked(words: LocalizedMessage, links: Links): LocalizedMessage {
  linksBySentence.set(words, links);
  return words;
}

export function linksOf(words: string | LocalizedMessage): Links | undefined {
  if (typeof words === 'string') return undefined;
  const inner = (words.values ?? []).flatMap((value) =>
    typeof value === 'object' && 'english' in value ? (linksOf(value) ?? []) : [],
  );
  const all = [...(linksBySentence.has(words) ? [linksBySentence.get(words)!] : []), ...inner];
  if (all.length === 0) return undefined;
  const commands = [...new Set(all.flatMap(({ commands = [] }) => commands))];
  const setting = all.find((one) => one.setting !== undefined)?.setting;
  return { ...(commands.length > 0 && { commands }), ...(setting !== undefined && { setting }) };
}
