/** One program with its arguments, quotes taken away. */
export interface SimpleCommand {
  words: string[];
  stdout: 'out' | 'null';
  stderr: 'err' | 'out' | 'null';
}

export interface Pipeline {
  /** How it hangs on what came before; absent on the first. */
  operator?: '&&' | '||' | ';';
  commands: SimpleCommand[];
}

/** More parts than a person or a program writes by hand. */
const mostParts = 50;

/**
 * A command line of a small part of the shell's language: words, single quotes, double quotes without `$`, backtick, `\`
 * and `!`, the operators `&&`, `||`, `;` and `|`, and the redirections `2>/dev/null`, `>/dev/null` and `2>&1`. Undefined for
 * anything else. What this gives is what can be run without a shell: nothing is expanded, nobody reads the text again.
 */
export function parseCommandLine(text: string): Pipeline[] | undefined {
  const tokens = tokensOf(text);
  if (!tokens) return undefined;
  const pipelines: Pipeline[] = [{ commands: [newCommand()] }];
  for (const token of tokens) {
    const commands = pipelines.at(-1)!.commands;
    const command = commands.at(-1)!;
    if ('word' in token) command.words.push(token.word);
    else if ('redirection' in token) redirect(command, token.redirection);
    else if (command.words.length === 0) return undefined;
    else if (token.operator === '|') commands.push(newCommand());
    else pipelines.push({ operator: token.operator, commands: [newCommand()] });
  }
  const all = pipelines.flatMap(({ commands }) => commands);
  return all.length <= mostParts && all.every(({ words }) => words.length > 0) ? pipelines : undefined;
}

/**
 * What anybody could take for the words of each part of a command, whichever shell reads it: cut at quotes, and with the
 * quotes taken away (`g'i't`). For refusing only: a word here may be none.
 */
export function looseWords(text: string): string[][] {
  const parts = text.replaceAll('\\\n', '').split(/&&|[;|&\n()`]|\$\(/);
  return parts.flatMap((part) =>
    [part.split(/[\s'"]+/), part.replace(/\$(?=['"])|['"]/g, '').split(/\s+/)].map((words) =>
      words.map((word) => word.replaceAll('\\', '')).filter(Boolean),
    ),
  );
}

const newCommand = (): SimpleCommand => ({ words: [], stdout: 'out', stderr: 'err' });

/** In the order written: `>/dev/null 2>&1` silences both, `2>&1 >/dev/null` does not. */
function redirect(command: SimpleCommand, redirection: string): void {
  if (redirection === '2>&1') command.stderr = command.stdout;
  else if (redirection.startsWith('2')) command.stderr = 'null';
  else command.stdout = 'null';
}

type Token = { word: string } | { redirection: string } | { operator: '&&' | '||' | ';' | '|' };

function tokensOf(text: string): Token[] | undefined {
  const tokens: Token[] = [];
  let word: string | undefined;
  const endWord = () => {
    if (word !== undefined) tokens.push({ word });
    word = undefined;
  };
  for (let at = 0; at < text.length; ) {
    const rest = text.slice(at);
    const piece = blanks.exec(rest) ?? operators.exec(rest);
    const redirection = word === undefined ? redirections.exec(rest) : null;
    const quoted = quotes.exec(rest);
    const bare = plain.exec(rest);
    if (redirection) tokens.push({ redirection: redirection[1]! });
    else if (piece) {
      endWord();
      if (piece[0].trim() !== '') tokens.push({ operator: piece[0] as '&&' | '||' | ';' | '|' });
    } else if (quoted) word = (word ?? '') + (quoted[1] ?? quoted[2] ?? '');
    else if (bare && !(word === undefined && bare[0].startsWith('#'))) word = (word ?? '') + bare[0];
    else return undefined;
    at += (redirection ?? piece ?? quoted ?? bare)![0].length;
  }
  endWord();
  return tokens;
}

const blanks = /^[ \t]+/;
const operators = /^(?:&&|\|\|(?!\|)|;(?!;)|\|(?![|&]))/;
const redirections = /^(2>&1|2?>[ \t]*\/dev\/null)(?=[ \t;|]|&&|$)/;
const quotes = /^(?:'([^'‘’‚‛]*)'|"([^"$`\\!“”„]*)")/;
/** What means itself to every shell: typographic quotes are quotes to PowerShell, inside of others, too. */
const plain = /^[^\s\p{Cc}'"`$\\&|;<>(){}[\]*?!~‘’‚‛“”„]+/u;
