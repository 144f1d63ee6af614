import type { LocalizedMessage } from './l10n.ts';

export interface MessageLinks {
  commands?: string[] | undefined;
  setting?: string | undefined;
}

const linksBySentence = new WeakMap<LocalizedMessage, MessageLinks>();

export function withMessageLinks(words: LocalizedMessage, links: MessageLinks): LocalizedMessage {
  linksBySentence.set(words, links);
  return words;
}

export function messageLinksOf(words: string | LocalizedMessage): MessageLinks | undefined {
  if (typeof words === 'string') return undefined;
  const inner = (words.values ?? []).flatMap((value) =>
    typeof value === 'object' && 'english' in value ? (messageLinksOf(value) ?? []) : [],
  );
  const all = [...(linksBySentence.has(words) ? [linksBySentence.get(words)!] : []), ...inner];
  if (all.length === 0) return undefined;
  const commands = [...new Set(all.flatMap(({ commands = [] }) => commands))];
  const setting = all.find((one) => one.setting !== undefined)?.setting;
  return { ...(commands.length > 0 && { commands }), ...(setting !== undefined && { setting }) };
}
