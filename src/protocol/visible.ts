// Text from models and tools, made so that what a person sees is what is there: invisible, overriding and control
// characters become marks such as ⟨U+202E⟩. Emoji sequences stay, and so do the joiners that some scripts are written with.

/** The same text with nothing hidden in it. Line ends become `\n`; colour codes of terminals are dropped. */
export function visible(text: string): string {
  if (!suspicious.test(text)) return text;
  return text.replace(carriageReturns, '\n').replace(colourCodes, '').replace(hidden, mark);
}

/** For one line of the panel: line ends are shown as ⏎, so that text cannot imitate lines of ours. */
export function visibleLine(text: string): string {
  return visible(text)
    .replace(/\n+/g, ' ⏎ ')
    .replace(/[\t ]+/g, ' ')
    .trim();
}

/** Output of a command: every escape sequence goes, and a carriage return starts a new line (progress lines pile up). */
export function visibleOutput(text: string): string {
  return visible(text.replace(escapeSequences, '').replace(/\r\n?/g, '\n'));
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

const unseen =
  '[[\\p{Cc}--[\\t\\n]]\\p{Cs}\\p{Zl}\\p{Zp}\\p{Bidi_Control}\\p{Default_Ignorable_Code_Point}\\u{FFF9}-\\u{FFFB}]';
const suspicious = new RegExp(unseen, 'v');
const joinedScripts = ['Arab', 'Syrc', 'Deva', 'Beng', 'Guru', 'Gujr', 'Orya', 'Taml', 'Telu', 'Knda', 'Mlym', 'Sinh']
  .map((script) => `\\p{Script_Extensions=${script}}`)
  .join('');
const picture = '\\p{Extended_Pictographic}[\\u{FE0E}\\u{FE0F}]?\\p{Emoji_Modifier}?';
const hidden = new RegExp(
  [
    `\\p{RGI_Emoji}|${picture}(?:\\u{200D}${picture})*`,
    `(?<=[${joinedScripts}])[\\u{200C}\\u{200D}](?=[${joinedScripts}])`,
    '(?<tags>[\\u{E0000}-\\u{E007F}]+)',
    `(?<alone>${unseen})\\k<alone>*`,
  ].join('|'),
  'gv',
);

function mark(match: string, ...rest: unknown[]): string {
  const { tags, alone } = rest.at(-1) as { tags?: string; alone?: string };
  if (tags) return `⟨hidden text: ${[...tags].map(tagLetter).join('')}⟩`;
  if (!alone) return match;
  const code = alone.codePointAt(0)!;
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd'.repeat(match.length);
  const times = match.length / alone.length;
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}${times > 1 ? ` × ${times}` : ''}⟩`;
}

/** Tag characters mirror ASCII, which is how they carry words past a reader. */
function tagLetter(tag: string): string {
  const code = tag.codePointAt(0)! - 0xe0000;
  return code >= 0x20 && code < 0x7f ? String.fromCharCode(code) : '·';
}
