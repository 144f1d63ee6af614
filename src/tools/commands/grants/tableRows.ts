import type { GrantRow } from './grantRow.ts';

/** Attributes of rows; options in them may name sets. */
export type Attributes = Partial<Omit<GrantRow, 'command'>>;

/** Rows with all but their commands in common. */
interface RowGroup {
  /** Commands as they are written: `git {log,show}` are two; nobody has watched one that ends with `?`. */
  commands: string[];
  row: Attributes;
}

/** Rows with a reason in common, and other attributes. */
export interface TableSection {
  row: Attributes & Pick<GrantRow, 'kind'>;
  groups: RowGroup[];
}

/** A parsed table of commands, as plain data. */
export interface Table {
  /** Options by the name of their set, as in `@name`. */
  sets: [name: string, options: string][];
  sections: TableSection[];
}

export function tableRows({ sets, sections }: Table): GrantRow[] {
  const known = new Map(sets);
  const whole = (options: string): string => options.replace(/(?<!\S)@\S+/g, (name) => whole(known.get(name)!));
  return sections.flatMap((section) =>
    section.groups.flatMap(({ commands, row }) => {
      const common = { ...section.row, ...row };
      const { options, before, rest } = common;
      if (options !== undefined) common.options = whole(options);
      if (before !== undefined) common.before = whole(before);
      if (rest?.options !== undefined) common.rest = { ...rest, options: whole(rest.options) };
      return commands.flatMap(alternatives).map(
        (command): GrantRow => ({
          command: command.replace(/\?$/, ''),
          ...common,
          ...(command.endsWith('?') && { unseen: true }),
        }),
      );
    }),
  );
}

/** `a {b,c}` means `a b` and `a c`; an alternative may be empty. */
export function alternatives(text: string): string[] {
  const [, before, inside] = /^([^{]*)\{([^}]*)\}$/.exec(text) ?? [];
  return inside === undefined ? [text] : inside.split(',').map((one) => `${before}${one}`.trim());
}
