/**
 * Parsed command in a subset of bash: words, quotes, `$name`, `${name%suffix}`, `$( )`, `<( )`, `$(( ))`, globs, the operators `&&`, `||`,
 * `;`, `|` and line ends, leading assignments, `for`, `while`, `until`, `if`, `( )`, and redirections that store nothing. A text with any
 * unsupported part is undefined as a whole.
 */
export type ParsedShellScript = Pipeline[];

interface Pipeline {
  operator?: '&&' | '||' | ';';
  negated?: true;
  commands: ShellCommand[];
}

export type ShellCommand = SimpleCommand | Loop | ShellAlternatives | ShellGroup;

export interface SimpleCommand {
  kind: 'simple';
  assignments: { name: string; value: ParsedShellWord }[];
  words: ParsedShellWord[];
  stdout: 'out' | 'err' | 'null';
  stderr: 'err' | 'out' | 'null';
}
interface Loop {
  kind: 'loop';
  /** Variable and values of `for`; absent for `while` and `until`. */
  each?: { name: string; values: ParsedShellWord[] };
  condition?: ParsedShellScript;
  body: ParsedShellScript;
}
interface ShellAlternatives {
  kind: 'choice';
  parts: ParsedShellScript[];
}
interface ShellGroup {
  kind: 'group';
  body: ParsedShellScript;
}

/** Adjacent pieces of a word; `''` has none. */
export type ParsedShellWord = ShellPiece[];

export type ShellPiece =
  | { text: string }
  | { glob: string }
  | { variable: string; suffix?: string; quoted: boolean }
  /** `$( )`: replaced by its output; `<( )`: by the name of a file with the output. */
  | { script: ParsedShellScript; as: 'text' | 'file'; quoted: boolean }
  /** Arithmetic result of these variables. */
  | { number: string[] };

const maxParts = 50;
const maxDepth = 8;

class Unreadable extends Error {}

/** Parses a script; undefined if any part is unsupported. */
export function parseShellScript(text: string): ParsedShellScript | undefined {
  try {
    return new Reader(text).whole();
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}

const closing = new Set(['do', 'done', 'then', 'elif', 'else', 'fi']);
const unread = new Set(['case', 'esac', 'select', 'function', 'coproc', '{', '}', '[[', ']]', 'in', '!']);

const redirections = /(?:2>&1|1?>&2|[12&]?>[ \t]*\/dev\/null|<[ \t]*\/dev\/null)(?=[ \t\n;|)]|&&|$)/y;
// Characters without meaning in every shell; typographic quotes are quotes in PowerShell, even inside of others.
const plain = /[^\s\p{Cc}'"`$\\&|;<>(){}[\]*?!~‘’‚‛“”„]+/uy;
// Literal braces without any special content.
const plainBraces = /\{(?:(?!,|\.\.)[^\s\p{Cc}'"`$\\&|;<>(){}[\]*?!~‘’‚‛“”„])*\}/uy;

class Reader {
  private at = 0;
  private depth = 0;
  private parts = 0;

  constructor(private readonly text: string) {}

  whole(): ParsedShellScript {
    const script = this.script();
    if (this.at < this.text.length) throw new Unreadable();
    return script;
  }

  private script(): ParsedShellScript {
    if (++this.depth > maxDepth) throw new Unreadable();
    const script: ParsedShellScript = [];
    let found: string | undefined = ';';
    while (found !== undefined) {
      this.take(/(?:[ \t\n]|\\\n)+/y);
      if (this.closes()) break;
      const operator = found === '&&' || found === '||' ? found : ';';
      script.push({ ...(script.length > 0 && { operator }), ...this.pipeline() });
      this.blanks();
      found = this.take(/&&|\|\||;(?!(?:\\\n)*[;&])|\n/y);
    }
    if (script.length === 0 || found === '&&' || found === '||') throw new Unreadable();
    this.depth -= 1;
    return script;
  }

  private closes(): boolean {
    if (this.at >= this.text.length || this.text[this.at] === ')') return true;
    return closing.has(this.ahead());
  }

  private ahead(): string {
    return /[^\s;&|<>()'"\\$`]*/y.exec(this.text.slice(this.at))![0];
  }

  private pipeline(): Omit<Pipeline, 'operator'> {
    const negated = this.take(/![ \t]+/y) !== undefined;
    const commands = [this.command()];
    for (;;) {
      this.blanks();
      if (this.take(/\|(?!(?:\\\n)*[|&])(?:[ \t\n]|\\\n)*/y) === undefined) break;
      commands.push(this.command());
    }
    return { ...(negated && { negated: true as const }), commands };
  }

  private command(): ShellCommand {
    if (++this.parts > maxParts) throw new Unreadable();
    const word = this.ahead();
    if (this.take(/\((?!(?:\\\n)*\()/y)) {
      const body = this.script();
      this.expect(/\)/y);
      return { kind: 'group', body: this.unredirected(body) };
    }
    if (word === 'for') return this.forLoop();
    if (word === 'while' || word === 'until') {
      this.at += word.length;
      this.expect(/[ \t\n]+/y);
      const condition = this.script();
      return { kind: 'loop', condition, body: this.body() };
    }
    if (word === 'if') return this.choice();
    if (closing.has(word) || unread.has(word)) throw new Unreadable();
    return this.simple();
  }

  private forLoop(): Loop {
    const name = this.expect(/for[ \t]+([A-Za-z_]\w*)[ \t]+in(?=[ \t])/y)[1]!;
    const values: ParsedShellWord[] = [];
    for (;;) {
      this.blanks();
      if (this.take(/[ \t]*(?:;|\n)[ \t\n]*/y) !== undefined) break;
      values.push(this.word());
    }
    if (values.length === 0) throw new Unreadable();
    return { kind: 'loop', each: { name, values }, body: this.body() };
  }

  private body(): ParsedShellScript {
    this.blanks();
    this.expect(/do(?=[\s])/y);
    const body = this.script();
    this.expect(/done(?![^\s;&|)])/y);
    return this.unredirected(body);
  }

  private choice(): ShellAlternatives {
    this.expect(/if(?=\s)/y);
    const parts = [this.script()];
    this.expect(/then(?=\s)/y);
    parts.push(this.script());
    for (;;) {
      if (this.take(/elif(?=\s)/y)) {
        parts.push(this.script());
        this.expect(/then(?=\s)/y);
        parts.push(this.script());
      } else if (this.take(/else(?=\s)/y)) parts.push(this.script());
      else break;
    }
    this.expect(/fi(?![^\s;&|)])/y);
    for (const part of parts) this.unredirected(part);
    return { kind: 'choice', parts };
  }

  /** Accepts only redirections of a loop without effect. */
  private unredirected(body: ParsedShellScript): ParsedShellScript {
    this.blanks();
    this.take(/2>&1(?=[ \t\n;|)]|&&|$)/y);
    if (/[<>]/.test(this.text[this.at] ?? '') || /^\d+[<>]/.test(this.text.slice(this.at, this.at + 4)))
      throw new Unreadable();
    return body;
  }

  private blanks(): void {
    this.take(/(?:[ \t]|\\\n)+/y);
  }

  private simple(): SimpleCommand {
    const simple: SimpleCommand = { kind: 'simple', assignments: [], words: [], stdout: 'out', stderr: 'err' };
    for (let spaced = true; ; spaced = this.take(/(?:[ \t]|\\\n)+/y) !== undefined) {
      if (this.at >= this.text.length || /[\n;|)]/.test(this.text[this.at]!) || this.text.startsWith('&&', this.at))
        break;
      if (!spaced) throw new Unreadable();
      const redirection = this.take(redirections);
      if (redirection !== undefined) {
        redirect(simple, redirection.replace(/\s/g, ''));
        continue;
      }
      const assigned = simple.words.length === 0 ? this.takeMatch(/([A-Za-z_]\w*)=/y) : undefined;
      if (assigned) simple.assignments.push({ name: assigned[1]!, value: this.endsWord() ? [] : this.word(true) });
      else simple.words.push(this.word());
    }
    if (simple.words.length === 0 && simple.assignments.length === 0) throw new Unreadable();
    const [first] = simple.words;
    if (first && !first.every((piece) => 'text' in piece && !piece.text.includes('='))) throw new Unreadable();
    return simple;
  }

  private endsWord(): boolean {
    return this.at >= this.text.length || /[\s;|&)]/.test(this.text[this.at]!);
  }

  /** @param assigned value of a variable, where `~` after `:` may be a home folder */
  private word(assigned = false): ParsedShellWord {
    const word: ParsedShellWord = [];
    const begin = this.at;
    while (this.at < this.text.length) {
      const letter = this.text[this.at]!;
      if (/[\s;|&)]/.test(letter)) break;
      if (letter === '~' && (assigned || this.at === begin || /[=:]/.test(this.text[this.at - 1]!)))
        throw new Unreadable();
      const pieces = letter === '"' ? this.quotedPieces() : [this.piece(letter, this.at === begin)];
      for (const piece of pieces) {
        const last = word.at(-1);
        if ('text' in piece && last && 'text' in last) last.text += piece.text;
        else word.push(piece);
      }
    }
    if (this.at === begin) throw new Unreadable();
    return word;
  }

  private piece(letter: string, first: boolean): ShellPiece {
    if (first && letter === '#') throw new Unreadable();
    if (letter === "'") return { text: this.expect(/'([^'‘’‚‛]*)'/y)[1]! };
    if (letter === '$') return this.dollar(false);
    if (letter === '\\') return { text: this.expect(/\\([^\n\p{Cc}])/uy)[1]! };
    if (letter === '<' && first) {
      this.expect(/<\(/y);
      return { script: this.inside(), as: 'file', quoted: true };
    }
    const braces = this.take(plainBraces);
    if (braces !== undefined) return { text: braces };
    if (letter === '~') return { text: this.expect(/~/y)[0] };
    const glob = this.take(/[*?]|\[[!^]?[\w.-]+\]/y);
    if (glob !== undefined) return { glob };
    if (first && this.take(/[![](?=[ \t])|\](?=[\s;|&)]|$)/y) !== undefined) return { text: this.text[this.at - 1]! };
    return { text: this.expect(plain)[0] };
  }

  private quotedPieces(): ShellPiece[] {
    const pieces: ShellPiece[] = [];
    this.expect(/"/y);
    while (this.take(/"/y) === undefined) {
      // Typographic quotes mislead readers, so such a text is not analyzed. Neither is a line continuation, which could join `$` and a
      // bracket.
      const text = this.take(/(?:[^"$`\\“”„]|\\[$\\]|\\(?!["$`\\\n]))+/y);
      if (text !== undefined) pieces.push({ text: text.replace(/\\([$\\])/g, '$1') });
      else pieces.push(this.dollar(true));
    }
    return pieces.length > 0 ? pieces : [{ text: '' }];
  }

  private dollar(quoted: boolean): ShellPiece {
    const arithmetic = this.takeMatch(/\$\(\(([\w \t+*/%()-]*)\)\)/y);
    if (arithmetic) return { number: arithmetic[1]!.match(/[A-Za-z_]\w*/g) ?? [] };
    if (this.take(/\$[?#]|\$\{PIPESTATUS\[\d\]\}|\$\{#\}/y) !== undefined) return { number: [] };
    const named = this.takeMatch(/\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\}|\{([A-Za-z_]\w*)%([\w.-]+)\})/y);
    if (named) {
      const variable = (named[1] ?? named[2] ?? named[3])!;
      return { variable, ...(named[4] !== undefined && { suffix: named[4] }), quoted };
    }
    if (this.take(/\$\((?!(?:\\\n)*\()/y) !== undefined) return { script: this.inside(), as: 'text', quoted };
    // Literal if nothing follows that could be a name.
    this.expect(quoted ? /\$(?=["\s|)\\/.,])/y : /\$(?=[\s|)]|$)/y);
    return { text: '$' };
  }

  private inside(): ParsedShellScript {
    const script = this.script();
    this.expect(/\)/y);
    return script;
  }

  private take(pattern: RegExp): string | undefined {
    return this.takeMatch(pattern)?.[0];
  }

  private takeMatch(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text) ?? undefined;
    if (match) this.at += match[0].length;
    return match;
  }

  private expect(pattern: RegExp): RegExpExecArray {
    const match = this.takeMatch(pattern);
    if (!match) throw new Unreadable();
    return match;
  }
}

// Applies redirections in order: `>/dev/null 2>&1` silences both, `2>&1 >/dev/null` does not.
function redirect(command: SimpleCommand, redirection: string): void {
  if (redirection === '2>&1') command.stderr = command.stdout === 'err' ? 'err' : command.stdout;
  else if (redirection.endsWith('>&2')) command.stdout = command.stderr;
  else if (redirection.startsWith('2')) command.stderr = 'null';
  else if (redirection.startsWith('&')) command.stdout = command.stderr = 'null';
  else if (!redirection.startsWith('<')) command.stdout = 'null';
}
