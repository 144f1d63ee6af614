import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import * as paths from 'node:path';
import fc from 'fast-check';
import {
  type CommandPipeline,
  type ResolvedProgramInvocation,
  UndeterminedCommandError,
  unknownValuePlaceholders,
} from '../../../src/tools/commands/commandStep.ts';
import { expandScript, type ResolvedCommandScript } from '../../../src/tools/commands/expandScript.ts';
import { ToolError } from '../../../src/tools/core/tool.ts';
import { parseShellScript } from '../../../src/tools/shellSyntax/shellSyntax.ts';
import { tries } from '../../support/tries.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';

/** How many lines that we understand are run in bash, twice: every program succeeds, every program fails. */
const wanted = Number(process.env.TOWPATH_BASH ?? tries(300, 2500));
const firstSeed = Number(process.env.TOWPATH_SEED ?? 0);

const oneOf = (...all: string[]) => fc.constantFrom(...all);
/** All that a word can be made of, beside what only looks like it. */
const piece = oneOf(
  ...['a', 'b', '-x', '1', '=', ':', ',', '.', '/', '#', '%', '@', '+', '^', '..', 'do', 'in', 'é'],
  ...["'a b'", "''", '""', '"a  b"', '"$x"', '"a$y b"', `"$\{x}a"`, '$x', `$\{y}`, `$\{x%b}`, '$z', '"$"', '$', '"$a"'],
  ...['\\ ', '\\$', '\\\\', '\\*', '"\\$x"', '"\\\\"', '"\\a"', "'\\'", '"a;b"', "'$(q)'", '"a\nb"', '~', '!', '"!"'],
  ...['{}', '{a}', '{a,b}', '{1..2}', '{a*}', '{b:~}', '*', 'a*', '?', '[ab]', '[', ']', './b*', "''*", 'b/*'],
  ...['$(q)', '"$(q b)"', '"$(q "$x")"', '<(q)', '$((1+1))', '$((x))', '$?', '"$(p | q)"', '`q`', '\\\n'],
);
const plainPiece = oneOf('a', 'b', 'c1', '-x', "'a b'", '"$x"', '"a b"', '$y', '2', 'b/c', './a*', '{}');
const word = fc
  .array(fc.oneof({ weight: 3, arbitrary: plainPiece }, { weight: 2, arbitrary: piece }), {
    minLength: 1,
    maxLength: 2,
  })
  .map((pieces) => pieces.join(''));
const blank = fc.oneof({ weight: 12, arbitrary: oneOf(' ') }, oneOf('  ', '\t', ' \\\n', '\\\n', '\n'));
const program = fc.oneof({ weight: 12, arbitrary: oneOf('p', 'q') }, oneOf('cd', "'p'", 'p""', '! p', 'r', 'x=a'));
const assigned = fc.tuple(oneOf('x=', 'y=', 'x=a y='), fc.oneof(plainPiece, piece)).map((all) => all.join(''));
const redirection = oneOf('2>&1', '>/dev/null', '2> /dev/null', '&>/dev/null', '</dev/null', '>&2', '1>&2');
const simple: fc.Arbitrary<string> = fc
  .tuple(program, fc.array(fc.tuple(blank, fc.oneof({ weight: 9, arbitrary: word }, redirection)), { maxLength: 3 }))
  .map(([first, rest]) => first + rest.flat().join(''));
const command = fc.oneof(
  { weight: 8, arbitrary: simple },
  { weight: 3, arbitrary: assigned },
  fc.tuple(assigned, simple).map((both) => both.join(' ')),
  oneOf('cd b', 'cd ..', 'cd b/again', 'cd up', 'cd "$x"', 'cd [bc]', 'cd .', 'cd b b'),
  fc.tuple(simple, simple).map(([one, other]) => `for x in a ${one.slice(1)}; do ${other}; done`),
  fc.tuple(simple, simple, simple).map(([one, two, three]) => `if ${one}; then ${two}; else ${three}; fi`),
  fc.tuple(simple, simple).map(([one, two]) => `while ${one}; do ${two}; break; done`),
  fc.tuple(simple, simple).map(([one, two]) => `(${one}; ${two})`),
  fc.tuple(assigned, simple, simple).map(([one, two, three]) => `(${one}; ${two}); ${three}`),
);
const operator = fc.oneof(
  { weight: 8, arbitrary: oneOf('; ', ' && ', ' || ', ' | ', '\n') },
  oneOf(';', '&&', '||', '|', ' |\\\n', ';\\\n', ' &&\\\n', ' & ', ' |& ', ';;', ' |\n', '\n\n'),
);
const script = fc
  .tuple(command, fc.array(fc.tuple(operator, command), { maxLength: 3 }))
  .map(([first, rest]) => `x=a; y=b; ${first}${rest.flat().join('')}`);
/** What turns a line that is read into one that hardly is. */
const slip = oneOf('\\\n', ...'\\"\'$(){}*&|;<>#~ \n!');
const slipped = fc.tuple(script, fc.nat(), slip).map(([text, at, more]) => {
  const place = at % (text.length + 1);
  return text.slice(0, place) + more + text.slice(place);
});
/** Its loops have an end. */
const ends = (text: string) => text.split('while').length === text.split(/[^\\]; break; done/).length;
const line = fc.oneof(script, slipped).filter(ends);

/** What was once understood otherwise than bash does, or nearly. */
const lines = [
  ...['x=a; x=b y=$x; p "$y"', 'x=a; x=b y=$x p; q "$x"', 'x=a; p || x=b && x=c; q "$x"', 'x=a; x=b | p; q "$x"'],
  ...['x=a || p; q', 'p && x=a || q', 'p || x=a && q', 'q; x=a | p || q', 'cd b || p', 'p; cd b && q || p; q'],
  ...['cd b/again && cd .. && p', 'cd up; cd ..; p', 'cd ..; p', 'cd ../a/b && p', 'cd d?; p', '(cd b; p); p', "p ''*"],
  ...['p {a*}', 'p "$\\\n(q)"', 'x=a; xa=b; p "$x\\\na"', '(\\\n(p))', 'p |\\\n&>/dev/null q', 'p ;&>/dev/null q'],
  ...['p ./b*/', 'p ./a*/', 'p b/*/.', 'for x in b/$(q); do p "$x"; done'],
];

interface Call {
  folder: string;
  words: string[];
}

/**
 * Runs each of the texts in bash, where there is no program but those written here: what they are, is noted, and what comes out
 * of them is what a careless reader falls for.
 */
const oracle = `
code=$1; exec 8<../texts 9>>../calls; PATH=/nowhere; IFS=$' \\t\\n'; ID=0; BEGIN=$'\\036'
note() { printf '%s\\0' "$BEGIN$ID" "$#" "$PWD" "$@" >&9; printf '%s' '-z *  a'; return "$code"; }
p() { note p "$@"; }
q() { note q "$@"; }
command_not_found_handle() { note "$@"; }
cd a
while IFS= read -r -d '' -u 8 TEXT; do (eval "$TEXT") </dev/null >/dev/null 2>&1; ID=$((ID + 1)); done
`;

describe('what bash makes of a command', () => {
  let workspace: TemporaryWorkspace;
  let folder: string;
  before(async () => {
    workspace = await temporaryWorkspace(
      Object.fromEntries(
        ['a1', 'ab', 'b/c', 'b/-n', '-n', '{a}', '{ab}', '.h', 'c d'].map((name) => [`a/${name}`, '']),
      ),
    );
    folder = paths.join(workspace.root, 'a');
    symlinkSync('..', paths.join(folder, 'b/again'));
    symlinkSync('.', paths.join(folder, 'up'));
    for (const name of ['d1', 'd2', 'd1 d2']) mkdirSync(paths.join(folder, name));
  });
  after(() => workspace.cleanup());

  const understood = async (text: string): Promise<ResolvedCommandScript | undefined> => {
    const script = parseShellScript(text);
    try {
      return script && (await expandScript(script, folder, workspace.roots, {}));
    } catch (error) {
      if (error instanceof UndeterminedCommandError || error instanceof ToolError) return undefined;
      throw error;
    }
  };

  /** What bash runs for each of the texts. */
  function called(texts: readonly string[], code: 0 | 1, tries = 5): Call[][] {
    workspace.write('../texts', texts.map((text) => `${text}\0`).join(''));
    workspace.write('../calls', '');
    const options = { cwd: workspace.root, env: { HOME: '/home/somebody' }, timeout: 300_000 };
    execFileSync('/bin/bash', ['--norc', '--noprofile', '-c', oracle, 'bash', `${code}`], options);
    const calls: Call[][] = texts.map(() => []);
    // What still writes from behind a line may write into what another one writes: such a record tells nothing.
    for (const record of readFileSync(paths.join(workspace.root, '../calls'), 'utf8').split('\x1e').slice(1)) {
      const [id, count, place, ...words] = record.split('\0').slice(0, -1);
      if (!calls[Number(id)] || place === undefined || words.length !== Number(count)) {
        assert.ok(tries > 1, `bash told ${JSON.stringify(record)}`);
        return called(texts, code, tries - 1);
      }
      calls[Number(id)]!.push({ folder: realpathSync(place), words });
    }
    return calls;
  }

  it(`is what we make of it, in ${wanted} lines that we understand`, async function () {
    this.timeout(600_000);
    const all = new Map<string, ResolvedCommandScript>();
    let tried = 0;
    for (let seed = 0; all.size < wanted; seed++)
      for (const text of seed === 0 ? lines : fc.sample(line, { numRuns: 1000, seed: seed + firstSeed })) {
        tried++;
        const unfolded = all.size < wanted ? await understood(text) : undefined;
        if (unfolded) all.set(text, unfolded);
      }
    const texts = [...all.keys()];
    const wrong: string[] = [];
    for (const code of [0, 1] as const) {
      const calls = called(texts, code);
      for (const [index, text] of texts.entries()) {
        const difference = differenceOf(all.get(text)!, calls[index]!, code);
        if (difference) wrong.push(`${JSON.stringify(text)} (all give ${code}): ${difference}`);
      }
    }
    console.log(`      ${all.size} of ${tried} were understood`);
    assert.deepEqual(wrong.slice(0, 20), []);
  });
});

/** Every call that bash makes is a step of ours; where we say how they follow each other, bash says the same. */
function differenceOf(
  { steps, straight }: ResolvedCommandScript,
  calls: readonly Call[],
  code: 0 | 1,
): string | undefined {
  const stray = calls.find((call) => !steps.some((step) => isStep(step, call)));
  if (stray) return `bash runs ${JSON.stringify(stray)}, we ${JSON.stringify(steps.map(({ words }) => words))}`;
  if (!straight || steps.some(({ words }) => !/^[pqr]$/.test(words[0]!))) return undefined;
  const expected = straightCalls(straight, code);
  const same = expected.length === calls.length && expected.every((step) => calls.some((call) => isStep(step, call)));
  return same ? undefined : `bash runs ${JSON.stringify(calls)}, we ${JSON.stringify(expected)}`;
}

function straightCalls(straight: readonly CommandPipeline[], code: number): ResolvedProgramInvocation[] {
  let last = 0;
  const calls: ResolvedProgramInvocation[] = [];
  for (const { operator, commands } of straight) {
    if ((operator === '&&' && last !== 0) || (operator === '||' && last === 0)) continue;
    calls.push(...commands);
    last = code;
  }
  return calls;
}

const isStep = ({ words, folder }: ResolvedProgramInvocation, call: Call): boolean =>
  folder === call.folder &&
  words.length === call.words.length &&
  words.every((word, at) => means(word, call.words[at]!));

const marks: Record<string, string> = {
  [unknownValuePlaceholders.text]: '[^]*',
  [unknownValuePlaceholders.number]: '-?\\d*',
  [unknownValuePlaceholders.file]: '/dev/fd/\\d+',
};
const means = (word: string, text: string): boolean =>
  new RegExp(
    `^${[...word].map((letter) => marks[letter] ?? letter.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&')).join('')}$`,
  ).test(text);
