import { posix } from 'node:path';
import { findAwkEffects } from './awk.ts';
import { unescapeShellWord } from './expandWord.ts';

/**
 * Word as a shell reads it. Quoted special characters are escaped by a backslash for `expandWord`; home folders are inserted, `here` stands
 * for the working folder, and `unknown` for parts known only at execution.
 */
export type ShellWord = string;
export const workingFolderPlaceholder = '\0';
export const unknownShellTextPlaceholder = '\u0001';

/**
 * Command between two operators, with the targets and sources of redirections. `overwrites` are targets that a redirection truncates.
 * `operator` connects to the part before ('' for the first). `nested`: part of a substitution, or of a word that may be a command (`bash -c
 * "…"`). `isText`: part of a word that is probably no command, such as a message, a pattern or code of another language.
 */
export interface ShellCommandSegment {
  words: ShellWord[];
  writes: ShellWord[];
  reads: ShellWord[];
  overwrites: ShellWord[];
  operator: string;
  nested: boolean;
  isText: boolean;
}

interface ShellReaderOptions {
  home: string;
  platform: string;
}

// Maximum nesting; deeper text is parsed without quotes.
const deepest = 8;

/**
 * Returns the words of a command as far as known without execution, including substitutions, words with blanks and arguments of `eval`.
 * Only for refusals and approvals: a part may be wrong, and parsing never fails.
 */
export function parseShellCommandSegments(text: string, reader: ShellReaderOptions): ShellCommandSegment[] {
  const parts: ShellCommandSegment[] = [];
  read(text, reader, 0, parts, false);
  return parts;
}

export const commandProgramName = (word: ShellWord): string =>
  posix
    .basename(unescapeShellWord(word))
    .toLowerCase()
    .replace(/\.exe$/, '');

interface Within {
  text: string;
  isText: boolean;
}

function read(
  text: string,
  reader: ShellReaderOptions,
  depth: number,
  parts: ShellCommandSegment[],
  isText: boolean,
): void {
  const windows = reader.platform === 'win32';
  const newPart = (operator: string): ShellCommandSegment => ({
    words: [],
    writes: [],
    reads: [],
    overwrites: [],
    operator,
    nested: depth > 0,
    isText,
  });
  const within: Within[] = [];
  let part = newPart('');
  let word: string | undefined;
  let next: 'words' | 'writes' | 'reads' = 'words';
  let isAwk = false;
  let empties = false;
  const add = (piece: string) => {
    word = (word ?? '') + piece;
  };
  const endWord = () => {
    if (word === undefined) return;
    part[next].push(word);
    if (next === 'writes' && empties) part.overwrites.push(word);
    const plain = unescapeShellWord(word);
    const awk = isAwk && next === 'words' ? findAwkEffects(plain) : undefined;
    isAwk ||= /(^|\/)[gmn]?awk$/.test(plain);
    if (awk) {
      within.push(...awk.commands.map((text) => ({ text, isText })));
      const files = awk.writes.map(literal);
      if (files.length > 0) parts.push({ ...newPart(part.operator), writes: files, overwrites: files, nested: true });
    } else if (/[\s;|&<>`]/.test(plain)) within.push({ text: plain, isText: isText || !isCommand(part.words) });
    [word, next] = [undefined, 'words'];
  };
  const endPart = (operator: string) => {
    endWord();
    isAwk = false;
    const again = part.words.findIndex((one) => readAgain.has(commandProgramName(one)));
    if (again >= 0)
      within.push({
        text: part.words
          .slice(again + 1)
          .map(unescapeShellWord)
          .join(' '),
        isText,
      });
    const empty = part.words.length + part.writes.length + part.reads.length === 0;
    if (!empty) parts.push(part);
    // `(cd x) && y`: the closing operator matters; a line may end after `&&`.
    const first = empty && part.operator !== '' && (operator === '\n' || part.operator !== '&&');
    part = newPart(first ? part.operator : operator);
    next = 'words';
  };
  for (let at = 0; at < text.length; ) {
    const rest = text.slice(at, at + 300);
    const letter = String.fromCodePoint(text.codePointAt(at)!);
    const quoted = quotedAt(text, at);
    const meant = meaningAt(rest, reader, word);
    const begin = windows ? /^\$\(/.exec(rest)?.[0] : /^(?:\$\(|[<>]\(|`)/.exec(rest)?.[0];
    const redirection = /^(?:&>>?|>[>|&]?|<>|<<?<?-?|<&)/.exec(rest)?.[0];
    const operator = (windows ? /^(?:&&|\|\||[;|&\n(){}])/ : /^(?:&&|\|\||;;|\|&|[;|&\n()])/).exec(rest)?.[0];
    if (rest.startsWith('\\\n') && !windows) at += 2;
    else if (letter === '\\' && !windows) {
      const [escaped = ''] = rest.slice(1);
      add(escaped === '' ? '' : literal(escaped));
      at += 1 + escaped.length;
    } else if (quoted) {
      add(
        quoted.kind === 'double'
          ? insideDouble(quoted.inside, reader, (text) => within.push({ text, isText }))
          : literal(quoted.inside),
      );
      at = quoted.end;
    } else if (letter === "'" || letter === '"' || (windows && letter === '`')) at += 1;
    else if (begin) {
      const end = closeOf(text, at + begin.length, begin === '`' ? '`' : ')');
      within.push({ text: text.slice(at + begin.length, end), isText });
      add(unknownShellTextPlaceholder);
      at = end + 1;
    } else if (meant) {
      if (meant.meaning === blank) endWord();
      else add(meant.meaning);
      if (meant.inside) within.push({ text: meant.inside, isText });
      at += meant.length;
    } else if (redirection) {
      if (word !== undefined && /^\d+$/.test(word)) word = undefined;
      endWord();
      next = redirection.includes('>') ? 'writes' : 'reads';
      empties = next === 'writes' && !redirection.endsWith('>>') && redirection !== '<>';
      at += redirection.length;
      if (redirection.endsWith('&')) at += /^(\d+-?|-)(?![^\s;|&<>()])/.exec(text.slice(at))?.[0].length ?? 0;
    } else if (operator) {
      endPart(operator);
      at += operator.length;
    } else {
      if (/\s/.test(letter)) endWord();
      else add(windows && letter === '\\' ? '/' : letter);
      at += letter.length;
    }
  }
  endPart('');
  if (depth >= deepest) return;
  for (const one of within) {
    const flat = depth === deepest - 1 ? one.text.replace(/["'`\\()]/g, ' ') : one.text;
    read(flat, reader, depth + 1, parts, one.isText);
  }
}

function isCommand(words: readonly ShellWord[]): boolean {
  const before = unescapeShellWord(words.at(-2) ?? '');
  const program = words.slice(0, -1).map(commandProgramName);
  if (program.some((one) => readAgain.has(one) || one === 'trap')) return true;
  return /^(-\w*c|\/c|-command|--call)$/i.test(before) && !program.some((one) => otherLanguages.test(one));
}

const otherLanguages = /^(python[\d.]*|pypy3?|perl|ruby|node|php|git|grep|sed)$/;

const readAgain = new Set(['eval', 'ssh', 'watch', 'parallel']);

const literal = (text: string) => text.replace(/[\\*?[\]{},]/g, '\\$&');

interface Quoted {
  kind: 'single' | 'double';
  inside: string;
  end: number;
}

function quotedAt(text: string, at: number): Quoted | undefined {
  if (text[at] === "'") {
    const end = text.indexOf("'", at + 1);
    return end < 0 ? undefined : { kind: 'single', inside: text.slice(at + 1, end), end: end + 1 };
  }
  if (text.startsWith("$'", at)) {
    const end = closeOf(text, at + 2, "'");
    if (end === text.length) return undefined;
    return { kind: 'single', inside: withoutEscapes(text.slice(at + 2, end)), end: end + 1 };
  }
  const open = text.startsWith('$"', at) ? at + 1 : at;
  if (text[open] !== '"') return undefined;
  const end = [endOfDouble(text, open + 1), closeOf(text, open + 1, '"')].find((one) => one < text.length);
  return end === undefined ? undefined : { kind: 'double', inside: text.slice(open + 1, end), end: end + 1 };
}

function endOfDouble(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text.startsWith('$(', at) || (text[at] === '(' && depth > 0)) {
      depth += 1;
      at += text[at] === '$' ? 1 : 0;
    } else if (text[at] === ')' && depth > 0) depth -= 1;
    else if (text[at] === '"' && depth === 0) return at;
  }
  return text.length;
}

// Returns the next position of an unescaped character, or of the matching `)`; the text's length if absent.
function closeOf(text: string, from: number, close: string): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const letter = text[at]!;
    if (letter === '\\') at++;
    else if (letter === close && depth === 0) return at;
    else if (close === ')' && letter === '(') depth += 1;
    else if (close === ')' && letter === ')') depth -= 1;
    else if (close === ')' && (letter === "'" || letter === '"')) {
      const end = letter === "'" ? text.indexOf("'", at + 1) : closeOf(text, at + 1, '"');
      if (end > at && end < text.length) at = end;
    }
  }
  return text.length;
}

function insideDouble(inside: string, reader: ShellReaderOptions, found: (text: string) => void): string {
  let made = '';
  for (let at = 0; at < inside.length; ) {
    const rest = inside.slice(at, at + 300);
    const escaped = /^\\([$`"\\\n])/.exec(rest)?.[1];
    const begin = /^(?:\$\(|`)/.exec(rest)?.[0];
    const meant = rest.startsWith('$') ? meaningAt(rest, reader, 'x') : undefined;
    if (escaped !== undefined) {
      made += escaped === '\n' ? '' : literal(escaped);
      at += 2;
    } else if (begin) {
      const end = closeOf(inside, at + begin.length, begin === '`' ? '`' : ')');
      found(inside.slice(at + begin.length, end));
      made += unknownShellTextPlaceholder;
      at = end + 1;
    } else {
      made += meant?.meaning ?? literal(inside[at]!);
      if (meant?.inside) found(meant.inside);
      at += meant?.length ?? 1;
    }
  }
  return made;
}

interface Meaning {
  meaning: string;
  length: number;
  inside?: string;
}

function meaningAt(
  rest: string,
  { home, platform }: ShellReaderOptions,
  word: string | undefined,
): Meaning | undefined {
  const tilde = /^~([\w.+-]*)/.exec(rest);
  if (tilde && (word === undefined || /[=:{,]$/.test(word))) {
    const meaning = { '': literal(home), '+': workingFolderPlaceholder }[tilde[1]!] ?? unknownShellTextPlaceholder;
    return { meaning, length: tilde[0].length };
  }
  const named = /^\$(?:env:)?(\w+|[@*#?!$-])/i.exec(rest) ?? (platform === 'win32' ? /^%(\w+)%/.exec(rest) : null);
  if (named) return { meaning: known(named[1]!, '', home) ?? unknownShellTextPlaceholder, length: named[0].length };
  const braced = /^\$\{(?:env:)?(\w*)([^}]*)\}?/i.exec(rest);
  if (!braced) return undefined;
  return {
    meaning: known(braced[1]!, braced[2]!, home) ?? unknownShellTextPlaceholder,
    length: braced[0].length,
    inside: braced[2],
  };
}

// `$IFS` between words.
const blank = ' ';

const belowHome: Record<string, string> = {
  HOME: '',
  USERPROFILE: '',
  XDG_CONFIG_HOME: '/.config',
  XDG_DATA_HOME: '/.local/share',
  XDG_CACHE_HOME: '/.cache',
  APPDATA: '/AppData/Roaming',
  LOCALAPPDATA: '/AppData/Local',
};

// Expands a variable; `change` is the operator after the name in braces (`:?`, `%/`).
function known(name: string, change: string, home: string): string | undefined {
  if (!/^(:?[-?=].*|%%?\/)?$/s.test(change)) return undefined;
  if (name === 'IFS') return blank;
  const below = belowHome[name.toUpperCase()];
  return below === undefined ? (name === 'PWD' ? workingFolderPlaceholder : undefined) : literal(home + below);
}

function withoutEscapes(text: string): string {
  const named: Record<string, string> = { n: '\n', t: '\t', r: '\r', a: '', b: '', e: '', E: '', f: '', v: '' };
  return text.replace(
    /\\(?:x([0-9a-f]{1,2})|u([0-9a-f]{1,4})|U([0-9a-f]{1,8})|([0-7]{1,3})|c.|(.))/gis,
    (_, x, u, U, octal, letter) => {
      const code = Number.parseInt(x ?? u ?? U ?? octal ?? '', octal === undefined ? 16 : 8);
      if (Number.isNaN(code)) return letter === undefined ? '' : (named[letter as string] ?? (letter as string));
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '';
    },
  );
}
