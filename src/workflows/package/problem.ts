import type * as z from 'zod';
import { jsonTrouble } from '../../tools/bounds.ts';
import { inWords } from '../../tools/inWords.ts';

/** Why a package cannot be used: the file in it, the place in that file, and what is wrong there, to be a part of a sentence. */
export class PackageError extends Error {
  override readonly name = 'PackageError';
  constructor(
    readonly file: string,
    readonly problem: string,
  ) {
    super(`${file}: ${problem.replace(/\.$/, '')}`);
  }
}

/** The text as JSON of this shape. Throws `PackageError` with the path of the first value that does not fit. */
export function parseJson<Schema extends z.ZodType>(file: string, text: string, schema: Schema): z.output<Schema> {
  let value: unknown;
  const trouble = jsonTrouble(text);
  if (trouble) throw new PackageError(file, trouble.message);
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    throw new PackageError(file, `not valid JSON: ${(error as Error).message}`);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new PackageError(file, parsed.error.issues.slice(0, 3).map(inWords).join('; '));
}
