import { bracesOf } from '../expand.ts';
import { secretGlobs } from '../protected.ts';

/** Names of files that may hold secrets: one for each glob that says so, and what `.env` is called in use. */
const secretNames: readonly string[] = [
  ...secretGlobs
    .flatMap((glob) => bracesOf(glob) ?? [])
    .map((glob) => glob.replace(/\[\^?(.)[^\]]*\]/g, '$1').replace(/\*+/g, 'a')),
  ...['local', 'dev', 'development', 'test', 'staging', 'prod', 'production', 'ci'].map((name) => `.env.${name}`),
];

/** A glob as Git reads it, in which `*` also stands for `/`, may mean a file that holds secrets. */
export function mayBeSecret(word: string): boolean {
  if (!/[*?[\\]/.test(word)) return false;
  const pattern = word
    .replace(/\[[^\]]*\]|\\./g, '?')
    .split('')
    .map((letter) => {
      if (letter === '*') return '.*';
      return letter === '?' ? '.' : letter.replace(/[^\w/-]/g, '\\$&');
    })
    .join('')
    .replace(/(\.\*)+/g, '.*');
  if (pattern.split('.*').length > 4) return true; // matching it would take too long
  const test = new RegExp(`^${pattern}$`, 'is');
  return secretNames.some((name) => test.test(name) || test.test(name.replace(/^a\//, '')));
}
