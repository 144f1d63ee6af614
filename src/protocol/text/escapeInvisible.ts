// Text from models and tools, made so that what a person sees is what is there: invisible, overriding and control
// characters become marks such as ⟨U+202E⟩. Emoji sequences stay, and so do the joiners that some scripts are written with.

/**
 * A command, a path, arguments: the same text with nothing hidden in it, each word where it stands. Blanks that are no plain
 * space are marked, and a word that is written from the right is enclosed (`⟨RTL … RTL⟩`), so that it moves nothing beside it.
 * Line ends become `\n`; colour codes of terminals are dropped.
 */
export function visible(text: string): string {
  return suspicious().test(text) ? clean(text, hidden) : text;
}

/** What somebody says, to be read and not to be decided about: the letters and blanks of every language stay as they are. */
export function visibleProse(text: string): string {
  return suspiciousProse().test(text) ? clean(text, hiddenInProse) : text;
}

/** Does the same for all texts in a value of JSON, names of properties included. */
export function visibleProseIn(value: unknown): unknown {
  if (typeof value === 'string') return visibleProse(value);
  if (Array.isArray(value)) return value.map(visibleProseIn);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [visibleProse(name), visibleProseIn(one)]));
}

/**
 * Counts the invisible characters of a text: tags, joiners and marks of direction outside of emoji and of the scripts that are written with
 * them. Control characters do not count: editors show them.
 */
export function hiddenCount(text: string): number {
  if (!suspiciousProse().test(text)) return 0;
  let count = 0;
  for (const { 0: found, groups } of text.matchAll(hiddenInProse())) {
    const { tags, alone, stack } = groups ?? {};
    if (tags !== undefined || (alone !== undefined && !/[\p{Cc}\p{Cs}]/u.test(alone))) count += [...found].length;
    else if (stack !== undefined) count += stack.match(/\p{Default_Ignorable_Code_Point}/gu)?.length ?? 0;
  }
  return count;
}

/** Tells whether a text of `visibleProse` contains marks of invisible characters. */
export const hasEscapes = (text: string): boolean => /⟨(U\+[0-9A-F]{4,6}( × \d+)?|hidden text: .*)⟩/.test(text);

/** `visible` for one line: line ends are shown as ⏎, so that text cannot imitate lines of ours. */
export const visibleLine = (text: string): string => oneLine(visible(text));

/** `visibleProse` for one line. */
export const proseLine = (text: string): string => oneLine(visibleProse(text));

/** At most so many characters of it, the last an ellipsis where some are missing. No character of two halves is cut. */
export function truncateVisible(text: string, most: number): string {
  if (text.length <= most) return text;
  const characters = [...text];
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : text;
}

const beforeUnit = /(\d) (?=(?:ms|s|min|h|d|KB|MB|GB|MiB|%|Std\.|Tg\.)(?![\p{L}\p{N}]))/gu;

/** A sentence as it is drawn: no line ends between a number and its unit. For sentences of Towpath, after what they name was made visible. */
export const unbroken = (sentence: string): string => sentence.replace(beforeUnit, '$1\u00a0');

/** Output of a command: every escape sequence goes, and a carriage return starts a new line (progress lines pile up). */
export function visibleOutput(text: string): string {
  return visibleProse(text.replace(escapeSequences, '').replace(/\r\n?/g, '\n'));
}

/**
 * Where `text` may be cut so that both sides read the same as the whole: after a plain letter, a space or a line end, no
 * sequence is open (an `m` may end a colour code, which is not there afterwards). 0 when there is no such place.
 */
export function safeCut(text: string): number {
  for (let at = text.length; at > 0; at--) if (/[A-Za-ln-z \n]/.test(text[at - 1]!)) return at;
  return 0;
}

// By code, not as literals: these files must not hold the characters they are about.
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
/** Every blank of Unicode but the plain one, and the pictures of nothing, which no property tells from other pictures. */
const blank = '[[\\p{Zs}--[ ]]\\u{2800}\\u{1D159}\\u{13441}\\u{13442}\\u{16FE4}]';
/** What is written from the right: all that Unicode keeps for such letters (its default `Bidi_Class` R and AL), future ones too. */
const fromRight =
  '[[\\u{0590}-\\u{08FF}\\u{FB1D}-\\u{FDFF}\\u{FE70}-\\u{FEFC}\\u{10800}-\\u{10FFF}\\u{1E800}-\\u{1EFFF}]--\\p{Cf}]';
/**
 * Marks that stand on one letter until nobody can read it: three of those that any letter may carry (no language needs more
 * than two), seven of those of one script, or one that is drawn around or through others.
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

/** An expression over all of Unicode takes milliseconds to be made: whoever only starts does not wait for it. */
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
  if (word) return `⟨RTL ${word.replace(stacks(), mark)} RTL⟩`; // strong letters on both sides keep the order of what is beside it
  if (stack) return (stack.match(repeated) ?? []).map((one) => codeOf(one, one)).join('');
  return alone ? codeOf(match, alone) : match;
}

const repeated = /(.)\1*/gsu;

/** `⟨U+00A0⟩`, `⟨U+00A0 × 3⟩`; half of a pair is no character and becomes the one that stands for what is broken. */
function codeOf(match: string, first: string): string {
  const code = first.codePointAt(0)!;
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd'.repeat(match.length);
  const times = match.length / String.fromCodePoint(code).length;
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}${times > 1 ? ` × ${times}` : ''}⟩`;
}

/** Tag characters mirror ASCII, which is how they carry words past a reader. */
function tagLetter(tag: string): string {
  const code = tag.codePointAt(0)! - 0xe0000;
  return code >= 0x20 && code < 0x7f ? String.fromCharCode(code) : '·';
}
