import type * as z from 'zod';
import { jsonTrouble } from '../../tools/bounds.ts';
import { inWords } from '../../tools/inWords.ts';

/** What is wrong in one file of a package: the place in it, and what is wrong there, to be a part of a sentence. */
export interface PackageProblem {
  file: string;
  problem: string;
}

/** Why a package cannot be used: what is wrong in its files, in the order in which they were read. */
export class PackageError extends Error {
  override readonly name = 'PackageError';
  constructor(
    readonly file: string,
    readonly problem: string,
    /** What else is wrong. */
    readonly others: readonly PackageProblem[] = [],
  ) {
    super(inOne([{ file, problem }, ...others]));
  }

  get problems(): PackageProblem[] {
    return [{ file: this.file, problem: this.problem }, ...this.others];
  }
}

const mostTold = 20;

function inOne(problems: readonly PackageProblem[]): string {
  const told = problems.slice(0, mostTold).map(({ file, problem }) => `${file}: ${problem.replace(/\.$/, '')}`);
  return told.join('; ') + (problems.length > mostTold ? `; and ${problems.length - mostTold} more` : '');
}

/** Everything that is wrong with a package: each part is looked at, whatever became of the others. */
export class Findings {
  private readonly problems: PackageProblem[] = [];

  add(file: string, said: string): void {
    const problem = said.replace(/\.$/, '');
    if (!this.problems.some((one) => one.file === file && one.problem === problem))
      this.problems.push({ file, problem });
  }

  /** What `look` gives; undefined when that part cannot be used, which is noted. */
  async in<Value>(look: () => Value | Promise<Value>): Promise<Value | undefined> {
    try {
      return await look();
    } catch (error) {
      if (!(error instanceof PackageError)) throw error;
      for (const { file, problem } of error.problems) this.add(file, problem);
      return undefined;
    }
  }

  /** Throws `PackageError` with all of it, when there is any. */
  check(): void {
    const [first, ...others] = this.problems;
    if (first) throw new PackageError(first.file, first.problem, others);
  }
}

/** The text as JSON, of any shape. Throws `PackageError`. */
export function readJson(file: string, text: string): unknown {
  const trouble = jsonTrouble(text);
  if (trouble) throw new PackageError(file, trouble.message);
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    throw new PackageError(file, `not valid JSON: ${(error as Error).message}`);
  }
}

/** A value of this shape. Throws `PackageError` with the paths of the first values that do not fit. */
export function shaped<Schema extends z.ZodType>(file: string, value: unknown, schema: Schema): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const more = issues.length > mostOfFile ? `; and ${issues.length - mostOfFile} more` : '';
  throw new PackageError(file, issues.slice(0, mostOfFile).map(inWords).join('; ') + more);
}

const mostOfFile = 8;
