/** Command line as words without quotes. Variables are in the form of VS Code (`${env:NAME}`). `cwd`: folder of a leading `cd`. */
interface SplitCommandLine {
  words: string[];
  env: Map<string, string>;
  cwd?: string;
}

/**
 * Splits a command line of a POSIX shell, of `cmd` or of PowerShell into words, without running a shell.
 * Undefined if only a shell can run it: pipes, redirections, substitutions, or an open quote.
 * @param isWindows a backslash never escapes a letter
 */
export function splitCommandLine(text: string, isWindows: boolean): SplitCommandLine | undefined {
  const tokens = tokensOf(text.replace(prompt, ''), isWindows);
  if (!tokens) return undefined;
  const commands: Word[][] = [[]];
  for (const token of tokens)
    if (token === 'then') commands.push([]);
    else commands.at(-1)!.push(token);
  const last = commands.pop()!;
  const found: SplitCommandLine = { words: [], env: new Map() };
  for (const command of commands) if (!prepares(command, found)) return undefined;
  const words = takeAssignments(last, found.env);
  if (words.length === 0) return undefined;
  return { ...found, words };
}

interface Word {
  text: string;
  /** Characters before the first quote. */
  plain: number;
}

const prompt = /^\s*(?:PS [^>]*> ?|[A-Za-z]:\\[^>]*> ?|[$#%>] +)/;

function tokensOf(text: string, isWindows: boolean): (Word | 'then')[] | undefined {
  const tokens: (Word | 'then')[] = [];
  let at = 0;
  while (at < text.length) {
    const rest = text.slice(at);
    // A line continuation (bash, PowerShell, cmd): an input box replaces its line end by a blank.
    const blank = /^(?:\s+|[\\`^](?=\s)(?:[ \t]*\r?\n|\s))+/.exec(rest)?.[0] ?? '';
    const next = /^(?:&&|;)/.exec(rest.slice(blank.length))?.[0];
    if (next !== undefined) {
      tokens.push('then');
      at += blank.length + next.length;
      continue;
    }
    if (blank !== '') {
      at += blank.length;
      continue;
    }
    const word = readWord(rest, isWindows);
    if (!word) return undefined;
    tokens.push(word.word);
    at += word.length;
  }
  return tokens;
}

function readWord(text: string, isWindows: boolean): { word: Word; length: number } | undefined {
  const isWindowsPath = isWindows || /^["']?(?:[A-Za-z]:\\|\\\\|\.{1,2}\\|%\w+%)/.test(text);
  let word = '';
  let plain: number | undefined;
  let at = 0;
  const quoteStarts = () => {
    plain ??= word.length;
  };
  while (at < text.length) {
    const rest = text.slice(at);
    const character = rest[0]!;
    const hint = /^<[A-Za-z][\w .:/-]*>/.exec(rest)?.[0]; // <your token>, to be replaced by the reader
    const variable = variableAt(rest);
    if (/\s/.test(character) || rest.startsWith('&&') || /^;(\s|$)/.test(rest)) break;
    if (!variable && (/^&\s/.test(rest) || /^(?:[|`;()]|\$\()/.test(rest))) return undefined;
    if (hint !== undefined) {
      word += hint;
      at += hint.length;
    } else if (/[<>]/.test(character)) return undefined;
    else if (variable) {
      word += variable.value;
      at += variable.length;
    } else if (character === "'" && (word === '' || /[=:\s]$/.test(word) || rest.indexOf("'", 1) > 0)) {
      const end = rest.indexOf("'", 1);
      if (end < 0) return undefined;
      quoteStarts();
      word += rest.slice(1, end);
      at += end + 1;
    } else if (character === '"') {
      const quoted = readDoubleQuotes(rest, isWindowsPath);
      if (!quoted) return undefined;
      quoteStarts();
      word += quoted.value;
      at += quoted.length;
    } else if (character === '\\' && !isWindowsPath && at + 1 < text.length) {
      word += rest[1];
      at += 2;
    } else if (character === '\\' && /^\\"/.test(rest)) {
      word += '"';
      at += 2;
    } else {
      word += character;
      at += 1;
    }
  }
  const home = word.replace(/^~(?=[\\/]|$)/, (plain ?? word.length) > 0 ? userHome : '~');
  return { word: { text: home, plain: plain ?? word.length }, length: at };
}

function readDoubleQuotes(text: string, isWindowsPath: boolean): { value: string; length: number } | undefined {
  let value = '';
  for (let at = 1; at < text.length; ) {
    const rest = text.slice(at);
    const variable = variableAt(rest);
    if (rest[0] === '"') return { value, length: at + 1 };
    const escaped = (isWindowsPath ? /^\\(")/ : /^\\(["\\$`])/).exec(rest)?.[1];
    if (escaped !== undefined) {
      value += escaped;
      at += 2;
    } else if (variable) {
      value += variable.value;
      at += variable.length;
    } else if (/^(?:`|\$\()/.test(rest)) return undefined;
    else {
      value += rest[0];
      at += 1;
    }
  }
  return undefined;
}

const variableOf = (name: string) => `\${${name}}`;
const userHome = variableOf('userHome');
const currentFolder = variableOf('workspaceFolder');
const own =
  /^\$\{(?:(?:env|input|workspaceFolder):[^{}]+|workspaceFolder|workspaceFolderBasename|userHome|pathSeparator|\/)\}/;

/** Variable of VS Code, which stays, or of a shell, in the form of VS Code. */
function variableAt(text: string): { value: string; length: number } | undefined {
  const whole = own.exec(text)?.[0];
  if (whole !== undefined) return { value: whole, length: whole.length };
  const folder = /^(?:\$\(pwd\)|\$\{PWD\}|\$PWD\b|%cd%)/i.exec(text)?.[0];
  if (folder !== undefined) return { value: currentFolder, length: folder.length };
  const [found, powerShell, braces, plain, percent] =
    /^(?:\$env:(\w+)|\$\{([A-Za-z_]\w*)\}|\$([A-Za-z_]\w*)|%([A-Za-z_]\w*)%)/i.exec(text) ?? [];
  const name = powerShell ?? braces ?? plain ?? percent;
  if (found === undefined || name === undefined) return undefined;
  return { value: /^(HOME|USERPROFILE)$/.test(name) ? userHome : variableOf(`env:${name}`), length: found.length };
}

/** A command before the last one: it enters a folder or sets variables. */
function prepares(command: readonly Word[], found: SplitCommandLine): boolean {
  const [first, ...others] = command;
  if (!first) return true;
  const texts = others.map(({ text }) => text);
  if (/^(cd|pushd|Set-Location)$/i.test(first.text)) {
    const [folder, ...more] = texts.filter((text) => !/^\/d$/i.test(text));
    if (folder === undefined || more.length > 0 || found.cwd !== undefined) return false;
    found.cwd = folder;
    return true;
  }
  if (/^(export|set)$/i.test(first.text)) {
    const pairs = /^set$/i.test(first.text) ? [texts.join(' ')] : texts;
    return pairs.length > 0 && pairs.every((pair) => assign(pair, found.env));
  }
  const powerShell = /^\$\{env:(\w+)\}\s*=?\s*(.*)$/s.exec([first.text, ...texts].join(' '));
  if (powerShell) {
    found.env.set(powerShell[1]!, powerShell[2]!.replace(/^= ?/, ''));
    return true;
  }
  return takeAssignments(command, found.env).length === 0;
}

function assign(pair: string, env: Map<string, string>): boolean {
  const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(pair) ?? [];
  if (name === undefined || value === undefined) return false;
  env.set(name, value);
  return true;
}

/** Takes `NAME=value` in front of a command, with or without `env`. */
function takeAssignments(command: readonly Word[], env: Map<string, string>): string[] {
  const [first] = command;
  const hasEnv = first !== undefined && /^(?:\/usr\/bin\/)?env$/.test(first.text) && command.length > 1;
  let at = hasEnv ? 1 : 0;
  for (; at < command.length; at++) {
    const { text, plain } = command[at]!;
    if (text.indexOf('=') >= plain || !assign(text, env)) break;
  }
  const isPlainEnv = hasEnv && at === 1; // `env` itself, perhaps with options
  return command.slice(isPlainEnv ? 0 : at).map(({ text }) => text);
}
