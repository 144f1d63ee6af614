import * as paths from 'node:path';
import { maxJsonBytes, parseLimitedJson } from '../../core/parseLimits.ts';
import type { WorkspaceRoot } from '../../core/workspace.ts';
import { resolvePath } from '../../sandbox/paths.ts';
import { readPlain } from '../../sandbox/regularFile.ts';
import { isPath, pathInWord, saysTests } from './values.ts';

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

/** Words that a program takes: only files of tests, because it runs what it is given, or any; undefined for a program that is not known. */
export type Takes = (program: string) => 'tests' | 'any' | undefined;

/**
 * Tells whether operands are harmless behind the text of a script. An interpreter, or a runner of tests that loads whatever it is given,
 * would run a file that is named: it has to call itself a test. Behind a program that is not known no other file of code is named.
 */
export async function allowsAppended(
  { file, name, operands, elsewhere }: ScriptCall,
  folder: string,
  roots: readonly WorkspaceRoot[],
  takes: Takes,
): Promise<boolean> {
  if (operands.length === 0) return true;
  const scripts = elsewhere ? undefined : await scriptsOf(file, folder, roots);
  const taken = scripts && takenBy(scripts, name, takes);
  const isTest = (word: string) => isPath(word) && saysTests(pathInWord(word));
  return taken === 'any' || operands.every((word) => isTest(word) || (taken === undefined && !codeFile.test(word)));
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

/** Words that the end of a script takes, to which they are appended: its last command, or the script that this runs. */
function takenBy(scripts: Scripts, name: string, takes: Takes, seen: readonly string[] = []): ReturnType<Takes> {
  const script = Object.hasOwn(scripts, name) ? scripts[name] : undefined;
  const texts = (Array.isArray(script) ? script : [script]).filter((one) => typeof one === 'string');
  if (texts.length === 0) return 'any'; // there is nothing to run
  return strictest(
    texts.map((text) => {
      const words = text
        .split(/&&|\|\||[;|&\n]/)
        .at(-1)!
        .split(/[\s"'()]+/)
        .filter(Boolean);
      const others = words
        .map((word) => word.replace(/^@/, ''))
        .filter((word) => word !== name && !seen.includes(word) && Object.hasOwn(scripts, word))
        .map((other) => takenBy(scripts, other, takes, [...seen, name]));
      const programs = words.map((word, at) => takenByProgram(word, words.slice(at + 1), takes));
      if ([...others, ...programs].includes('tests')) return 'tests';
      return others.length > 0 ? strictest(others) : programs.find(Boolean);
    }),
  );
}

function strictest(all: readonly ReturnType<Takes>[]): ReturnType<Takes> {
  if (all.includes('tests')) return 'tests';
  return all.includes(undefined) ? undefined : 'any';
}

/** @param words behind the program in a script */
function takenByProgram(word: string, words: readonly string[], takes: Takes): ReturnType<Takes> {
  if (word.startsWith('-')) return undefined;
  const program = paths.posix.basename(word);
  if (starters.has(program)) return 'tests';
  if (!interpreters.has(program)) return takenByName(program, takes);
  const isValue = (at: number) => takesValue.test(words[at - 1] ?? '');
  const isOwn = (one: string, at: number) => !one.startsWith('-') && !isValue(at);
  return words.some((one) => takesCode.test(one)) || !words.some(isOwn) ? 'tests' : undefined;
}

/** `mocha.js`, `mocha@10`, `_mocha` and `ts-mocha` are forms of one program. */
function takenByName(name: string, takes: Takes): ReturnType<Takes> {
  const plain = name.replace(/(?<=.)@.*|\.[cm]?js$/g, '');
  const parts = [plain, ...plain.split(/[-_]/)].map(takes);
  return parts.includes('tests') ? 'tests' : parts[0];
}

/** Scripts of the nearest such file in the folder or above it; undefined when it cannot be read. */
async function scriptsOf(
  file: ScriptFile,
  folder: string,
  roots: readonly WorkspaceRoot[],
): Promise<Scripts | undefined> {
  for (let place = folder; ; place = paths.dirname(place)) {
    const found = await resolvePath(roots, paths.join(place, file), 'read').catch(() => undefined);
    if (found?.kind === 'file') {
      try {
        const text = (await readPlain(found.path, maxJsonBytes)).toString();
        return Object((parseLimitedJson(text) as { scripts?: unknown }).scripts) as Scripts;
      } catch {
        return undefined;
      }
    }
    if (roots.some(({ path }) => path === place) || paths.dirname(place) === place) return {};
  }
}
