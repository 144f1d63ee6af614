import type { LocalizedMessage } from './l10n.ts';

export interface MessageLinks {
  commands?: string[] | undefined;
  setting?: string | undefined;
}

const linksBySentence = new WeakMap<LocalizedMessage, MessageLinks>();

export function withMessageLinks(text: LocalizedMessage, links: MessageLinks): LocalizedMessage {
  linksBySentence.set(text, links);
  return text;
}

export function messageLinksOf(text: string | LocalizedMessage): MessageLinks | undefined {
  if (typeof text === 'string') return undefined;
  const inner = (text.values ?? []).flatMap((value) =>
    typeof value === 'object' && 'english' in value ? (messageLinksOf(value) ?? []) : [],
  );
  const all = [...(linksBySentence.has(text) ? [linksBySentence.get(text)!] : []), ...inner];
  if (all.length === 0) return undefined;
  const commands = [...new Set(all.flatMap(({ commands = [] }) => commands))];
  const setting = all.find((one) => one.setting !== undefined)?.setting;
  return { ...(commands.length > 0 && { commands }), ...(setting !== undefined && { setting }) };
}
