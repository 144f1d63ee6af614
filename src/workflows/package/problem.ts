import type * as z from 'zod';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import {
  joinLocalizableTexts,
  type LocalizableText,
  toErrorInfo,
  UserFacingError,
  withoutFullStop,
} from '../../protocol/text/localized.ts';
import { zodIssueText } from '../../protocol/text/zodIssueText.ts';
import { checkJsonLimits } from '../../tools/core/parseLimits.ts';

/** A problem in a file of a package: its path in the file, and a phrase to complete a sentence. */
export interface PackageProblem {
  file: string;
  problem: string;
  said?: LocalizedMessage;
}

export const createPackageProblem = (file: string, text: LocalizableText): PackageProblem => {
  const { message: problem, ...said } = toErrorInfo(text);
  return { file, problem, ...said };
};

const problemText = ({ problem, said }: PackageProblem): LocalizableText => said ?? problem;

export class PackageError extends UserFacingError {
  override readonly name = 'PackageError';
  readonly first: PackageProblem;

  constructor(
    readonly file: string,
    text: LocalizableText,
    readonly others: readonly PackageProblem[] = [],
  ) {
    const first = createPackageProblem(file, text);
    super(inOne([first, ...others]));
    this.first = first;
  }

  static of = ({ others, ...first }: PackageProblem & { others?: readonly PackageProblem[] }): PackageError =>
    new PackageError(first.file, problemText(first), others);

  get problem(): string {
    return this.first.problem;
  }

  get problems(): PackageProblem[] {
    return [this.first, ...this.others];
  }
}

const maxListed = 20;

function inOne(problems: readonly PackageProblem[]): LocalizableText {
  const listed = problems
    .slice(0, maxListed)
    .map((one) => joinLocalizableTexts([one.file, withoutFullStop(problemText(one))], ': '));
  return andMore(joinLocalizableTexts(listed, '; '), problems.length - maxListed);
}

const andMore = (listed: LocalizableText, more: number): LocalizableText =>
  more > 0 ? message('{0}; and {1} more', listed, more) : listed;

export class PackageFindings {
  private readonly problems: PackageProblem[] = [];

  add(file: string, text: LocalizableText): void {
    const found = createPackageProblem(file, withoutFullStop(text));
    if (!this.problems.some((one) => one.file === file && one.problem === found.problem)) this.problems.push(found);
  }

  /** Returns the result of `look`; on an error, records the problem and returns undefined. */
  async in<Value>(look: () => Value | Promise<Value>): Promise<Value | undefined> {
    try {
      return await look();
    } catch (error) {
      if (!(error instanceof PackageError)) throw error;
      for (const one of error.problems) this.add(one.file, problemText(one));
      return undefined;
    }
  }

  check(): void {
    const [first, ...others] = this.problems;
    if (first) throw PackageError.of({ ...first, others });
  }
}

export function parseWorkflowPackageJson(file: string, text: string): unknown {
  const trouble = checkJsonLimits(text);
  if (trouble) throw new PackageError(file, trouble.message);
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    throw new PackageError(file, message('not valid JSON: {0}', (error as Error).message));
  }
}

/** Validates a value. Throws `PackageError` with the paths of the first invalid values. */
export function validatePackageValue<Schema extends z.ZodType>(
  file: string,
  value: unknown,
  schema: Schema,
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const listed = joinLocalizableTexts(issues.slice(0, maxOfFile).map(issueMessage), '; ');
  throw new PackageError(file, andMore(listed, issues.length - maxOfFile));
}

/** Returns the localizable message of a schema issue, if the message is ours. */
function issueMessage(issue: z.core.$ZodIssue): LocalizableText {
  const whole = zodIssueText(issue);
  if (!whole.endsWith(issue.message)) return whole;
  const { said = { english: issue.message } } = (issue.code === 'custom' && issue.params) || {};
  return joinLocalizableTexts([whole.slice(0, whole.length - issue.message.length), said], '');
}

const maxOfFile = 8;
