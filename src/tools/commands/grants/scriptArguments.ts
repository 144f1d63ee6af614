import * as paths from 'node:path';
import { maxJsonBytes, parseLimitedJson } from '../../core/parseLimits.ts';
import type { WorkspaceRoot } from '../../core/workspace.ts';
import { resolvePath } from '../../sandbox/paths.ts';
import { readRegularFile } from '../../sandbox/regularFile.ts';
import { isPathArgument, isTestPath, pathOfTestSelector } from './values.ts';

/** Files with scripts of the project; runners append arguments to the scripts. */
export const projectScriptFiles = ['package.json', 'composer.json'] as const;
export type ProjectScriptFile = (typeof projectScriptFiles)[number];

/**
 * Call of a script with arguments appended to its text. `operands` are the appended arguments without options. `elsewhere`: options select
 * other packages.
 */
export interface ProjectScriptCall {
  file: ProjectScriptFile;
  name: string;
  operands: readonly string[];
  elsewhere: boolean;
}

/** Accepted arguments of a program: only test files (because the program executes files), or any; undefined for an unknown program. */
export type AcceptedArgumentsLookup = (program: string) => 'tests' | 'any' | undefined;

/**
 * Tests if operands are harmless after the text of a script. An interpreter or a test runner would execute a named file, so the name must
 * mark a test. For an unknown program, no other code file may be named.
 */
export async function allowsScriptArguments(
  { file, name, operands, elsewhere }: ProjectScriptCall,
  folder: string,
  roots: readonly WorkspaceRoot[],
  takes: AcceptedArgumentsLookup,
): Promise<boolean> {
  if (operands.length === 0) return true;
  const scripts = elsewhere ? undefined : await scriptsOf(file, folder, roots);
  const taken = scripts && takenBy(scripts, name, takes);
  const isTest = (word: string) => isPathArgument(word) && isTestPath(pathOfTestSelector(word));
  return taken === 'any' || operands.every((word) => isTest(word) || (taken === undefined && !codeFile.test(word)));
}

const codeFile = /\.([cm]?[jt]sx?|py|rb|php|sh|pl)$/i;

const interpreters = new Set(
  'node tsx ts-node ts-node-esm python python3 ruby php @php perl sh bash zsh dash'.split(' '),
);
const starters = new Set('bun deno eval env xargs'.split(' '));
const takesCode = /^(-c|-e|-p|--eval|--print)$/;
const takesValue = /^(-r|-C|--require|--import|--loader|--experimental-loader|--conditions|--env-file|-I|-W|-m)$/;

type Scripts = Partial<Record<string, unknown>>;

function takenBy(
  scripts: Scripts,
  name: string,
  takes: AcceptedArgumentsLookup,
  seen: readonly string[] = [],
): ReturnType<AcceptedArgumentsLookup> {
  const script = Object.hasOwn(scripts, name) ? scripts[name] : undefined;
  const texts = (Array.isArray(script) ? script : [script]).filter((one) => typeof one === 'string');
  if (texts.length === 0) return 'any'; // nothing runs
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

function strictest(all: readonly ReturnType<AcceptedArgumentsLookup>[]): ReturnType<AcceptedArgumentsLookup> {
  if (all.includes('tests')) return 'tests';
  return all.includes(undefined) ? undefined : 'any';
}

function takenByProgram(
  word: string,
  words: readonly string[],
  takes: AcceptedArgumentsLookup,
): ReturnType<AcceptedArgumentsLookup> {
  if (word.startsWith('-')) return undefined;
  const program = paths.posix.basename(word);
  if (starters.has(program)) return 'tests';
  if (!interpreters.has(program)) return takenByName(program, takes);
  const isValue = (at: number) => takesValue.test(words[at - 1] ?? '');
  const isOwn = (one: string, at: number) => !one.startsWith('-') && !isValue(at);
  return words.some((one) => takesCode.test(one)) || !words.some(isOwn) ? 'tests' : undefined;
}

function takenByName(name: string, takes: AcceptedArgumentsLookup): ReturnType<AcceptedArgumentsLookup> {
  const plain = name.replace(/(?<=.)@.*|\.[cm]?js$/g, '');
  const parts = [plain, ...plain.split(/[-_]/)].map(takes);
  return parts.includes('tests') ? 'tests' : parts[0];
}

async function scriptsOf(
  file: ProjectScriptFile,
  folder: string,
  roots: readonly WorkspaceRoot[],
): Promise<Scripts | undefined> {
  for (let ancestor = folder; ; ancestor = paths.dirname(ancestor)) {
    const found = await resolvePath(roots, paths.join(ancestor, file), 'read').catch(() => undefined);
    if (found?.kind === 'file') {
      try {
        const text = (await readRegularFile(found.path, maxJsonBytes)).toString();
        return Object((parseLimitedJson(text) as { scripts?: unknown }).scripts) as Scripts;
      } catch {
        return undefined;
      }
    }
    if (roots.some(({ path }) => path === ancestor) || paths.dirname(ancestor) === ancestor) return {};
  }
}
