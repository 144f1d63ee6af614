/** Removes the texts of here-documents for programs from a command and returns the texts separately; input of a shell stays. */
export function withoutHereDocuments(command: string): { text: string; documents: string[] } {
  const lines = command.split('\n');
  const left: string[] = [];
  const documents: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!;
    left.push(line);
    if (/(^|[\s;|&(/])(ba|da|z|k)?sh(\s|$)/.test(line)) continue;
    for (const [, dash, quote, delimiter] of line.matchAll(/(?<!<)<<(-?)\s*([\\'"]?)([\w.+-]+)['"]?/g)) {
      const ends = (one: string) => (dash ? one.replace(/^\t+/, '') : one) === delimiter;
      const end = lines.findIndex((one, index) => index > at && ends(one));
      if (end >= 0) documents.push(lines.slice(at + 1, end).join('\n'));
      // A here-document with an unquoted delimiter may contain substitutions.
      if (end < 0 || (quote === '' && /\$\(|`/.test(lines.slice(at, end).join('\n')))) break;
      at = end;
    }
  }
  return { text: left.join('\n'), documents };
}
