const functions = new Set(
  'length substr split gsub sub match index sprintf tolower toupper int sqrt exp log sin cos atan2 rand srand asort asorti gensub strftime mktime systime and or xor'.split(
    ' ',
  ),
);
const keywords = new Set('BEGIN END if else for in next exit break continue delete print printf'.split(' '));
// Names with access beyond the input files, or with hidden effects.
const others = new Set(
  'getline system close fflush while do function func return nextfile ENVIRON PROCINFO ARGV ARGC SYMTAB FUNCTAB'.split(
    ' ',
  ),
);

const token =
  /(?<blank>[ \t]+|#[^\n]*)|(?<text>"(?:[^"\\\n]|\\.)*")|(?<number>\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+)|(?<name>[A-Za-z_]\w*)|(?<mark>\+\+|--|[-+*%^]=|&&|\|\||[<>=!]=|[-+*%^<>=!~?:,;(){}[\]$\n|&])/y;
// Patterns with slashes in brackets are ambiguous between implementations and not parsed.
const pattern = /\/(?:[^/\\\n[]|\\.|\[\^?\]?[^\]/\\\n]*\])+\//y;

/**
 * Token of awk: `one` is a name, a number or a mark as spelled, or `"` for a text or a pattern, with its content in `text`. `end` is the
 * position after the token.
 */
interface Token {
  one: string;
  text?: string;
  isName: boolean;
  end: number;
}

function* tokensOf(program: string): Generator<Token, boolean> {
  let before = '\n';
  for (let at = 0; at < program.length; ) {
    if (program[at] === '/') {
      // A slash after a value divides, and after an operator begins a pattern; elsewhere it is ambiguous.
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

// State of output redirection: `>` writes a file after `print`, outside of parentheses.
class Printing {
  depth = 0;
  private printing: number | undefined;

  writes({ one }: Token): boolean {
    if (one === 'print' || one === 'printf') this.printing = this.depth;
    if (one === '(') this.depth += 1;
    if (one === ')') this.depth -= 1;
    if (one === ';' || one === '}') this.printing = undefined; // may continue on the next line
    return one === '>' && this.printing !== undefined && this.depth <= this.printing;
  }
}

/**
 * Tests for an awk program that only selects, counts and prints: no other program, no other file, no user function. Unknown or ambiguous
 * tokens fail.
 */
export function isReadOnlyAwkProgram(program: string): boolean {
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
 * Returns texts that a shell may receive (adjacent texts joined), and literal names of output files. Undefined if the program cannot be
 * parsed.
 */
export function findAwkEffects(program: string): { commands: string[]; writes: string[] } | undefined {
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

const isValue = (before: string): boolean =>
  /^(\d|\.\d|\]|[A-Za-z_]|")/.test(before) && !keywords.has(before) && !functions.has(before);
const beginsValue = /^(\n|[-+*%^<>=!]=|&&|\|\||[!~,;({}<>=?:])$/;
