import { parseShellScript, type SimpleCommand } from './shellSyntax.ts';

/** Returns the words of all programs of a plain command line without quotes; undefined for other lines. */
export function parsePlainCommandLine(text: string): string[][] | undefined {
  const commands = parseShellScript(text)?.flatMap(({ commands }) => commands);
  if (!commands?.every((command): command is SimpleCommand => command.kind === 'simple')) return undefined;
  const words = commands.map((command) =>
    command.words.map((word) =>
      word.every((piece) => 'text' in piece) ? word.map(({ text }) => text).join('') : undefined,
    ),
  );
  return words.every((all): all is string[] => all.every((word) => word !== undefined)) ? words : undefined;
}

/**
 * Returns possible words of each part of a command for any shell: split at quotes, and with quotes removed (`g'i't`). Only for refusals: a
 * word may be wrong.
 */
export function approximateArguments(text: string): string[][] {
  const parts = text.replaceAll('\\\n', '').split(/&&|[;|&\n()`]|\$\(/);
  return parts.flatMap((part) =>
    [part.split(/[\s'"]+/), part.replace(/\$(?=['"])|['"]/g, '').split(/\s+/)].map((words) =>
      words.map((word) => word.replaceAll('\\', '')).filter(Boolean),
    ),
  );
}
