// Escapes text of models and tools, so that the display matches the content: invisible, overriding and control characters become marks such
// as ⟨U+202E⟩. Emoji sequences and the joiners required by some scripts stay.

/**
 * Escapes a command, path or argument, so that no content is hidden and each word is displayed at its position. Blanks other than a plain
 * space are marked. Right-to-left words are enclosed (`⟨RTL … RTL⟩`), so that neighbors keep their position. Line ends become `\n`;
 * terminal color codes are removed.
 */
export function escapeInvisible(text: string): string {
  return suspicious().test(text) ? clean(text, hidden) : text;
}

/** Escapes prose: text to read, not to decide on. Letters and blanks of every language stay. */
export function escapeInvisibleProse(text: string): string {
  return suspiciousProse().test(text) ? clean(text, hiddenInProse) : text;
}

export function escapeInvisibleProseDeep(value: unknown): unknown {
  if (typeof value === 'string') return escapeInvisibleProse(value);
  if (Array.isArray(value)) return value.map(escapeInvisibleProseDeep);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [escapeInvisibleProse(name), escapeInvisibleProseDeep(one)]),
  );
}

/**
 * Counts invisible characters: tags, joiners and direction marks outside of emoji and of the scripts that require them. Control characters
 * do not count, because editors show them.
 */
export function countInvisibleCharacters(text: string): number {
  if (!suspiciousProse().test(text)) return 0;
  let count = 0;
  for (const { 0: found, groups } of text.matchAll(hiddenInProse())) {
    const { tags, alone, stack } = groups ?? {};
    if (tags !== undefined || (alone !== undefined && !/[\p{Cc}\p{Cs}]/u.test(alone))) count += [...found].length;
    else if (stack !== undefined) count += stack.match(/\p{Default_Ignorable_Code_Point}/gu)?.length ?? 0;
  }
  return count;
}

export const hasEscapedInvisibles = (text: string): boolean =>
  /⟨(U\+[0-9A-F]{4,6}( × \d+)?|hidden text: .*)⟩/.test(text);

/** `visible` for one line: line ends appear as ⏎, so that text cannot imitate lines of Towpath. */
export const escapeInvisibleInLine = (text: string): string => oneLine(escapeInvisible(text));

export const escapeInvisibleInProseLine = (text: string): string => oneLine(escapeInvisibleProse(text));

const beforeUnit = /(\d) (?=(?:ms|s|min|h|d|KB|MB|GB|MiB|%|Std\.|Tg\.)(?![\p{L}\p{N}]))/gu;

/** Joins numbers to units with no-break spaces. For sentences of Towpath, after embedded text was escaped. */
export const withNoBreakUnits = (sentence: string): string => sentence.replace(beforeUnit, '$1\u00a0');

/** Command output without escape sequences; a carriage return starts a new line (progress lines accumulate). */
export function escapeCommandOutput(text: string): string {
  return escapeInvisibleProse(text.replace(escapeSequences, '').replace(/\r\n?/g, '\n'));
}

/**
 * Returns an index at which `text` can be split without changing its meaning: after a plain letter, a space or a line end, no sequence is
 * open (an `m` may end a color code). 0: no such index.
 */
export function safeSplitIndex(text: string): number {
  for (let at = text.length; at > 0; at--) if (/[A-Za-ln-z \n]/.test(text[at - 1]!)) return at;
  return 0;
}

// Written as code points: these files must not contain the characters.
const escapeCode = '\\u001B';
const carriageReturns = /\r\n/g;
const colourCodes = new RegExp(`${escapeCode}\\[[0-9;]*m`, 'g');
const escapeSequences = new RegExp(
  `${escapeCode}\\[[0-9;?]*[ -/]*[@-~]|${escapeCode}\\][^\\u0007\\u001B]*(?:\\u0007|${escapeCode}\\\\)|${escapeCode}[@-Z\\\\-_]`,
  'g',
);

const clean = (text: string, what: () => RegExp) =>
  text.replace(carriageReturns, '\n').replace(colourCodes, '').replace(what(), mark);

const oneLine = (text: string) =>
  text
    .replace(/\n+/g, ' ⏎ ')
    .replace(/[\t ]+/g, ' ')
    .trim();

const unseen =
  '[[\\p{Cc}--[\\t\\n]]\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Bidi_Control}\\p{Default_Ignorable_Code_Point}\\u{FFF9}-\\u{FFFC}]';
const blank = '[[\\p{Zs}--[ ]]\\u{2800}\\u{1D159}\\u{13441}\\u{13442}\\u{16FE4}]';
// Right-to-left characters: every range with the default `Bidi_Class` R or AL, including unassigned code points.
const fromRight =
  '[[\\u{0590}-\\u{08FF}\\u{FB1D}-\\u{FDFF}\\u{FE70}-\\u{FEFC}\\u{10800}-\\u{10FFF}\\u{1E800}-\\u{1EFFF}]--\\p{Cf}]';
/**
 * Stacked marks that make a letter unreadable: three marks of any script (no language needs more than two), seven marks of one script, or
 * one enclosing mark.
 */
const stacked = '[\\p{Script=Inherited}&&\\p{M}]{3,}|\\p{M}{7,}|\\p{Me}';

const joinedScripts = ['Arab', 'Syrc', 'Deva', 'Beng', 'Guru', 'Gujr', 'Orya', 'Taml', 'Telu', 'Knda', 'Mlym', 'Sinh']
  .map((script) => `\\p{Script_Extensions=${script}}`)
  .join('');
const picture = '\\p{Extended_Pictographic}[\\u{FE0E}\\u{FE0F}]?\\p{Emoji_Modifier}?';
const emoji = `\\p{RGI_Emoji}|${picture}(?:\\u{200D}${picture})*`;
const word = `${fromRight}[${fromRight}\\p{M}]*(?:[\\u{200C}\\u{200D}][${fromRight}\\p{M}]+)*`;
const joiner = `(?<=[${joinedScripts}])[\\u{200C}\\u{200D}](?=[${joinedScripts}])`;
const tags = '(?<tags>[\\u{E0000}-\\u{E007F}]+)';
const many = `(?<stack>${stacked})`;
const alone = (what: string) => `(?<alone>${what})\\k<alone>*`;
const enclosed = `(?<=⟨RTL )(?:${word})(?= RTL⟩)`;

// Compiles the expression on first use: expressions over all of Unicode take milliseconds to compile, which would delay the start.
function whenNeeded(source: string, flags: string): () => RegExp {
  let made: RegExp | undefined;
  return () => {
    made ??= new RegExp(source, flags);
    return made;
  };
}

const suspicious = whenNeeded(`${unseen}|${blank}|${fromRight}|${stacked}`, 'v');
const suspiciousProse = whenNeeded(`${unseen}|${stacked}`, 'v');
const hidden = whenNeeded(
  [emoji, enclosed, `(?<word>${word})`, joiner, tags, many, alone(`${unseen}|${blank}`)].join('|'),
  'gv',
);
const hiddenInProse = whenNeeded([emoji, joiner, tags, many, alone(unseen)].join('|'), 'gv');
const stacks = whenNeeded(many, 'gv');

function mark(match: string, ...rest: unknown[]): string {
  const { tags, alone, word, stack } = rest.at(-1) as Partial<Record<'tags' | 'alone' | 'word' | 'stack', string>>;
  if (tags) return `⟨hidden text: ${[...tags].map(tagLetter).join('')}⟩`;
  if (word) return `⟨RTL ${word.replace(stacks(), mark)} RTL⟩`; // strong letters on both sides preserve the order of the neighbors
  if (stack) return (stack.match(repeated) ?? []).map((one) => codeOf(one, one)).join('');
  return alone ? codeOf(match, alone) : match;
}

const repeated = /(.)\1*/gsu;

function codeOf(match: string, first: string): string {
  const code = first.codePointAt(0)!;
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd'.repeat(match.length);
  const times = match.length / String.fromCodePoint(code).length;
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}${times > 1 ? ` × ${times}` : ''}⟩`;
}

function tagLetter(tag: string): string {
  const code = tag.codePointAt(0)! - 0xe0000;
  return code >= 0x20 && code < 0x7f ? String.fromCharCode(code) : '·';
}
