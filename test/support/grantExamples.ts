import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { GrantRow } from '../../src/tools/commands/grants/grantRow.ts';
import { expandBracedAlternatives } from '../../src/tools/commands/grants/tableRows.ts';

/** Command lines that rows cover, and that they must not. */
export interface Examples {
  yes: string[];
  no: string[];
}

/**
 * Examples of the tables of commands: lines with commands as in the tables, and below them one example a line, after `+` or `-`. `{}`
 * means the command. A command with rows of several kinds has the kind behind it.
 */
const folder = path.join(import.meta.dirname, '../tools/commands/grants');
const files = readdirSync(folder).filter((name) => name.endsWith('.txt'));

/** By command, for rows of several kinds with the kind behind it. */
export const examples: ReadonlyMap<string, Examples> = parseExamples(
  files.map((name) => readFileSync(path.join(folder, name), 'utf8')).join('\n'),
);

/**
 * Commands that the rows of each kind covered when rules for kinds were first stored, and that they did not: by command and kind. Both
 * were judged by the tables of that time, in a folder like the one of the tests.
 */
export const storedExamples: ReadonlyMap<string, Examples> = parseExamples(
  readFileSync(path.join(folder, 'stored/commands.txt'), 'utf8'),
);

/** Examples of the row, or of those with the same command and kind. */
export const examplesOf = ({ command, kind }: Pick<GrantRow, 'command' | 'kind'>): Examples =>
  examples.get(`${command} [${kind}]`) ?? examples.get(command) ?? { yes: [], no: [] };

function parseExamples(text: string): Map<string, Examples> {
  const found = new Map<string, Examples>();
  for (const block of text.split(/\n{2,}/)) {
    const lines = block.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    const commands = lines.filter((line) => !line.startsWith(' ')).flatMap(commandsIn);
    for (const line of lines.filter((line) => line.startsWith(' '))) {
      const [, sign, example] = /^ {2}([+-]) (.*)$/.exec(line) ?? [];
      if (!sign || commands.length === 0) throw new Error(`no example: ${line}`);
      for (const command of commands) {
        const own = found.get(command) ?? { yes: [], no: [] };
        found.set(command, own);
        own[sign === '+' ? 'yes' : 'no'].push(example!.replaceAll('{}', command.replace(/ \[.*\]$/, '')));
      }
    }
  }
  return found;
}

/** Commands of a line; a kind behind it is that of each. */
function commandsIn(line: string): string[] {
  const [, commands, kind = ''] = /^(.*?)( \[\w+\])?$/.exec(line)!;
  return expandBracedAlternatives(commands!).map((command) => command + kind);
}
