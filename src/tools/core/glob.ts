import { createPathRefusal, quoteForMessage } from './pathSyntax.ts';
import { ToolError } from './tool.ts';

/**
 * Returns a test for workspace-relative paths. `*` and `?` stay within a name, `**` crosses folders, `[a-z]` and `{a,b}` have their usual
 * meaning; a glob without `/` matches names in every folder.
 *
 * ripgrep's `--glob` is not used because its match overrides the ignore files (`globToRipgrepExclusions` lists the exclusions). A regular expression is
 * not used because some globs would take exponential time. Throws for globs that point outside the workspace.
 */
export const createGlobMatcher = (glob: string, brackets?: GlobBracketMeaning): ((path: string) => boolean) =>
  walker(compile(parseGlobParts(glob, brackets)));

/**
 * Meaning of `[…]`, and of `{…}` without a comma: a character set and a group of one, the literal characters (frameworks name routes like
 * `app/[id]/page.tsx`), or either.
 */
export type GlobBracketMeaning = 'sets' | 'literal' | 'either';

/** Parses a glob into parts. Throws for the same globs as `createGlobMatcher`. */
export function parseGlobParts(glob: string, brackets: GlobBracketMeaning = 'sets'): GlobPart[] {
  if (/^([\\/]|[a-z]:)/i.test(glob) || glob.split(/[\\/]/).includes('..'))
    throw createPathRefusal(
      'OUTSIDE',
      `${quoteForMessage(glob)} is outside the workspace. Globs are relative to it, like "src/**/*.ts".`,
    );
  if (glob.length > 500) throw new ToolError('TOOL_ARGS_INVALID', 'The glob is too long. Use a simpler one.');
  const anchored = glob.replace(/^\.\//, '').replace(/\/$/, '/**');
  return parse(anchored.includes('/') ? anchored : `**/${anchored}`, brackets);
}

// State of the automaton. A state consumes a matching character, or (without `reads`) passes on without input. State 0 accepts.
interface State {
  reads?(letter: string): boolean;
  to: number[];
}

interface GlobState {
  states: readonly State[];
  ends: boolean;
  ascii: (GlobState | undefined)[];
  others: Map<number, GlobState>;
}

// Limit of cached state sets: some globs have very many.
const maxGlobStates = 1000;

// Follows all paths through the glob at the same time, so the duration is at most proportional to path × glob.
function walker(states: readonly State[]): (path: string) => boolean {
  let globStates = new Map<string, GlobState>();
  const globStateOf = (from: readonly number[]): GlobState => {
    const all = new Set(from);
    for (const state of all) if (!states[state]!.reads) for (const next of states[state]!.to) all.add(next);
    const key = [...all].sort().join();
    const known = globStates.get(key);
    if (known) return known;
    if (globStates.size >= maxGlobStates) globStates = new Map();
    const ascii = new Array<GlobState | undefined>(128).fill(undefined);
    const globState = { states: [...all].map((state) => states[state]!), ends: all.has(0), ascii, others: new Map() };
    globStates.set(key, globState);
    return globState;
  };
  const step = ({ states, ascii, others }: GlobState, code: number): GlobState => {
    const letter = String.fromCodePoint(code);
    const found = globStateOf(states.flatMap((state) => (state.reads?.(letter) ? state.to : [])));
    if (code < 128) ascii[code] = found;
    else others.set(code, found);
    return found;
  };
  const start = globStateOf([states.length - 1]);
  return (path) => {
    let globState = start;
    for (let at = 0; at < path.length; at++) {
      const code = path.codePointAt(at)!;
      globState = (code < 128 ? globState.ascii[code] : globState.others.get(code)) ?? step(globState, code);
      if (code > 0xffff) at++;
    }
    return globState.ends;
  };
}

function compile(parts: readonly GlobPart[]): State[] {
  const states: State[] = [{ to: [] }];
  const add = (state: State) => states.push(state) - 1;
  const many = (reads: State['reads'], next: number) => {
    const again = add({ to: [next] });
    states[again]!.to.push(add({ reads, to: [again] }));
    return again;
  };
  const before = (part: GlobPart, next: number): number => {
    if (part.kind === 'letter') return add({ reads: part.reads, to: [next] });
    if (part.kind === 'star') return many(inName, next);
    if (part.kind === 'everything') return many(() => true, next);
    if (part.kind === 'either') return add({ to: part.parts.map((one) => sequence(one, next)) });
    const again = add({ to: [next] }); // folders: any number of names, each followed by a slash
    const name = add({ reads: inName, to: [add({ reads: isSlash, to: [again] })] });
    states[name]!.to.push(name);
    states[again]!.to.push(name);
    return again;
  };
  const sequence = (parts: readonly GlobPart[], next: number) =>
    parts.reduceRight((to, part) => before(part, to), next);
  const first = sequence(parts, 0);
  add({ to: [first] });
  return states;
}

/** Parsed part of a glob. A `letter` part without `letter` matches one of several characters. */
export type GlobPart =
  | { kind: 'letter'; letter?: string; reads(letter: string): boolean }
  | { kind: 'star' | 'everything' | 'folders' }
  | { kind: 'either'; parts: GlobPart[][] };

const inName = (letter: string) => letter !== '/';
const isSlash = (letter: string) => letter === '/';

const lettersOf = (text: string): GlobPart[] =>
  [...text].map((letter) => ({ kind: 'letter', letter, reads: (one) => one === letter }));

function parse(glob: string, brackets: GlobBracketMeaning): GlobPart[] {
  const whole: GlobPart[] = [];
  const groups: GlobPart[][][] = [];
  const here = () => groups.at(-1)?.at(-1) ?? whole;
  for (let at = 0; at < glob.length; ) {
    const rest = glob.slice(at);
    const stars = /^\*\*+(\/?)/.exec(rest);
    const set = /^\[([!^]?)([^\]/]+)\]/.exec(rest);
    const group = /^\{+([^{},/]*)\}+/.exec(rest);
    const letter = String.fromCodePoint(rest.codePointAt(0)!);
    let length = letter.length;
    if (stars && (at === 0 || glob[at - 1] === '/' || groups.length > 0)) {
      here().push({ kind: stars[1] ? 'folders' : 'everything' });
      length = stars[0].length;
    } else if (set) {
      const isIn = setTest(set[2]!);
      const wanted = set[1] === '';
      const one: GlobPart = { kind: 'letter', reads: (one) => one !== '/' && isIn(one) === wanted };
      here().push(...(brackets === 'sets' ? [one] : orLiteral([one], set[0], brackets)));
      length = set[0].length;
    } else if (brackets !== 'sets' && group) {
      here().push(...orLiteral(parse(group[1]!, brackets), group[0], brackets));
      length = group[0].length;
    } else if (letter === '{' && rest.includes('}')) {
      const parts: GlobPart[][] = [[]];
      here().push({ kind: 'either', parts });
      groups.push(parts);
    } else if (letter === '}' && groups.length > 0) groups.pop();
    else if (letter === ',' && groups.length > 0) groups.at(-1)!.push([]);
    else if (letter === '*') here().push({ kind: 'star' });
    else if (letter === '?') here().push({ kind: 'letter', reads: inName });
    else here().push({ kind: 'letter', letter, reads: (one) => one === letter });
    at += length;
  }
  return whole;
}

const orLiteral = (parts: GlobPart[], text: string, brackets: GlobBracketMeaning): GlobPart[] =>
  brackets === 'literal' ? lettersOf(text) : [{ kind: 'either', parts: [parts, lettersOf(text)] }];

function setTest(inside: string): (letter: string) => boolean {
  const letters = [...inside];
  const ranges: [string, string][] = [];
  for (let at = 0; at < letters.length; at++) {
    const isRange = letters[at + 1] === '-' && letters[at + 2] !== undefined;
    ranges.push([letters[at]!, letters[isRange ? at + 2 : at]!]);
    if (isRange) at += 2;
  }
  const code = (letter: string) => letter.codePointAt(0)!;
  return (letter) => ranges.some(([from, to]) => code(from) <= code(letter) && code(letter) <= code(to));
}
