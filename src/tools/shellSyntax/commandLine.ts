import { readScript, type Simple } from './shellSyntax.ts';

/** The words of all programs of a plain command line, quotes taken away; undefined for anything else. */
export function literalArguments(text: string): string[][] | undefined {
  const commands = readScript(text)?.flatMap(({ commands }) => commands);
  if (!commands?.every((command): command is Simple => command.kind === 'simple')) return undefined;
  const words = commands.map((command) =>
    command.words.map((word) =>
      word.every((piece) => 'text' in piece) ? word.map(({ text }) => text).join('') : undefined,
    ),
  );
  return words.every((all): all is string[] => all.every((word) => word !== undefined)) ? words : undefined;
}

/**
 * What anybody could take for the words of each part of a command, whichever shell reads it: cut at quotes, and with the
 * quotes taken away (`g'i't`). For refusing only: a word here may be none.
 */
export function approximateArguments(text: string): string[][] {
  const parts = text.replaceAll('\\\n', '').split(/&&|[;|&\n()`]|\$\(/);
  return parts.flatMap((part) =>
    [part.split(/[\s'"]+/), part.replace(/\$(?=['"])|['"]/g, '').split(/\s+/)].map((words) =>
      words.map((word) => word.replaceAll('\\', '')).filter(Boolean),
    ),
  );
}
