import { createHash } from 'node:crypto';
import path from 'node:path';

/** Returns a name per model file without its folder; a name is stable unless another file has the same name. */
export function localModelNames(files: readonly string[]): Map<string, string> {
  const nameOf = (file: string) => path.basename(file, '.gguf');
  const isShared = (file: string) => files.some((other) => other !== file && nameOf(other) === nameOf(file));
  const mark = (file: string) => createHash('sha256').update(file).digest('hex').slice(0, 8);
  return new Map(files.map((file) => [file, isShared(file) ? `${nameOf(file)} ${mark(file)}` : nameOf(file)]));
}

/** Maximum counted characters, because counting blocks the extension host. */
const maxCounted = 400_000;
const charactersPerToken = 4;

/** Returns the token count; an estimate for very long text. */
export const countTextTokens = async ({ text }: { text: number }, count: () => Promise<number>): Promise<number> =>
  text > maxCounted ? Math.ceil(Math.min(text, Number.MAX_SAFE_INTEGER) / charactersPerToken) : count();
