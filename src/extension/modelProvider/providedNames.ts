import { createHash } from 'node:crypto';
import path from 'node:path';

/** What each model file is called towards others, who need not know where it lies; the same as long as no other file has its name. */
export function localNames(files: readonly string[]): Map<string, string> {
  const nameOf = (file: string) => path.basename(file, '.gguf');
  const isShared = (file: string) => files.some((other) => other !== file && nameOf(other) === nameOf(file));
  const mark = (file: string) => createHash('sha256').update(file).digest('hex').slice(0, 8);
  return new Map(files.map((file) => [file, isShared(file) ? `${nameOf(file)} ${mark(file)}` : nameOf(file)]));
}

/** Characters that are looked at: counting more would hold the editor up. */
const mostCounted = 400_000;
const charactersPerToken = 4;

/** Tokens of what is this long: of an enormous text roughly. */
export const tokensFor = ({ text }: { text: number }, count: () => number): number =>
  text > mostCounted ? Math.ceil(Math.min(text, Number.MAX_SAFE_INTEGER) / charactersPerToken) : count();
