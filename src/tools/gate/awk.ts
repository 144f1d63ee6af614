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
  /(?<blank>[ \t]+|#[^\n]*)|(?<text>"(?:[^"\\\n]|\\.)*")|(?<number>\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+)|(?<name>[A-Za-z_]\w*)|(?<mark>\+\+|--|[-+*%^]=|&&|\|\||[<>=!]=|[-+*%^<>=!~?:,;(){}[\]$\n])/y;
/** Slashes in brackets end it for some and not for others: such a one is not read. */
const pattern = /\/(?:[^/\\\n[]|\\.|\[\^?\]?[^\]/\\\n]*\])+\//y;

/**
 * A program that chooses, counts and prints: no other program, no file but those it is given, no function of its own. Read token by
 * token; what is not known, or could be read in two ways, is none.
 */
export function awkReads(program: string): boolean {
  let before = '\n';
  let depth = 0;
  /** How deep in parentheses a `print` is, whose `>` outside of them writes a file. */
  let printing: number | undefined;
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
      continue;
    }
    token.lastIndex = at;
    const found = token.exec(program)?.groups;
    if (!found) return false;
    at = token.lastIndex;
    if (found.blank !== undefined) continue;
    const one = found.text ? '"' : (found.number ?? found.name ?? found.mark!);
    if (found.name !== undefined) {
      if (others.has(one)) return false;
      if (/^\s*\(/.test(program.slice(at, at + 20)) && !functions.has(one) && !keywords.has(one)) return false;
      if (one === 'print' || one === 'printf') printing = depth;
    }
    if (one === '(') depth += 1;
    if (one === ')') depth -= 1;
    if (one === ';' || one === '}') printing = undefined; // it may go on in the next line
    if (one === '>' && printing !== undefined && depth <= printing) return false;
    before = one;
  }
  return program.trim() !== '' && depth === 0;
}

/** A name or a number, or what ends one. */
const isValue = (before: string): boolean =>
  /^(\d|\.\d|\]|[A-Za-z_]|")/.test(before) && !keywords.has(before) && !functions.has(before);
const beginsValue = /^(\n|[-+*%^<>=!]=|&&|\|\||[!~,;({}<>=?:])$/;
