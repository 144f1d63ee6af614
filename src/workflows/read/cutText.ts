import { type Alias, type Document, isScalar, type Pair, type Scalar, visit } from 'yaml';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';

/** A value that YAML reads incompletely or differently. `isProblem`: the file is unreadable with the value. */
interface CutText {
  from: number;
  to: number;
  warning: LocalizedMessage;
  isProblem?: true;
}

/** Keys with prose, in which `#` after a blank is rarely meant as a comment. */
const prose = /^(?:prompt|instructions|content|question|description)$/;

/** Finds unquoted values with a sign that is special in YAML: `#`, `!`, `&`, `*`, braces, and digits that a number loses. */
export function unquotedYamlSpecials(document: Document, text: string): CutText[] {
  const found: CutText[] = [];
  const anchors = new Set<string>();
  const repeated = new Set<string>();
  visit(document, { Alias: (_, { source }) => void repeated.add(source) });
  const cut = (range: Scalar['range'] | undefined, warning: LocalizedMessage, isProblem?: true): void => {
    if (range) found.push({ from: range[0], to: range[1], warning, ...(isProblem && { isProblem }) });
  };
  visit(document, {
    Alias(_, { source, range }: Alias) {
      if (!anchors.has(source))
        cut(range, message('`*{0}` repeats an anchor that does not exist. Put a text in quotes.', source), true);
    },
    Seq: (_, { anchor }) => void (anchor !== undefined && anchors.add(anchor)),
    Map(_, { anchor, flow, items, range }) {
      if (anchor !== undefined) anchors.add(anchor);
      if (
        flow &&
        items.length > 0 &&
        items.every(({ key, value }) => isScalar(key) && (value === null || isEmpty(value)))
      )
        cut(range, message('This is read as keys without values. Put a text in quotes.'));
    },
    Scalar(key, node, path) {
      const { anchor, range, type, value, source = '' } = node;
      if (anchor !== undefined) {
        anchors.add(anchor);
        if (!repeated.has(anchor))
          cut(
            range,
            message(
              '`&{0}` is an anchor in YAML that nothing repeats, and the value starts after it. Put the whole text in quotes.',
              anchor,
            ),
          );
      }
      if (type !== 'PLAIN' || key === 'key' || !range) return;
      const losesDigits = /^[-+]?\d+$/.test(source) && BigInt(source) !== toInteger(Number(value), source);
      const losesForm = isProse(path.at(-1)) && String(value) !== source;
      if (typeof value === 'number' && (losesDigits || losesForm))
        cut(
          range,
          message('`{0}` is read as the number {1}. Put it in quotes to keep its digits.', source, String(value)),
        );
      const isEmptyText = value === null && source === '';
      if (typeof value !== 'string' && !isEmptyText) return;
      const [, comment, blank] = /^[ \t]*(#(\s?)[^\n]*)/.exec(text.slice(range[1], range[1] + longestComment)) ?? [];
      if (comment === undefined || (blank !== '' && !isProse(path.at(-1)))) return;
      cut(
        range,
        message(
          'The text ends before `{0}`, which starts a comment in YAML. Put the whole text in quotes.',
          comment.slice(0, longestQuote).trim(),
        ),
      );
    },
  });
  for (const { code, pos } of document.warnings) {
    if (code !== 'TAG_RESOLVE_FAILED') continue;
    const warning = message(
      '`{0}` is a tag in YAML, and the value starts after it. Put the whole text in quotes.',
      text.slice(pos[0], pos[1]).slice(0, longestQuote),
    );
    found.push({ from: pos[0], to: pos[1], warning });
  }
  return found;
}

const [longestComment, longestQuote] = [200, 40];

const isEmpty = (value: unknown): boolean => isScalar(value) && value.value === null && (value.source ?? '') === '';

const isProse = (parent: unknown): boolean => {
  const { key } = Object(parent) as Partial<Pair>;
  return isScalar(key) && prose.test(String(key.value));
};

/** Returns the integer with the digits that a number retains; undefined for leading zeros, which a number loses. */
const toInteger = (value: number, source: string): bigint | undefined =>
  /^[-+]?0\d/.test(source) || !Number.isFinite(value) ? undefined : BigInt(value);
