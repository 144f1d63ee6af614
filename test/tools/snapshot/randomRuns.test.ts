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

const names = ['a', 'b', 'd/c', 'd/e/f', 'n', '.env', 'd/x y', 'grün', 'A', 'it\'s "q"', 'h'];
const author = '-c user.name=a -c user.email=a@example.com -c commit.gpgsign=false';
const quoted = (name: string) => `'${name.replaceAll("'", "'\\''")}'`;

/** Contents in forms of their own: line endings, encodings, no text, nothing. */
const forms = [
  'a\\r\\nb\\r\\n',
  '\\377\\376a\\000\\n\\000',
  '\\357\\273\\277mark\\n',
  'gr\\374n\\n',
  '\\000\\001',
  'end',
  '',
];

/** Draws a command line of cheap programs. */
function cheapCommand({ pick, upTo }: Random): string {
  const name = () => quoted(pick(names));
  const branch = () => pick(['one', 'two', 'b/c']);
  const files = [
    () => `rm -rf ${pick([name(), 'd', 'd/e'])}`,
    () => `mkdir -p d/e; echo ${upTo(1e6)} > ${name()}`,
    () => `printf '${pick(forms)}' > ${name()}`,
    () => `mv -f ${name()} ${name()}`,
    () => `mv d ${pick(['moved', 'd2', 'D'])}; mkdir -p d/e`,
    () => `cp -pf ${name()} ${name()}`,
    () => `cp -rf d copy${upTo(2)}`,
    () => `ln -f ${name()} h; echo ${upTo(99)} >> h`,
    () => `sed -i 's/[0-9]/x/g' ${name()} ${name()}`,
    () => `sed -i 's/$/\\r/' ${name()}`,
    () => `mkdir -p out; seq ${upTo(9)} | while read i; do echo $i ${upTo(99)} > out/$i; done`,
    () => `head -c ${upTo(5000)} /dev/urandom > ${name()}`,
    () => `chmod ${pick(['600', '644', '755', '000', '444'])} ${name()}`,
    () => `ln -sf a ${pick(['link', 'b'])}`,
    () => `rm -rf ${pick(['d', 'd/e', 'b'])}; ln -s ${pick(['out', 'd', '../elsewhere'])} ${pick(['d', 'd/e', 'b'])}`,
    () => `rm -rf ${pick(['d', 'a', 'd/e'])}; echo ${upTo(99)} > ${pick(['d', 'd/e'])}`,
    () => `rm -rf ${pick(['a', 'b'])}; mkdir -p a b; echo ${upTo(99)} > a/b`,
    () => `mkdir -p ${pick(['empty', 'd/empty'])}`,
    () => `printf x > 'line\nbreak'`,
    () => `tar cf all.tar d; rm -rf d; tar xf all.tar`,
    () => `touch -r a s; printf X | dd of=b conv=notrunc status=none; touch -r s b; rm s`,
    () => `find . -name '*c' -not -path './.git/*' -delete`,
  ];
  const commits = [
    () => `git ${author} add -A && git ${author} commit -qm more`,
    () => `git ${author} commit -qa --amend -m other`,
    () => `git checkout -q -- ${pick(['.', 'd', 'a'])}`,
    () => `git ${author} stash -qu`,
    () => `git ${author} stash pop -q`,
    () => `git stash drop -q`,
    () => `git clean -fdq${pick(['', 'x'])}`,
    () => `git reset -q --hard ${pick(['HEAD', 'HEAD~1', 'one'])}`,
    () => `git reset -q ${pick(['--soft HEAD~1', 'HEAD~1'])}`,
    () => `git mv -f ${name()} ${name()}`,
    () => `git rm -qrf ${pick([name(), 'd'])}`,
    () => `git add ${name()}`,
    () => `git checkout -qB ${branch()} ${pick(['', 'HEAD~1'])}`,
    () => `git checkout -q ${pick(['-', branch(), '--detach'])}`,
    () => `git branch -f ${branch()}`,
    () => `git branch -D ${branch()}`,
    () => `git ${author} ${pick(['merge -q --no-edit', 'rebase -q', 'cherry-pick'])} ${branch()}`,
    () => `git ${author} ${pick(['rebase', 'merge', 'cherry-pick'])} --abort`,
    () => `git ${author} revert --no-edit HEAD`,
    () => `git ${author} tag -f ${pick(['v1', 'v2 -am tag'])}`,
    () => `git worktree ${pick(['add -qf --detach ../tree', 'remove --force ../tree', 'prune'])}`,
    () => `git ${pick(['pack-refs --all', 'gc -q', 'config x.y z', 'update-index --refresh'])}`,
  ];
  return `${pick([...files, ...commits])()} || true`;
}

/** Draws a call of a file tool. A move comes only without edits of the user, which would move along. */
function fileTool({ pick, upTo }: Random, canMove: boolean): [name: string, args: Record<string, string>] {
  const content = `${upTo(99)}\n`;
  const calls: [name: string, args: Record<string, string>][] = [
    ['fs.write', { path: pick(names), content }],
    ['fs.delete', { path: pick([...names, 'd', 'out']) }],
    ['fs.move', { from: pick([...names, 'd', 'out', 'd/e']), to: pick([...names, 'd', 'new', 'd/new']) }],
  ];
  return pick(calls.slice(0, canMove ? 3 : 2));
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
  git: FolderState;
  /** Call of a command; absent: an edit of the user. */
  call?: string;
  text: string;
}

const differing = (one: FolderState, other: FolderState): string[] =>
  [...new Set([...Object.keys(one), ...Object.keys(other)])].filter((name) => one[name] !== other[name]);

/** Without the folders that a pattern ignores as a whole: they are not recorded. */
const stateOf = (run: RecordedRun): FolderState =>
  Object.fromEntries(Object.entries(run.folder.state()).filter(([name]) => !/^(build|lib)\//.test(name)));

/** The user writes a file of the folder, makes one, deletes one, or changes its permissions. */
function edit(run: RecordedRun, random: Random, index: number, canChangeModes: boolean): string {
  const { root } = run.folder;
  const present = Object.entries(stateOf(run)).flatMap(([name, state]) =>
    name.endsWith('/') || state.startsWith('→') ? [] : [name],
  );
  const name = random.chance(0.7) && present.length > 0 ? random.pick(present) : `user-${index}`;
  const file = path.join(root, name);
  if (canChangeModes && existsSync(file) && random.chance(0.1)) {
    chmodSync(file, 0o640);
    return `(the user changes the mode of ${name})`;
  }
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

interface Played {
  steps: number;
  /** Entries that differed after the undos. */
  files: number;
  /** Undos that left a file or a repository by name. */
  left: number;
}

/** Plays a run. Files that an undo or redo names as left, and everything around them, are not compared. */
async function play(seed: number, draw: (random: Random) => string, start: string, length: number): Promise<Played> {
  const random = randomFrom(seed);
  const run = new RecordedRun();
  const steps: Step[] = [];
  const played: Played = { steps: length, files: 0, left: 0 };
  try {
    run.prepare(start);
    const hasUser = random.chance(0.6);
    const hasTools = !hasUser || random.chance(0.5); // file tools do not record permissions
    for (let index = 0; index < length; index++) {
      const [before, git] = [stateOf(run), run.gitState()];
      if (hasUser && random.chance(0.4)) steps.push({ before, git, text: edit(run, random, index, !hasTools) });
      else if (hasTools && random.chance(0.2)) {
        const [name, args] = fileTool(random, !hasUser);
        steps.push({ before, git, text: `${name} ${JSON.stringify(args)}`, call: await run.call(name, args) });
      } else {
        const text = draw(random);
        steps.push({ before, git, text, call: await run.command(text) });
      }
    }
    const [end, git] = [stateOf(run), run.gitState()];
    const story = (text: string) =>
      `${text}: ${JSON.stringify(
        steps.map(({ text }) => text),
        undefined,
        1,
      )}`;
    // File tools and the user do not record which folders they make or empty.
    const hasFolders = steps.every(({ call, text }) => call !== undefined && !text.startsWith('fs.'));
    const check = (state: FolderState, expected: FolderState, left: readonly string[], text: string) => {
      const isLeft = (name: string) => left.some((one) => isAround(one, name.replace(/\/$/, '')));
      const isCompared = (name: string) => !isLeft(name) && (hasFolders || !name.endsWith('/'));
      const compared = (all: FolderState) =>
        Object.fromEntries(Object.entries(all).filter(([name]) => isCompared(name)));
      assert.deepEqual(compared(state), compared(expected), story(text));
    };
    for (const from of [random.upTo(length), random.upTo(length), 0]) {
      const calls = steps.slice(from).flatMap(({ call }) => call ?? []);
      if (calls.length === 0) continue;
      const isAll = random.chance(0.5);
      const expected = modelOf(steps, end, from, isAll);
      const { asked, left } = await run.undo(calls, isAll ? 'all' : 'unchanged');
      const named = [...(asked?.changedSince ?? []), ...left.map((one) => one.path)];
      const unnamed = expected.named.filter((name) => !named.includes(name));
      const now = stateOf(run);
      const lostOfUser = unnamed.filter((name) => now[name] !== end[name]);
      assert.deepEqual(lostOfUser, [], story('files of the user were changed, but not named'));
      const others = left.map(({ path }) => path).filter((path) => isAll || !expected.named.includes(path));
      played.files += differing(now, end).length;
      if (others.length > 0) played.left++;
      check(now, expected.state, others, `undo from ${from}, ${isAll}`);
      if (!others.some((path) => path.startsWith('.git')))
        assert.deepEqual(run.gitState(), steps[from]!.git, story(`undo of Git from ${from}`));
      assert.deepEqual(await run.redo(), [], story('redo'));
      check(stateOf(run), end, expected.deleted, `redo from ${from}`);
      assert.deepEqual(run.gitState(), git, story(`redo of Git from ${from}`));
      for (const name of expected.deleted) rmSync(path.join(run.folder.root, name), { force: true });
    }
    return played;
  } finally {
    await run.end();
  }
}

const isAround = (one: string, other: string): boolean =>
  one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`);

const tree = `mkdir -p d/e && for name in a b d/c d/e/f 'd/x y'; do echo "1 $name" > "$name"; done; echo .env > .gitignore; echo S=1 > .env`;
const repository = `git init -q . && git ${author} add -A && git ${author} commit -qm one && echo 2 >> a && git ${author} commit -qam two`;
const project = `mkdir src && printf 'import {b} from "./b";\\nexport   const a={x:b}\\n' > src/a.ts && printf 'export const b = [1,2,\\n3]\\n' > src/b.ts
printf 'build/\\nlib/\\n' > .gitignore && cat > package.json <<'END'
{"name":"x","version":"1.0.0","scripts":{"clean":"rm -rf lib src/made*.ts","generate":"node -e \\"for (let i = 0; i < 5; i++) fs.writeFileSync('src/made' + i + '.ts', 'export const m = ' + Math.random())\\""}}
END
git init -q . && git ${author} add -A && git ${author} commit -qm one`;

/** Plays a run for each seed and reports all faults at the end. */
async function playAll(count: number, one: (seed: number) => Promise<Played>): Promise<Played> {
  const sum: Played = { steps: 0, files: 0, left: 0 };
  const faults: string[] = [];
  const start = Date.now();
  for (let index = 1; index <= count; index++) {
    const seed = firstSeed + index - 1;
    try {
      const { steps, files, left } = await one(seed);
      sum.steps += steps;
      sum.files += files;
      sum.left += left;
    } catch (error) {
      faults.push(`seed ${seed}: ${error instanceof Error ? error.message : error}`);
      console.log(faults.at(-1));
    }
    if (count >= 50 && (index % 50 === 0 || index === count)) {
      const seconds = Math.round((Date.now() - start) / 1000);
      console.log(
        `${index} runs, ${seconds} s: ${sum.steps} steps, ${sum.files} files undone, ${sum.left} undos left a file by name, ${faults.length} faults`,
      );
    }
  }
  assert.equal(faults.length, 0, `${faults.length} of ${count} runs failed:\n${faults.join('\n')}`);
  return sum;
}

describe('undo and redo of random runs equal a model of the file system', function () {
  this.timeout(0);
  before(function () {
    if (process.platform === 'win32') this.skip();
  });

  it(`of cheap programs: ${runs} runs from ${firstSeed} on`, async () => {
    const { left } = await playAll(runs, (seed) =>
      play(seed, cheapCommand, seed % 2 === 0 ? `${tree}; ${repository}` : tree, 8),
    );
    assert.ok(left <= Math.max(3, runs / 2), `${left} undos left a file`);
  });

  it(`of formatters, scripts and builds: ${buildRuns} runs from ${firstSeed} on`, () =>
    playAll(buildRuns, (seed) => play(seed, buildCommand, project, 6)));
});
