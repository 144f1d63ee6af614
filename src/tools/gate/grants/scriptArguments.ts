import * as paths from 'node:path';
import { mostBytes, parseJson } from '../../bounds.ts';
import type { WorkspaceRoot } from '../../workspace.ts';
import { resolvePath } from '../paths.ts';
import { readPlain } from '../plainFile.ts';
import { isPath, placeOf, saysTests } from './values.ts';

/** Files with scripts of the project, to which their runners append arguments. */
export const scriptFiles = ['package.json', 'composer.json'] as const;
export type ScriptFile = (typeof scriptFiles)[number];

/** Call of a script with words that are appended to its text. */
export interface ScriptCall {
  file: ScriptFile;
  name: string;
  /** Appended words that are no options. */
  operands: readonly string[];
  /** Its options choose packages other than the one of the folder. */
  elsewhere: boolean;
}

/**
 * Tells whether operands are harmless behind the text of a script. An interpreter, or a runner of tests that loads whatever it is given,
 * would run a file that is named: it has to call itself a test. Behind a script that is not known no file of code is named.
 * @param runsFiles a program runs the files that it is given
 */
export async function allowsAppended(
  { file, name, operands, elsewhere }: ScriptCall,
  folder: string,
  roots: readonly WorkspaceRoot[],
  runsFiles: (program: string) => boolean,
): Promise<boolean> {
  if (operands.length === 0) return true;
  const isTest = (word: string) => isPath(word) && saysTests(placeOf(word));
  if (elsewhere) return operands.every((word) => isTest(word) || !codeFile.test(word));
  const scripts = await scriptsOf(file, folder, roots);
  return !endsWithRunner(scripts, name, runsFiles) || operands.every(isTest);
}

const codeFile = /\.([cm]?[jt]sx?|py|rb|php|sh|pl)$/i;

/** Programs that run the file that they are given first. */
const interpreters = new Set(
  'node tsx ts-node ts-node-esm python python3 ruby php @php perl sh bash zsh dash'.split(' '),
);
/** Programs that take whatever follows for something to run. */
const starters = new Set('bun deno eval env xargs'.split(' '));
const takesCode = /^(-c|-e|-p|--eval|--print)$/;
const takesValue = /^(-r|-C|--require|--import|--loader|--experimental-loader|--conditions|--env-file|-I|-W|-m)$/;

type Scripts = Partial<Record<string, unknown>>;

/** The command at the end of a script, to which arguments are appended, runs the files that it is given; directly or by another script. */
function endsWithRunner(
  scripts: Scripts,
  name: string,
  runsFiles: (program: string) => boolean,
  seen: readonly string[] = [],
): boolean {
  const script = Object.hasOwn(scripts, name) ? scripts[name] : undefined;
  const texts = (Array.isArray(script) ? script : [script]).filter((one) => typeof one === 'string');
  return texts.some((text) => {
    const last = text.split(/&&|\|\||[;|\n]/).at(-1)!;
    const words = last.split(/[\s"']+/).map((word) => paths.posix.basename(word));
    const others = words.map((word) => word.replace(/^@/, '')).filter((word) => word !== name && !seen.includes(word));
    return (
      words.some((word, at) => runsNextFile(word, words.slice(at + 1), runsFiles)) ||
      others.some((other) => endsWithRunner(scripts, other, runsFiles, [...seen, name]))
    );
  });
}

/** The program runs the first file behind the words that it is given in a script. */
function runsNextFile(program: string, words: readonly string[], runsFiles: (program: string) => boolean): boolean {
  if (!interpreters.has(program)) return starters.has(program) || runsFiles(program);
  const isValue = (at: number) => takesValue.test(words[at - 1] ?? '');
  if (words.some((word) => takesCode.test(word))) return true;
  const own = words.find((word, at) => word !== '' && !word.startsWith('-') && !isValue(at));
  return own === undefined || runsFiles(own.replace(/\.\w+$/, ''));
}

/** Scripts of the nearest such file in the folder or above it; none when it cannot be read. */
async function scriptsOf(file: ScriptFile, folder: string, roots: readonly WorkspaceRoot[]): Promise<Scripts> {
  for (let place = folder; ; place = paths.dirname(place)) {
    const found = await resolvePath(roots, paths.join(place, file), 'read').catch(() => undefined);
    if (found?.kind === 'file') {
      const text = await readPlain(found.path, mostBytes).then(String, () => '{}');
      try {
        return Object((parseJson(text) as { scripts?: unknown }).scripts) as Scripts;
      } catch {
        return {};
      }
    }
    if (roots.some(({ path }) => path === place) || paths.dirname(place) === place) return {};
  }
}
