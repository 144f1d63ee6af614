// Random commands with edits of a user in between, beside a model of the file system. `npm run undos`: 1,000 runs of cheap programs, and
// 50 of formatters, scripts and builds. TOWPATH_UNDO_RUNS: number of runs, TOWPATH_UNDO_SEED: the first one.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, lstatSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../../support/editor/project.ts';
import { type Random, randomFrom } from '../../support/random.ts';
import { type FolderState, RecordedRun } from './recordedRun.ts';

const runs = Number(process.env.TOWPATH_UNDO_RUNS ?? 6);
const buildRuns = Number(process.env.TOWPATH_UNDO_BUILDS ?? 1);
const firstSeed = Number(process.env.TOWPATH_UNDO_SEED ?? 38_000);

const names = ['a', 'b', 'd/c', 'd/e/f', 'n', '.env', 'd/x y', 'grün'];
const author = '-c user.name=a -c user.email=a@example.com -c commit.gpgsign=false';

/** Draws a command line of cheap programs. */
function cheapCommand({ pick, upTo }: Random): string {
  const name = () => `'${pick(names)}'`;
  const commands = [
    () => `rm -rf ${pick([name(), 'd', 'd/e'])}`,
    () => `mkdir -p d/e; echo ${upTo(1e6)} > ${name()}`,
    () => `mv -f ${name()} ${name()}`,
    () => `mv d ${pick(['moved', 'd2'])}; mkdir -p d/e`,
    () => `cp -pf ${name()} ${name()}`,
    () => `cp -rf d copy${upTo(2)}`,
    () => `sed -i 's/[0-9]/x/g' ${name()} ${name()}`,
    () => `mkdir -p out; seq ${upTo(9)} | while read i; do echo $i ${upTo(99)} > out/$i; done`,
    () => `head -c ${upTo(5000)} /dev/urandom > ${name()}`,
    () => `chmod ${pick(['600', '644', '755'])} ${name()}`,
    () => `ln -sf a ${pick(['link', 'b'])}`,
    () => `mkdir -p ${pick(['empty', 'd/empty'])}`,
    () => `tar cf all.tar d; rm -rf d; tar xf all.tar`,
    () => `touch -r a s; printf X | dd of=b conv=notrunc status=none; touch -r s b; rm s`,
    () => `find . -name '*c' -not -path './.git/*' -delete`,
    () => `git ${author} add -A && git ${author} commit -qm more`,
    () => `git checkout -q -- ${pick(['.', 'd', 'a'])}`,
    () => `git ${author} stash -qu`,
    () => `git ${author} stash pop -q`,
    () => `git clean -fdq${pick(['', 'x'])}`,
    () => `git reset -q --hard ${pick(['HEAD', 'HEAD~1'])}`,
    () => `git mv -f ${name()} ${name()}`,
    () => `git rm -qrf ${pick([name(), 'd'])}`,
  ];
  return `${pick(commands)()} || true`;
}

const tool = (name: string) => `'${path.join(projectRoot, 'node_modules/.bin', name)}'`;

/** Draws a command line of a formatter, a package script or a build. */
function buildCommand({ pick, upTo }: Random): string {
  const biome = `${tool('biome')} format --write src`;
  const esbuild = `${tool('esbuild')} src/a.ts --bundle --sourcemap --outdir=build --log-level=error`;
  const commands = [
    biome,
    `${tool('biome')} check --write --unsafe src`,
    esbuild,
    `${tool('tsc')} --outDir lib --declaration --target es2022 --module esnext src/a.ts`,
    'npm run --silent generate',
    'npm run --silent clean',
    `npm version --no-git-tag-version ${pick(['patch', 'minor'])}`,
    `npm pkg set description=${upTo(100)}`,
    `printf 'export   const b${upTo(50)} = {a:1,\\n\\n\\n  b:2}\\n' >> src/b.ts && ${biome}`,
  ];
  return `${pick(commands)} > /dev/null 2>&1 || true`;
}

/** Step of a run: the state before it, and whose it is. */
interface Step {
  before: FolderState;
  /** Call of a command; absent: an edit of the user. */
  call?: string;
  text: string;
}

const differing = (one: FolderState, other: FolderState): string[] =>
  [...new Set([...Object.keys(one), ...Object.keys(other)])].filter((name) => one[name] !== other[name]);

const withoutFolders = (state: FolderState): FolderState =>
  Object.fromEntries(Object.entries(state).filter(([name]) => !name.endsWith('/')));

/** Without the folders that a pattern ignores as a whole: they are not recorded. */
const stateOf = (run: RecordedRun): FolderState =>
  Object.fromEntries(Object.entries(run.folder.state()).filter(([name]) => !/^(build|lib)\//.test(name)));

/** The user writes a file of the folder, makes one, or deletes one. */
function edit(run: RecordedRun, random: Random, index: number): string {
  const { root } = run.folder;
  const present = Object.entries(stateOf(run)).flatMap(([name, state]) =>
    name.endsWith('/') || state.startsWith('→') ? [] : [name],
  );
  const name = random.chance(0.7) && present.length > 0 ? random.pick(present) : `user-${index}`;
  const file = path.join(root, name);
  if (existsSync(file) && random.chance(0.15)) {
    rmSync(file);
    return `(the user deletes ${name})`;
  }
  if (existsSync(file)) chmodSync(file, lstatSync(file).mode | 0o200);
  writeFileSync(file, `by the user, ${index}\n`);
  return `(the user writes ${name})`;
}

interface Expected {
  state: FolderState;
  /** Files that the user has changed since, which the undo must name. */
  named: string[];
  /** Files of commands that the user has deleted since, like the undo: a redo may create them again. */
  deleted: string[];
}

/** Change of a file by commands. `isMixed`: the user has changed it in between. */
interface Change {
  from: string | undefined;
  to: string | undefined;
  isMixed: boolean;
}

/** State after an undo of the commands from `first` on, in the model. */
function modelOf(steps: readonly Step[], end: FolderState, first: number, isAll: boolean): Expected {
  const changes = new Map<string, Change>();
  for (let at = steps.length - 1; at >= first; at--) {
    const { before, call } = steps[at]!;
    const after = steps[at + 1]?.before ?? end;
    if (call === undefined) continue;
    for (const name of differing(before, after)) {
      const later = changes.get(name);
      const [from, to] = [before[name], later ? later.to : after[name]];
      const isMixed = later !== undefined && (later.isMixed || later.from !== after[name]);
      if (from === to && !isMixed) changes.delete(name);
      else changes.set(name, { from, to, isMixed });
    }
  }
  const expected: Expected = { state: { ...end }, named: [], deleted: [] };
  for (const [name, { from, to, isMixed }] of changes) {
    const isEdited = isMixed || end[name] !== to;
    if (isEdited && !name.endsWith('/')) expected.named.push(name);
    if (isEdited && from === undefined && end[name] === undefined) expected.deleted.push(name);
    if (isEdited && !isAll) continue;
    if (from === undefined) delete expected.state[name];
    else expected.state[name] = from;
  }
  return expected;
}

/** Plays a run. Returns how many of its undos left a file, because another one is in its location. */
async function play(seed: number, draw: (random: Random) => string, start: string, length: number): Promise<number> {
  const random = randomFrom(seed);
  const run = new RecordedRun();
  const steps: Step[] = [];
  let leaving = 0;
  try {
    run.prepare(start);
    for (let index = 0; index < length; index++) {
      const before = stateOf(run);
      if (random.chance(0.3)) steps.push({ before, text: edit(run, random, index) });
      else {
        const text = draw(random);
        steps.push({ before, text, call: await run.command(text) });
      }
    }
    const end = stateOf(run);
    const story = () => JSON.stringify({ seed, steps: steps.map(({ text }) => text) }, undefined, 1);
    const hasEdits = steps.some(({ call }) => call === undefined);
    const compared = (state: FolderState, omitted: readonly string[] = []) =>
      Object.fromEntries(
        Object.entries(hasEdits ? withoutFolders(state) : state).filter(([name]) => !omitted.includes(name)),
      );
    for (const from of [random.upTo(length), random.upTo(length), 0]) {
      const calls = steps.slice(from).flatMap(({ call }) => call ?? []);
      if (calls.length === 0) continue;
      const isAll = random.chance(0.5);
      const expected = modelOf(steps, end, from, isAll);
      const { asked, left } = await run.undo(calls, isAll ? 'all' : 'unchanged');
      const named = new Set([...(asked?.changedSince ?? []), ...left.map((one) => one.path)]);
      const unnamed = expected.named.filter((name) => !named.has(name));
      const now = stateOf(run);
      const lostOfUser = unnamed.filter((name) => now[name] !== end[name]);
      assert.deepEqual(lostOfUser, [], `files of the user were changed, but not named: ${story()}`);
      const others = left.filter(({ path }) => isAll || !expected.named.includes(path));
      if (others.length > 0) leaving++;
      else assert.deepEqual(compared(now), compared(expected.state), `undo from ${from}, ${isAll}: ${story()}`);
      assert.deepEqual(await run.redo(), [], story());
      const redone = compared(stateOf(run), expected.deleted);
      assert.deepEqual(redone, compared(end, expected.deleted), `redo from ${from}: ${story()}`);
      for (const name of expected.deleted) rmSync(path.join(run.folder.root, name), { force: true });
    }
    return leaving;
  } finally {
    await run.end();
  }
}

const tree = `mkdir -p d/e && for name in a b d/c d/e/f 'd/x y'; do echo "1 $name" > "$name"; done; echo .env > .gitignore; echo S=1 > .env`;
const repository = `git init -q . && git ${author} add -A && git ${author} commit -qm one && echo 2 >> a && git ${author} commit -qam two`;
const project = `mkdir src && printf 'import {b} from "./b";\\nexport   const a={x:b}\\n' > src/a.ts && printf 'export const b = [1,2,\\n3]\\n' > src/b.ts
printf 'build/\\nlib/\\n' > .gitignore && cat > package.json <<'END'
{"name":"x","version":"1.0.0","scripts":{"clean":"rm -rf lib src/made*.ts","generate":"node -e \\"for (let i = 0; i < 5; i++) fs.writeFileSync('src/made' + i + '.ts', 'export const m = ' + Math.random())\\""}}
END
git init -q . && git ${author} add -A && git ${author} commit -qm one`;

describe('undo and redo of random runs equal a model of the file system', function () {
  this.timeout(0);
  before(function () {
    if (process.platform === 'win32') this.skip();
  });

  it(`of cheap programs: ${runs} runs from ${firstSeed} on`, async () => {
    let leaving = 0;
    for (let seed = firstSeed; seed < firstSeed + runs; seed++) {
      const hasGit = seed % 2 === 0;
      leaving += await play(seed, cheapCommand, hasGit ? `${tree}; ${repository}` : tree, 8);
      if (runs >= 100 && seed % 100 === 99)
        console.log(`${seed - firstSeed + 1} runs, ${leaving} undos left a file by name`);
    }
    assert.ok(leaving <= Math.max(2, runs / 5), `${leaving} undos left a file`);
  });

  it(`of formatters, scripts and builds: ${buildRuns} runs from ${firstSeed} on`, async () => {
    for (let seed = firstSeed; seed < firstSeed + buildRuns; seed++) await play(seed, buildCommand, project, 6);
  });
});
