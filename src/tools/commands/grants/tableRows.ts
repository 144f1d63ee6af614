import type { Row } from './grantRow.ts';

/** Attributes of rows; options in them may name sets. */
export type Attributes = Partial<Omit<Row, 'command'>>;

/** Rows with all but their commands in common. */
export interface Group {
  /** Commands as they are written: `git {log,show}` are two; nobody has watched one that ends with `?`. */
  commands: string[];
  row: Attributes;
}

/** Rows with a reason in common, and other attributes. */
export interface Section {
  row: Attributes & Pick<Row, 'kind'>;
  groups: Group[];
}

/** A parsed table of commands, as plain data. */
export interface Table {
  /** Options by the name of their set, as in `@name`. */
  sets: [name: string, options: string][];
  sections: Section[];
}

export function rowsOf({ sets, sections }: Table): Row[] {
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
        (command): Row => ({
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
