import type { Tokenizer } from 'marked';

/** Chinese, Japanese and Korean letters and punctuation, which adjoin without blanks. */
const cjk =
  '\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Hang}\\p{scx=Bopo}\\u3001-\\u303f\\ufe10-\\ufe1f\\ufe30-\\ufe6f\\uff01-\\uff60\\uffe0-\\uffe6';

type InlineRules = Tokenizer['rules']['inline'];

/**
 * Inline rules of marked with emphasis delimiters beside CJK text: CommonMark expects a blank between the inner punctuation and the
 * following letter in `**都通过了。**下一步`. Other text matches as in marked.
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

/** Character classes beside a delimiter; `letters` count as letters, too. */
function classes(letters: string) {
  const punctuation = `(?![${cjk}${letters}])[\\p{P}\\p{S}]`;
  const plain = `[^\\s\\p{P}\\p{S}${cjk}]`;
  return { punctuation, letter: letters ? `(?:${plain}|${letters})` : plain };
}

const orphan = (pair: string, mark: string) => `^[^_*]*?${pair}[^_*]*?${mark}[^_*]*?(?=${pair})`;

/**
 * Closing delimiters in the group order of marked: 1 and 2 close, 3 and 4 open, 5 and 6 do both.
 *
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
