const reserved = new Set(
  'if then else elif fi do done case esac while until for in select function time coproc'.split(' '),
);

/**
 * Quotes any text as one word for the shell of `spawnCommand.ts`. Throws an `Error` with a sentence for a text that no word can hold, and
 * on Windows for a text that PowerShell passes incorrectly (an empty word is dropped, `"` ends a word).
 */
export function quoteShellWord(text: string, platform: NodeJS.Platform = process.platform): string {
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
  // `NAME=value` at the beginning would be an assignment.
  const plain = /^(?:-[\w@%+=:,./-]*|[\w@%+:,./][\w@%+:,./-]*)$/.test(text) && !reserved.has(text);
  return plain ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

export const quoteArguments = (texts: readonly string[], platform?: NodeJS.Platform): string =>
  texts.map((text) => quoteShellWord(text, platform)).join(' ');

export function toCommandLine(words: readonly string[], platform: NodeJS.Platform = process.platform): string {
  if (!words[0]?.trim()) throw new Error('A command begins with a program');
  return `${platform === 'win32' ? '& ' : ''}${quoteArguments(words, platform)}`;
}
