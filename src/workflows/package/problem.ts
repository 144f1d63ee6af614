import type * as z from 'zod';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { joined, type LocalizableText, toErrorInfo, UserFacingError, unended } from '../../protocol/text/localized.ts';
import { jsonTrouble } from '../../tools/core/parseLimits.ts';
import { zodIssueText } from '../../tools/core/zodIssueText.ts';

/** What is wrong in one file of a package: the place in it, and what is wrong there, to be a part of a sentence. */
export interface PackageProblem {
  file: string;
  problem: string;
  /** What it is made of. */
  said?: LocalizedMessage;
}

export const problemIn = (file: string, words: LocalizableText): PackageProblem => {
  const { message: problem, ...said } = toErrorInfo(words);
  return { file, problem, ...said };
};

const wordsAbout = ({ problem, said }: PackageProblem): LocalizableText => said ?? problem;

/** Why a package cannot be used: what is wrong in its files, in the order in which they were read. */
export class PackageError extends UserFacingError {
  override readonly name = 'PackageError';
  /** What is wrong first. */
  readonly first: PackageProblem;

  constructor(
    readonly file: string,
    words: LocalizableText,
    /** What else is wrong. */
    readonly others: readonly PackageProblem[] = [],
  ) {
    const first = problemIn(file, words);
    super(inOne([first, ...others]));
    this.first = first;
  }

  static of = ({ others, ...first }: PackageProblem & { others?: readonly PackageProblem[] }): PackageError =>
    new PackageError(first.file, wordsAbout(first), others);

  get problem(): string {
    return this.first.problem;
  }

  get problems(): PackageProblem[] {
    return [this.first, ...this.others];
  }
}

const mostTold = 20;

function inOne(problems: readonly PackageProblem[]): LocalizableText {
  const told = problems.slice(0, mostTold).map((one) => joined([one.file, unended(wordsAbout(one))], ': '));
  return andMore(joined(told, '; '), problems.length - mostTold);
}

const andMore = (told: LocalizableText, more: number): LocalizableText =>
  more > 0 ? message('{0}; and {1} more', told, more) : told;

/** Everything that is wrong with a package: each part is looked at, whatever became of the others. */
export class PackageFindings {
  private readonly problems: PackageProblem[] = [];

  add(file: string, words: LocalizableText): void {
    const found = problemIn(file, unended(words));
    if (!this.problems.some((one) => one.file === file && one.problem === found.problem)) this.problems.push(found);
  }

  /** What `look` gives; undefined when that part cannot be used, which is noted. */
  async in<Value>(look: () => Value | Promise<Value>): Promise<Value | undefined> {
    try {
      return await look();
    } catch (error) {
      if (!(error instanceof PackageError)) throw error;
      for (const one of error.problems) this.add(one.file, wordsAbout(one));
      return undefined;
    }
  }

  /** Throws `PackageError` with all of it, when there is any. */
  check(): void {
    const [first, ...others] = this.problems;
    if (first) throw PackageError.of({ ...first, others });
  }
}

/** The text as JSON, of any shape. Throws `PackageError`. */
export function parsePackageJson(file: string, text: string): unknown {
  const trouble = jsonTrouble(text);
  if (trouble) throw new PackageError(file, trouble.message);
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    throw new PackageError(file, message('not valid JSON: {0}', (error as Error).message));
  }
}

/** A value of this shape. Throws `PackageError` with the paths of the first values that do not fit. */
export function shaped<Schema extends z.ZodType>(file: string, value: unknown, schema: Schema): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const told = joined(issues.slice(0, mostOfFile).map(wordsOfIssue), '; ');
  throw new PackageError(file, andMore(told, issues.length - mostOfFile));
}

/** A schema’s own words may be ours, and have a translation then. */
function wordsOfIssue(issue: z.core.$ZodIssue): LocalizableText {
  const whole = zodIssueText(issue);
  if (!whole.endsWith(issue.message)) return whole;
  const { said = { english: issue.message } } = (issue.code === 'custom' && issue.params) || {};
  return joined([whole.slice(0, whole.length - issue.message.length), said], '');
}

const mostOfFile = 8;
