import type { Tokenizer } from 'marked';

/** Letters and punctuation of Chinese, Japanese and Korean, which stand beside each other without blanks. */
const cjk =
  '\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Hang}\\p{scx=Bopo}\\u3001-\\u303f\\ufe10-\\ufe1f\\ufe30-\\ufe6f\\uff01-\\uff60\\uffe0-\\uffe6';

type InlineRules = Tokenizer['rules']['inline'];

/**
 * The inline rules of marked with delimiters that work beside Chinese, Japanese and Korean: CommonMark expects a blank between the
 * punctuation within and the letter behind `**都通过了。**下一步`. Of any other text they match what marked's own match.
 */
export function withCjkEmphasis(rules: InlineRules): InlineRules {
  const [inText, within] = [classes(''), classes('~')];
  return {
    ...rules,
    punctuation: new RegExp(`^((?![*_])[\\s\\p{P}\\p{S}${cjk}])`, 'u'),
    emStrongLDelim: new RegExp(
      `^(?:\\*+(?:((?!\\*)${within.punctuation})|([^\\s*]))?)|^_+(?:((?!_)${within.punctuation})|([^\\s_]))?`,
      'u',
    ),
    emStrongRDelimAst: closing('\\*+', '\\*', within, orphan('__', '\\*'), true),
    emStrongRDelimUnd: closing('_+', '_', inText, orphan('\\*\\*', '_'), false),
    delLDelim: new RegExp(`^~~?(?:((?!~)${inText.punctuation})|[^\\s~])`, 'u'),
    delRDelim: closing('~~?', '~', inText, '^[^~]+(?=[^~])', true),
  };
}

/** Classes of characters beside a delimiter; `letters` count as letters besides. */
function classes(letters: string) {
  const punctuation = `(?![${cjk}${letters}])[\\p{P}\\p{S}]`;
  const plain = `[^\\s\\p{P}\\p{S}${cjk}]`;
  return { punctuation, letter: letters ? `(?:${plain}|${letters})` : plain };
}

/** One delimiter of `mark` that stands alone within a pair of `pair`. */
const orphan = (pair: string, mark: string) => `^[^_*]*?${pair}[^_*]*?${mark}[^_*]*?(?=${pair})`;

/**
 * Delimiters behind the one that opens, in the groups that marked expects: 1 and 2 can only close, 3 and 4 only open, 5 and 6 both.
 * @param inWords a delimiter between two letters can close
 */
function closing(
  delimiter: string,
  mark: string,
  { punctuation, letter }: ReturnType<typeof classes>,
  skipped: string,
  inWords: boolean,
): RegExp {
  const own = `(${delimiter})(?!${mark})`;
  const [mine, any] = [`(?!${mark})${punctuation}`, `(?!${mark})(?:${punctuation}|[${cjk}])`];
  const ways = [
    skipped,
    `[^${mark}]+(?=[^${mark}])`,
    `${any}(${delimiter})(?=\\s|$)`,
    `${letter}${own}(?=${punctuation}|\\s|$)`,
    `${mine}${own}(?=${letter})`,
    `\\s${own}(?=\\S)`,
    `${any}${own}(?=${punctuation}|[${cjk}])`,
    ...(inWords ? [`(?:${letter}|[${cjk}])${own}(?=${letter}|[${cjk}])`] : []),
  ];
  return new RegExp(ways.join('|'), 'gu');
}
