import type { GrantRow } from './grantRow.ts';

export type GrantRowAttributes = Partial<Omit<GrantRow, 'command'>>;

/**
 * Rows with the same attributes. `commands` are written as `git {log,show}` for two commands; a trailing `?` marks a command never
 * observed.
 */
interface RowGroup {
  commands: string[];
  row: GrantRowAttributes;
}

export interface GrantTableSection {
  row: GrantRowAttributes & Pick<GrantRow, 'kind'>;
  groups: RowGroup[];
}

export interface GrantTable {
  sets: [name: string, options: string][];
  sections: GrantTableSection[];
}

export function expandGrantRows({ sets, sections }: GrantTable): GrantRow[] {
  const known = new Map(sets);
  const whole = (options: string): string => options.replace(/(?<!\S)@\S+/g, (name) => whole(known.get(name)!));
  return sections.flatMap((section) =>
    section.groups.flatMap(({ commands, row }) => {
      const common = { ...section.row, ...row };
      const { options, before, rest } = common;
      if (options !== undefined) common.options = whole(options);
      if (before !== undefined) common.before = whole(before);
      if (rest?.options !== undefined) common.rest = { ...rest, options: whole(rest.options) };
      return commands.flatMap(expandBracedAlternatives).map(
        (command): GrantRow => ({
          command: command.replace(/\?$/, ''),
          ...common,
          ...(command.endsWith('?') && { unseen: true }),
        }),
      );
    }),
  );
}

/** Expands `a {b,c}` to `a b` and `a c`; an alternative may be empty. */
export function expandBracedAlternatives(text: string): string[] {
  const [, before, inside] = /^([^{]*)\{([^}]*)\}$/.exec(text) ?? [];
  return inside === undefined ? [text] : inside.split(',').map((one) => `${before}${one}`.trim());
}
