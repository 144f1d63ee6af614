import type { ComposerCompletion } from '../../protocol/content/mention.ts';
import { maxCompletions } from '../../protocol/content/mentionText.ts';
import type { SlashCommand } from '../../protocol/content/slash.ts';
import { slashIntents } from '../../protocol/panel/intents.ts';
import { t } from '../../protocol/text/l10n.ts';

export interface SlashCommandEntry<Of = unknown> {
  kind: SlashCommand['kind'];
  name: string;
  detail: string;
  of: Of;
}

export const builtInSlashCommands: SlashCommandEntry<undefined>[] = slashIntents.map(
  ({ slash: { name, description } }) => ({
    kind: 'act',
    name,
    get detail() {
      return t(description);
    },
    of: undefined,
  }),
);

/** Assigns unique words: of two entries with the same name, the first gets the name, and the second a name with its kind. */
export function assignSlashNames<Of>(all: readonly SlashCommandEntry<Of>[]): Map<string, SlashCommandEntry<Of>> {
  const commands = new Map<string, SlashCommandEntry<Of>>();
  for (const one of all) {
    const name = one.name.replace(/[\s/]+/g, '-');
    const tries = [
      name,
      `${one.kind}:${name}`,
      ...Array.from({ length: 9 }, (_, at) => `${one.kind}:${name}-${at + 2}`),
    ];
    const word = tries.map((each) => `/${each}`).find((each) => !commands.has(each));
    if (name !== '' && word !== undefined) commands.set(word, one);
  }
  return commands;
}

/** Returns entries that start with the query, then entries that contain the query. */
export function slashCompletions(
  commands: ReadonlyMap<string, SlashCommandEntry>,
  query: string,
): ComposerCompletion[] {
  const typed = query.toLowerCase();
  const all = [...commands].map(([word, one]) => ({ word, one, at: word.slice(1).toLowerCase().indexOf(typed) }));
  const rank = ({ at }: { at: number }) => Number(at > 0);
  return all
    .filter(({ at }) => at >= 0)
    .sort((one, other) => rank(one) - rank(other))
    .slice(0, maxCompletions)
    .map(({ word, one: { kind, detail } }) => ({ slash: { word, kind }, label: word, ...(detail && { detail }) }));
}
