/** Functions of awk that compute from what they are given. */
const functions = new Set(
  'length substr split gsub sub match index sprintf tolower toupper int sqrt exp log sin cos atan2 rand srand asort asorti gensub strftime mktime systime and or xor'.split(
    ' ',
  ),
);
const keywords = new Set('BEGIN END if else for in next exit break continue delete print printf'.split(' '));
/** Variables that say more than what is in the files, or that something is done behind the program's back. */
const others = new Set(
  'getline system close fflush while do function func return nextfile ENVIRON PROCINFO ARGV ARGC SYMTAB FUNCTAB'.split(
    ' ',
  ),
);

const token =
  /(?<blank>[ \t]+|#[^\n]*)|(?<text>"(?:[^"\\\n]|\\.)*")|(?<number>\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+)|(?<name>[A-Za-z_]\w*)|(?<mark>\+\+|--|[-+*%^]=|&&|\|\||[<>=!]=|[-+*%^<>=!~?:,;(){}[\]$\n|&])/y;
/** Slashes in brackets end it for some and not for others: such a one is not read. */
const pattern = /\/(?:[^/\\\n[]|\\.|\[\^?\]?[^\]/\\\n]*\])+\//y;

interface Token {
  /** A name, a number or a mark as it is spelled; `"` for a text or a pattern. */
  one: string;
  /** Text between the quotes, as it is spelled. */
  text?: string;
  isName: boolean;
  /** Position behind it. */
  end: number;
}

/** Yields the tokens of a program. Returns whether all of it could be read, in one way only. */
function* tokensOf(program: string): Generator<Token, boolean> {
  let before = '\n';
  for (let at = 0; at < program.length; ) {
    if (program[at] === '/') {
      // Behind a value it divides, behind an operator a pattern begins; behind anything else it could be either.
      if (isValue(before)) {
        if (program[at + 1] === '=') return false;
        at += 1;
        before = '/';
        continue;
      }
      if (!beginsValue.test(before)) return false;
      pattern.lastIndex = at;
      if (!pattern.test(program)) return false;
      at = pattern.lastIndex;
      before = '"';
      yield { one: '"', isName: false, end: at };
      continue;
    }
    token.lastIndex = at;
    const found = token.exec(program)?.groups;
    if (!found) return false;
    at = token.lastIndex;
    if (found.blank !== undefined) continue;
    const text = found.text?.slice(1, -1);
    const one = text !== undefined ? '"' : (found.number ?? found.name ?? found.mark!);
    yield { one, isName: found.name !== undefined, end: at, ...(text !== undefined && { text }) };
    before = one;
  }
  return true;
}

/** Tracks where a `>` writes a file: behind `print`, outside of the parentheses that it opens. */
class Printing {
  depth = 0;
  private printing: number | undefined;

  /** Returns whether this token begins the name of a file. */
  writes({ one }: Token): boolean {
    if (one === 'print' || one === 'printf') this.printing = this.depth;
    if (one === '(') this.depth += 1;
    if (one === ')') this.depth -= 1;
    if (one === ';' || one === '}') this.printing = undefined; // it may go on in the next line
    return one === '>' && this.printing !== undefined && this.depth <= this.printing;
  }
}

/**
 * A program that chooses, counts and prints: no other program, no file but those it is given, no function of its own. Read token by
 * token; what is not known, or could be read in two ways, is none.
 */
export function awkReads(program: string): boolean {
  const printing = new Printing();
  const tokens = tokensOf(program);
  for (let next = tokens.next(); ; next = tokens.next()) {
    if (next.done) return next.value && program.trim() !== '' && printing.depth === 0;
    const { one, isName, end } = next.value;
    if (one === '|' || one === '&') return false;
    if (isName) {
      if (others.has(one)) return false;
      if (/^\s*\(/.test(program.slice(end, end + 20)) && !functions.has(one) && !keywords.has(one)) return false;
    }
    if (printing.writes(next.value)) return false;
  }
}

/**
 * Returns the texts of a program that a shell may be given, those that stand side by side as one, and the files that it writes to as
 * far as they are spelled out. Undefined: it cannot be read.
 */
export function awkTexts(program: string): { commands: string[]; writes: string[] } | undefined {
  const printing = new Printing();
  const commands: string[] = [];
  const writes: string[] = [];
  let text: string | undefined;
  let isFile = false;
  const endText = () => {
    if (text !== undefined) (isFile ? writes : commands).push(text.replace(/\\(.)/gs, '$1'));
    text = undefined;
  };
  const tokens = tokensOf(program);
  for (let next = tokens.next(); ; next = tokens.next()) {
    if (next.done) {
      endText();
      return next.value ? { commands, writes } : undefined;
    }
    if (next.value.text !== undefined) {
      text = (text ?? '') + next.value.text;
      continue;
    }
    endText();
    isFile = printing.writes(next.value) || (isFile && /^[>(]$/.test(next.value.one));
  }
}

/** A name or a number, or what ends one. */
const isValue = (before: string): boolean =>
  /^(\d|\.\d|\]|[A-Za-z_]|")/.test(before) && !keywords.has(before) && !functions.has(before);
const beginsValue = /^(\n|[-+*%^<>=!]=|&&|\|\||[!~,;({}<>=?:])$/;
