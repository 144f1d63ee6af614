/** Words that are a shell's own where a program could stand; quoted they are a program's name. */
const reserved = new Set(
  'if then else elif fi do done case esac while until for in select function time coproc'.split(' '),
);

/**
 * A text as one word of a command line for the shell of `started.ts`, whatever is in it. Throws an `Error` with a sentence for what no
 * word can hold. PowerShell hands some of it on to programs as something else (an empty word not at all, `"` as an end), so that is
 * refused, too.
 */
export function quoteWord(text: string, platform: NodeJS.Platform = process.platform): string {
  if (text.includes('\0')) throw new Error('A command cannot hold the character 0');
  if (platform === 'win32') {
    const harmed =
      text === ''
        ? 'an empty text'
        : /["\r\n]/.test(text)
          ? '`"` or a line end'
          : text.endsWith('\\') && '`\\` at its end';
    if (harmed) throw new Error(`PowerShell does not hand ${harmed} on to a program as it is`);
    return `'${text.replaceAll(/['‘’‚‛]/g, '$&$&')}'`;
  }
  // `NAME=value` at the beginning would be no program.
  const plain = /^(?:-[\w@%+=:,./-]*|[\w@%+:,./][\w@%+:,./-]*)$/.test(text) && !reserved.has(text);
  return plain ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Texts as words of a command line. */
export const quoteArguments = (texts: readonly string[], platform?: NodeJS.Platform): string =>
  texts.map((text) => quoteWord(text, platform)).join(' ');

/** The command line that starts a program with just these arguments. */
export function commandLine(words: readonly string[], platform: NodeJS.Platform = process.platform): string {
  if (!words[0]?.trim()) throw new Error('A command begins with a program');
  return `${platform === 'win32' ? '& ' : ''}${quoteArguments(words, platform)}`;
}
