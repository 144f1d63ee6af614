import { message } from '../../protocol/text/l10n.ts';
import type { WorkspaceRoot } from '../core/workspace.ts';
import { type ResolvedProgramInvocation, UndeterminedCommandError, unknownValuePlaceholders } from './commandStep.ts';
import { type PredictedCommandOutputLines, predictCommandOutputLines } from './predictedLines.ts';

const maxNames = 60;
const mark = new RegExp(`${unknownValuePlaceholders.choice}(\\d+)${unknownValuePlaceholders.choice}`, 'g');
const onlyMark = new RegExp(`^${unknownValuePlaceholders.choice}(\\d+)${unknownValuePlaceholders.choice}$`);

/** Names passed between commands of one script; words contain a mark instead. */
export class PossibleFileNames {
  private readonly all: PredictedCommandOutputLines[] = [];

  constructor(private readonly roots: readonly WorkspaceRoot[]) {}

  markOf(written: PredictedCommandOutputLines): string {
    this.all.push(written);
    return `${unknownValuePlaceholders.choice}${this.all.length - 1}${unknownValuePlaceholders.choice}`;
  }

  of(word: string): PredictedCommandOutputLines | undefined {
    return this.all[Number(onlyMark.exec(word)?.[1] ?? Number.NaN)];
  }

  stepsOf(step: ResolvedProgramInvocation): ResolvedProgramInvocation[] {
    const [found, ...others] = new Set([...step.words, ...step.variables.flat()].join(' ').match(mark));
    if (found === undefined) return [step];
    if (step.words[0]?.includes(found))
      throw new UndeterminedCommandError(message('It starts the output of a command.'));
    if (others.length > 0) throw new UndeterminedCommandError(message('It uses the names of several lists at once.'));
    const { lines, single } = this.of(found)!;
    if (single && lines.length > maxNames)
      throw new UndeterminedCommandError(message('It may expand to too many names.'));
    if (!single && [...step.words, ...step.variables.flat()].some((word) => word.includes(found) && word !== found))
      throw new UndeterminedCommandError(message('It uses the output of a command as arguments.'));
    const given = single ? lines.map((line) => [line]) : lines.length > 1 ? [lines, [...lines].reverse()] : [lines];
    return [[], ...given.filter((names) => names.length > 0)].map((names) => ({
      ...step,
      unsettled: step.unsettled ?? 'names',
      words: step.words.flatMap((word) => (word === found ? names : [word.replaceAll(found, names[0] ?? '')])),
      variables: step.variables.map(([name, value]) => [name, value.replaceAll(found, names[0] ?? '')]),
    }));
  }

  /**
   * Returns the commands that `xargs` and `find -exec` start with the names; undefined for other steps.
   * @param before preceding steps of the pipeline; undefined if not only programs
   */
  async startedBy(
    step: ResolvedProgramInvocation,
    before: readonly ResolvedProgramInvocation[] | undefined,
  ): Promise<ResolvedProgramInvocation[] | undefined> {
    const [program, ...args] = step.words;
    if (program === 'xargs') return [await this.byXargs(step, args, before)];
    return program === 'find' && args.some((word) => /^-(exec|ok)(dir)?$/.test(word)) ? this.byFind(step) : undefined;
  }

  private async byFind(step: ResolvedProgramInvocation): Promise<ResolvedProgramInvocation[]> {
    const { words } = step;
    const at = words.indexOf('-exec');
    const started = words.slice(at + 1, -1);
    const end = words.at(-1);
    const placeholders = started.filter((word) => word.includes('{}'));
    const isLast = placeholders.length === 1 && started.at(-1) === '{}';
    if (
      at < 0 ||
      started[0] === undefined ||
      started[0].includes('{}') ||
      started.includes(';') ||
      !(end === ';' || (end === '+' && isLast))
    )
      throw new UndeterminedCommandError(message('It starts more than can be checked.'));
    const finding: ResolvedProgramInvocation = { ...step, words: words.slice(0, at) };
    const written = await predictCommandOutputLines(
      [{ ...finding, piped: false, stdout: 'out', stderr: 'err' }],
      this.roots,
    );
    if (!written)
      throw new UndeterminedCommandError(message('It starts something for more names than can be checked.'));
    const names = this.markOf({ ...written, single: end === ';' });
    return [finding, ...this.stepsOf({ ...step, words: started.map((word) => word.replaceAll('{}', names)) })];
  }

  private async byXargs(
    step: ResolvedProgramInvocation,
    args: readonly string[],
    before: readonly ResolvedProgramInvocation[] | undefined,
  ): Promise<ResolvedProgramInvocation> {
    const written = before && (await predictCommandOutputLines(before, this.roots));
    if (!written)
      throw new UndeterminedCommandError(message('It starts something with names that are known only when it runs.'));
    let at = 0;
    let placeholder: string | undefined;
    let each = false;
    for (; args[at]?.startsWith('-'); at++) {
      const option = /^-[nPLI]$/.test(args[at]!) ? `${args[at]}${args[++at]}` : args[at]!;
      if (/^-I[{}%@A-Z]+$/.test(option)) placeholder = option.slice(2);
      else if (/^-[nL]\d+$/.test(option)) each ||= Number(option.slice(2)) === 1;
      else if (!/^(-0|-r|-t|-0r|-r0|--null|--no-run-if-empty|-P\d+)$/.test(option))
        throw new UndeterminedCommandError(message('The option {0} of xargs is unknown.', option));
    }
    const command = args.slice(at);
    if (command[0] === undefined || (placeholder !== undefined && command[0].includes(placeholder)))
      throw new UndeterminedCommandError(message('xargs has no command to start.'));
    const names = this.markOf({ ...written, single: placeholder !== undefined || each });
    const words =
      placeholder === undefined ? [...command, names] : command.map((word) => word.replaceAll(placeholder, names));
    return { ...step, words, piped: false };
  }
}
