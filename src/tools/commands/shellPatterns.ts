import type { ParsedShellScript, ParsedShellWord, ShellPiece } from '../shellSyntax/shellSyntax.ts';
import { unknownValuePlaceholders } from './commandStep.ts';

export const isLiteralWord = (word: ParsedShellWord, text: string): boolean =>
  word.length === 1 && 'text' in word[0]! && word[0].text === text;

export const isNumericShellValue = (value: string | undefined): boolean =>
  value === unknownValuePlaceholders.number || /^\d+$/.test(value ?? '');

export function variableOfShellReadBuiltin([pipeline, ...others]: ParsedShellScript): string | undefined {
  const [command, ...more] = pipeline!.commands;
  if (others.length > 0 || more.length > 0 || pipeline!.negated || command!.kind !== 'simple') return undefined;
  const { words, assignments } = command!;
  const texts = words.map((word) => (word.length === 1 && 'text' in word[0]! ? word[0].text : ''));
  const isWhole = assignments.every(
    ({ name, value }) => name === 'IFS' && value.every((piece) => 'text' in piece && piece.text === ''),
  );
  return isWhole && texts.length === 3 && texts[0] === 'read' && texts[1] === '-r' ? texts[2] : undefined;
}

export const isOnePipeline = ([pipeline, ...others]: ParsedShellScript, count: number): boolean =>
  others.length === 0 &&
  !pipeline!.negated &&
  pipeline!.commands.length === count &&
  pipeline!.commands.every((command) => command.kind === 'simple' && command.words.length > 0);

export function isNumericSubstitution(piece: Extract<ShellPiece, { script: ParsedShellScript }>): boolean {
  const [{ commands }, ...others] = piece.script as [ParsedShellScript[number], ...ParsedShellScript];
  const [command, ...more] = commands;
  if (others.length > 0 || more.length > 0 || command!.kind !== 'simple' || command!.assignments.length > 0)
    return false;
  const texts = command!.words.map((word) => (word.length === 1 && 'text' in word[0]! ? word[0].text : ''));
  if (texts[0] === 'nproc') return texts.length === 1;
  return texts[0] === 'seq' && texts.length > 1 && texts.slice(1).every((text) => /^-?\d{1,6}$/.test(text));
}

export function assignedShellVariables(scripts: readonly ParsedShellScript[]): Map<string, boolean> {
  const names = new Map<string, boolean>();
  const note = (name: string, number: boolean) => names.set(name, (names.get(name) ?? true) && number);
  const look = (script: ParsedShellScript): void => {
    for (const command of script.flatMap(({ commands }) => commands)) {
      if (command.kind === 'simple') {
        if (command.words.length > 0) continue;
        for (const { name, value } of command.assignments)
          note(
            name,
            value.length === 1 &&
              ('number' in value[0]! || ('text' in value[0]! && isNumericShellValue(value[0].text))),
          );
      } else if (command.kind === 'loop') {
        if (command.each) note(command.each.name, false);
        if (command.condition) look(command.condition);
        look(command.body);
      } else if (command.kind === 'group') look(command.body);
      else command.parts.forEach(look);
    }
  };
  scripts.forEach(look);
  return names;
}
