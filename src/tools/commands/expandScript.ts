import * as paths from 'node:path';
import { message } from '../../protocol/text/l10n.ts';
import type { WorkspaceRoot } from '../core/workspace.ts';
import { resolvePath } from '../sandbox/paths.ts';
import { expandWord } from '../shellSyntax/expandWord.ts';
import type {
  ParsedShellScript,
  ParsedShellWord,
  ShellCommand,
  ShellPiece,
  SimpleCommand,
} from '../shellSyntax/shellSyntax.ts';
import {
  type CommandPipeline,
  formatShellWordForDisplay,
  isStaticShellWord,
  type ResolvedProgramInvocation,
  UndeterminedCommandError,
  unknownValuePlaceholders,
} from './commandStep.ts';
import { isCountingPipeline, predictCommandOutputLines } from './predictedLines.ts';
import {
  assignedShellVariables,
  isLiteralWord,
  isNumericShellValue,
  isNumericSubstitution,
  isOnePipeline,
  variableOfShellReadBuiltin,
} from './shellPatterns.ts';
import { PossibleFileNames } from './unknownValues.ts';

export interface ResolvedCommandScript {
  steps: ResolvedProgramInvocation[];
  /** The same steps as pipelines, if sequential execution without a shell is equivalent. */
  straight?: CommandPipeline[];
}

const maxSteps = 200;

interface Scope {
  folder: string;
  moved: boolean;
  variables: Map<string, string>;
  piped: boolean;
  /** Runs exactly once, so a change of folder affects all later commands. */
  once: boolean;
}

/**
 * Determines the commands of a script. Throws `Unclear` if the text and the disk are not enough, and errors of the path check for new
 * folders.
 * @param folder absolute and real
 * @param environment variables that a script must not change, because programs would see them
 */
export async function expandScript(
  script: ParsedShellScript,
  folder: string,
  roots: readonly WorkspaceRoot[],
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<ResolvedCommandScript> {
  const steps: ResolvedProgramInvocation[] = [];
  let isStraight = true;
  let unsettled: ResolvedProgramInvocation['unsettled'];
  const pipelines: CommandPipeline[] = [];
  const choices = new PossibleFileNames(roots);

  await walk(script, { folder, moved: false, variables: new Map(), piped: false, once: true });
  return { steps, ...(isStraight && { straight: pipelines }) };

  async function walk(script: ParsedShellScript, scope: Scope): Promise<void> {
    /** Runs independently of the commands before. */
    let surely = true;
    /** The command right before succeeds and is no step. */
    let passed = false;
    for (const { operator: written, negated, commands } of script) {
      if (written !== '&&') surely = written !== '||';
      if (passed && written === '||') isStraight = false;
      const operator: CommandPipeline['operator'] = passed && written === '&&' ? ';' : written;
      const [only] = commands;
      if (commands.length === 1 && only!.kind === 'simple' && isChangeOfFolder(only!)) {
        if (!scope.once || !surely || negated)
          throw new UndeterminedCommandError(message('It changes the folder only sometimes.'));
        scope.folder = await moved(only as SimpleCommand, scope);
        passed = true;
        continue;
      }
      passed = isAssignment(only!) && (passed || operator !== '&&');
      if (negated || (commands.length > 1 && commands.some(isAssignment))) isStraight = false;
      const joined = commands.length > 1 || operator === '&&' || operator === '||';
      const begin = steps.length;
      for (const [index, command] of commands.entries()) {
        const before = steps.length - begin === index && index > 0 ? steps.slice(begin) : undefined;
        const inner = commands.length === 1 ? scope : { ...copyOf(scope), piped: scope.piped || index > 0 };
        if (command.kind === 'simple') await simple(command, inner, index > 0, surely, operator, before);
        else await compound(command, inner, joined, before);
      }
      surely = false;
    }
  }

  function takeUnsettled(): ResolvedProgramInvocation['unsettled'] {
    const taken = unsettled;
    unsettled = undefined;
    return taken;
  }

  async function simple(
    command: SimpleCommand,
    scope: Scope,
    continues: boolean,
    surely: boolean,
    operator: CommandPipeline['operator'],
    before: readonly ResolvedProgramInvocation[] | undefined,
  ): Promise<void> {
    if (command.words.length === 0) {
      for (const { name, value } of command.assignments) {
        const [text] = await evaluate(value, scope, 'value');
        assign(name, surely ? text! : unknownValuePlaceholders.text, scope);
      }
      return;
    }
    const variables: [string, string][] = [];
    // An assignment before a command is visible to the next assignment, but not yet to the words.
    const front = copyOf(scope);
    for (const { name, value } of command.assignments) {
      variables.push([name, (await evaluate(value, front, 'value'))[0]!]);
      front.variables.set(...variables.at(-1)!);
    }
    takeUnsettled();
    const words: string[] = [];
    for (const word of command.words) words.push(...(await evaluate(word, scope, 'words')));
    const steers = words[0] === 'break' || words[0] === 'continue' || words[0] === ':';
    if (steers || variables.length > 0 || command.stdout === 'err' || !words.every(isStaticShellWord))
      isStraight = false;
    const { stdout, stderr } = command;
    const { folder, piped } = scope;
    const open = takeUnsettled();
    const step: ResolvedProgramInvocation = {
      words,
      variables,
      folder,
      piped,
      stdout,
      stderr,
      ...(open && { unsettled: open }),
    };
    const started = (await choices.startedBy(step, before)) ?? [step];
    const all = started.flatMap((one) => choices.stepsOf(one));
    if (all.length !== 1 || all[0] !== step) {
      isStraight = false;
      all.forEach(push);
      return;
    }
    push(step);
    if (continues && pipelines.length > 0) pipelines.at(-1)!.commands.push(step);
    else pipelines.push({ ...(pipelines.length > 0 && { operator: operator ?? ';' }), commands: [step] });
  }

  function push(step: ResolvedProgramInvocation): void {
    steps.push(step);
    if (steps.length > maxSteps) throw new UndeterminedCommandError(message('It runs too much to be checked.'));
  }

  async function compound(
    command: Exclude<ShellCommand, SimpleCommand>,
    scope: Scope,
    joined: boolean,
    before: readonly ResolvedProgramInvocation[] | undefined,
  ): Promise<void> {
    if (command.kind === 'group') {
      isStraight = false;
      return walk(command.body, copyOf(scope));
    }
    const each = command.kind === 'loop' ? command.each : undefined;
    const read = command.kind === 'loop' && !each && command.condition && variableOfShellReadBuiltin(command.condition);
    if (read) {
      const written = before && (await predictCommandOutputLines(before, roots));
      if (!written)
        throw new UndeterminedCommandError(message('It iterates over lines that are known only when it runs.'));
      isStraight = false;
      const inner = { ...copyOf(scope), once: false };
      for (const [name] of assignedShellVariables([command.body])) assign(name, unknownValuePlaceholders.text, inner);
      assign(read, choices.markOf({ ...written, single: true }), inner);
      return walk(command.body, inner);
    }
    if (joined || !each) isStraight = false;
    const bodies = command.kind === 'choice' ? command.parts : [...(command.condition ?? []), ...command.body];
    const scripts = command.kind === 'choice' ? command.parts : [bodies as ParsedShellScript];
    // A variable assigned anywhere in a loop may or may not be set at each use.
    for (const [name, number] of assignedShellVariables(scripts))
      assign(
        name,
        number && isNumericShellValue(scope.variables.get(name))
          ? unknownValuePlaceholders.number
          : unknownValuePlaceholders.text,
        scope,
      );
    const values: (string | undefined)[] = each ? [] : [undefined];
    for (const word of each?.values ?? []) values.push(...(await evaluate(word, scope, 'value-list')));
    for (const value of values)
      for (const script of scripts) {
        const inner = { ...copyOf(scope), once: false };
        if (each && value !== undefined) assign(each.name, value, inner);
        await walk(script, inner);
      }
    if (each) assign(each.name, unknownValuePlaceholders.text, scope);
  }

  async function moved(command: SimpleCommand, scope: Scope): Promise<string> {
    takeUnsettled();
    const [target, ...others] = await evaluate(command.words[1]!, scope, 'words');
    if (takeUnsettled() || !isStaticShellWord(target!) || target === '' || target!.startsWith('-') || others.length > 0)
      throw new UndeterminedCommandError(message('Could not determine where it runs.'));
    // The shell resolves `..` by the logical path, the disk by the real path: the results differ behind a link.
    if (/(^|\/)\.\.(\/|$)/.test(scope.moved ? target! : target!.replace(/^(\.\.\/?)+/, '')))
      throw new UndeterminedCommandError(message('{0} goes up and down.', target!));
    scope.moved = true;
    const resolved = await resolvePath(roots, paths.resolve(scope.folder, target!), 'list');
    if (resolved.mount) throw new UndeterminedCommandError(message('It runs outside the open folders.'));
    return resolved.path;
  }

  /** Assigns only variables without a meaning for programs or shells. */
  function assign(name: string, value: string, scope: Scope): void {
    if (!/^[a-z][a-z0-9]{0,20}$/.test(name) || environment[name] !== undefined || shellNames.has(name))
      throw new UndeterminedCommandError(message('It sets {0}, which may change the behavior of programs.', name));
    scope.variables.set(name, value);
  }

  /** Expands one word. `value`: an assignment, without globbing and splitting; `value-list`: words of `for`, in any number. */
  async function evaluate(
    word: ParsedShellWord,
    scope: Scope,
    as: 'words' | 'value' | 'value-list',
  ): Promise<string[]> {
    if (as === 'value-list' && word.length === 1 && 'script' in word[0]! && isNumericSubstitution(word[0])) {
      isStraight = false;
      return [unknownValuePlaceholders.number];
    }
    let text = '';
    let pattern = '';
    for (const piece of word) {
      const value = await textOf(piece, scope, as, word.length === 1);
      text += value;
      pattern += 'glob' in piece ? piece.glob : value.replace(/[\\*?[\]{}]/g, '\\$&');
    }
    // Output of a substitution splits at blanks and joins adjacent text.
    if (as === 'value-list' && word.some((piece) => 'script' in piece && !piece.quoted)) {
      const listed = choices.of(text);
      return [listed ? choices.markOf({ ...listed, single: true }) : unknownValuePlaceholders.text];
    }
    if (as === 'value' || !word.some((piece) => 'glob' in piece)) return [text];
    if (!isStaticShellWord(text))
      throw new UndeterminedCommandError(message('{0} may be any name.', formatShellWordForDisplay(text)));
    const found = await expandWord(pattern, scope.folder);
    if (!found) throw new UndeterminedCommandError(message('{0} matches too much to be checked.', text));
    const [first] = word;
    // A glob without a match stays literal now, but may match at execution.
    const matches = found.length !== 1 || found[0] !== text;
    const isOption = text.startsWith('-');
    if (isOption ? matches : found.some((one) => one.startsWith('-')))
      throw new UndeterminedCommandError(message('{0} may be any option.', text));
    if (isOption) return found;
    // Hidden names often are secrets and settings, so such a glob counts as matching them.
    if (!matches && /(^|\/)\./.test(text.replace(/^(\.\.?\/)+/, '')))
      throw new UndeterminedCommandError(message('{0} matches nothing yet.', text));
    const isOpen = !('text' in first! && first.text !== ''); // a matching name could look like an option
    if (as === 'value-list' && (isOpen || !matches))
      throw new UndeterminedCommandError(
        matches ? message('{0} may be any name.', text) : message('{0} matches nothing.', text),
      );
    if (isOpen) unsettled = 'options';
    else if (!matches) unsettled ??= 'names';
    return found;
  }

  async function computed([pipeline, ...others]: ParsedShellScript, scope: Scope): Promise<string | undefined> {
    const [command, ...more] = pipeline!.commands;
    if (others.length > 0 || more.length > 0 || pipeline!.negated || command!.kind !== 'simple') return undefined;
    const { words, assignments, stdout } = command!;
    const name = words[0]?.length === 1 && 'text' in words[0][0]! ? words[0][0].text : '';
    if (assignments.length > 0 || stdout !== 'out' || !/^(basename|dirname|pwd)$/.test(name)) return undefined;
    if (words.slice(1).some((word) => word.some((piece) => 'script' in piece || 'glob' in piece))) return undefined;
    const parts: string[] = [];
    for (const word of words.slice(1)) parts.push(...(await evaluate(word, scope, 'words')));
    if (!parts.every(isStaticShellWord) || parts.some((word) => word.startsWith('-') || word === '')) return undefined;
    if (name === 'pwd') return parts.length === 0 ? scope.folder : undefined;
    const [path, suffix] = parts;
    if (path === undefined || parts.length > (name === 'basename' ? 2 : 1)) return undefined;
    const base = paths.posix.basename(path);
    if (name === 'dirname') return paths.posix.dirname(path);
    return suffix !== undefined && base !== suffix && base.endsWith(suffix) ? base.slice(0, -suffix.length) : base;
  }

  async function textOf(piece: ShellPiece, scope: Scope, as: string, alone: boolean): Promise<string> {
    if ('text' in piece) return piece.text;
    if ('glob' in piece) return piece.glob;
    if ('number' in piece) {
      for (const name of piece.number)
        if (!isNumericShellValue(scope.variables.get(name)))
          throw new UndeterminedCommandError(message('It calculates with {0}, which may not be a number.', name));
      return unknownValuePlaceholders.number;
    }
    if ('script' in piece) {
      isStraight = false;
      if (
        piece.as === 'text' &&
        isNumericSubstitution(piece) &&
        isLiteralWord((piece.script[0]!.commands[0] as SimpleCommand).words[0]!, 'nproc')
      )
        return unknownValuePlaceholders.number;
      const known = piece.as === 'text' ? await computed(piece.script, scope) : undefined;
      if (known !== undefined && (piece.quoted || as === 'value' || /^[\w@%+=:,./-]+$/.test(known))) return known;
      const begin = steps.length;
      const around = unsettled;
      await walk(piece.script, { ...copyOf(scope), piped: false });
      unsettled = around;
      isStraight = false;
      if (piece.as === 'text' && isOnePipeline(piece.script, steps.length - begin)) {
        const inner = steps.slice(begin);
        if (isCountingPipeline(inner)) return unknownValuePlaceholders.number;
        const written = await predictCommandOutputLines(inner, roots);
        const isOneWord = written && (written.single || (alone && !piece.quoted));
        if (isOneWord && (as !== 'value' || alone)) return choices.markOf(written);
      }
      if (piece.as === 'file' && alone) return unknownValuePlaceholders.file;
      if (piece.as === 'file' || (!piece.quoted && as === 'words'))
        throw new UndeterminedCommandError(message('It uses the output of a command as arguments.'));
      return unknownValuePlaceholders.text;
    }
    const known = scope.variables.get(piece.variable);
    if (known === undefined) throw new UndeterminedCommandError(message('It uses {0}.', `$${piece.variable}`));
    const value =
      piece.suffix !== undefined && known.endsWith(piece.suffix) ? known.slice(0, -piece.suffix.length) : known;
    const listed = choices.of(value);
    if (listed && !listed.single && (piece.quoted || !alone || as === 'value')) return unknownValuePlaceholders.text;
    if (
      !piece.quoted &&
      as !== 'value' &&
      (/^$|[\s*?[\]\\{}~]/.test(value) || value.includes(unknownValuePlaceholders.text))
    )
      throw new UndeterminedCommandError(message('{0} may be several words.', `$${piece.variable}`));
    return value;
  }
}

const copyOf = (scope: Scope): Scope => ({ ...scope, variables: new Map(scope.variables), once: true });

const isChangeOfFolder = ({ words, assignments, stderr, stdout }: SimpleCommand): boolean =>
  words.length === 2 &&
  assignments.length === 0 &&
  stderr === 'err' &&
  stdout === 'out' &&
  isLiteralWord(words[0]!, 'cd');

const isAssignment = (command: ShellCommand): boolean => command.kind === 'simple' && command.words.length === 0;

const shellNames = new Set(['histchars']);
