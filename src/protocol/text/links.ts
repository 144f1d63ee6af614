import type { LocalizedMessage } from './l10n.ts';

/** Commands and the setting that a message names, by their ids: buttons beside the message. */
export interface Links {
  commands?: string[] | undefined;
  setting?: string | undefined;
}

/** Beside the sentences, whose stored form has no place for more. */
const linksBySentence = new WeakMap<LocalizedMessage, Links>();

/** Returns the same sentence, with what it names. */
export function linked(words: LocalizedMessage, links: Links): LocalizedMessage {
  linksBySentence.set(words, links);
  return words;
}

/** Returns what a sentence and the sentences in it name; undefined: nothing. */
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
