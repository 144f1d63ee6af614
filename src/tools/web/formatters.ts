import type { FormatCallback } from 'html-to-text';

const deepestIndent = 6;

/**
 * Creates formatters for tables, lists and quotes whose text stays in proportion to the markup. The formatters of html-to-text trust
 * `colspan` and `start`, pad each line of a table to the widest cell, and indent at every level.
 */
export function createHtmlFormatters(): Record<'row' | 'list' | 'quote', FormatCallback> {
  let lists = 0;
  let quotes = 0;
  return {
    row(element, walk, builder) {
      builder.openBlock({ leadingLineBreaks: 1 });
      for (const [index, cell] of childrenOf(element, 'td', 'th').entries()) {
        if (index > 0) builder.addLiteral('   ');
        walk(cell.children, builder);
      }
      builder.closeBlock({ trailingLineBreaks: 1 });
    },
    list(element, walk, builder) {
      lists += 1;
      const indent = '   '.repeat(Math.min(lists, deepestIndent) - 1);
      const around = lists > 1 ? 1 : 2;
      builder.openBlock({ leadingLineBreaks: around });
      for (const [index, item] of childrenOf(element, 'li').entries()) {
        builder.openBlock({ leadingLineBreaks: 1 });
        builder.addLiteral(`${indent} ${element.name === 'ol' ? `${index + 1}.` : '*'} `);
        walk(item.children, builder);
        builder.closeBlock({ trailingLineBreaks: 1 });
      }
      builder.closeBlock({ trailingLineBreaks: around });
      lists -= 1;
    },
    quote(element, walk, builder) {
      quotes += 1;
      builder.openBlock({ leadingLineBreaks: 2 });
      walk(element.children, builder);
      const blockTransform = (text: string) => text.trim().replace(/^/gm, '> ');
      builder.closeBlock({ trailingLineBreaks: 2, ...(quotes < deepestIndent && { blockTransform }) });
      quotes -= 1;
    },
  };
}

type Element = Parameters<FormatCallback>[0];

const childrenOf = (element: Element, ...names: string[]): Element[] =>
  (element.children as Element[]).filter(({ name }) => name !== undefined && names.includes(name));
