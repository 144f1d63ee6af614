import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import * as paths from 'node:path';
import type { ToolOutcome } from '../../../src/protocol/content/tools.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { type Conversation, conversation } from '../conversation.ts';

/** How often each operation is tried; `npm run races` sets 100,000. */
const rounds = Number(process.env.TOWPATH_RACES) || 150;

/** Where there is no compiler: the same with four renames, so that each name is at times just gone. */
const slowSwapper = `
  const { renameSync } = require('node:fs');
  const [a, b] = process.argv.slice(1);
  process.stdout.write('ready');
  process.on('SIGTERM', () => process.exit());
  (function swap() {
    for (let round = 0; round < 200; round++) {
      try { renameSync(a, a + '~'); renameSync(b, a); renameSync(a + '~', b); } catch {}
    }
    setTimeout(swap, 2);
  })();
`;

describe(`paths: swapped while they are used, ${rounds} times each`, function () {
  this.timeout(60_000 + rounds * 60);
  let swapper: [string, ...string[]];
  let folder: string;
  let workspace: TemporaryWorkspace;
  let outside: TemporaryWorkspace;
  let swapping: ChildProcess | undefined;
  before(function () {
    if (process.platform === 'win32') this.skip(); // links need rights there
    folder = mkdtempSync(paths.join(tmpdir(), 'towpath-race-'));
    swapper = compiled(folder) ?? [process.execPath, '-e', slowSwapper];
  });
  after(() => folder && rmSync(folder, { recursive: true }));
  beforeEach(async () => {
    workspace = await temporaryWorkspace({ 'x/secret.txt': 'INSIDE' });
    outside = await temporaryWorkspace({ 'secret.txt': 'CANARY-OUTSIDE', 'tree/secret.txt': 'CANARY-OUTSIDE' });
  });
  afterEach(async () => {
    if (swapping?.kill()) await once(swapping, 'exit');
    swapping = undefined;
    const names = readdirSync(outside.root, { recursive: true, encoding: 'utf8' }).sort();
    assert.deepEqual(names, ['secret.txt', 'tree', 'tree/secret.txt'], 'nothing appeared or went outside');
    for (const name of ['secret.txt', 'tree/secret.txt']) assert.equal(outside.read(name), 'CANARY-OUTSIDE');
    workspace.cleanup();
    outside.cleanup();
  });

  const folders = { real: 'x', link: 'l', target: () => outside.root };
  const files = { real: 'x/secret.txt', link: 'x/l', target: () => paths.join(outside.root, 'secret.txt') };
  const read = (call: Conversation['call']) => call('fs.read', { path: 'x/secret.txt' });
  const create = (call: Conversation['call'], round: number) =>
    call('fs.write', { path: `x/new${round}/deep/secret.txt`, content: 'NEW' });
  const write = (call: Conversation['call'], round: number) =>
    call('fs.write', { path: 'x/secret.txt', content: `INSIDE ${round}` });

  // On a Mac a write can be checked before and after, not held: only what Linux promises is promised here.
  const linux = process.platform === 'linux';
  const races: [
    name: string,
    swapped: typeof folders,
    work: (call: Conversation['call'], round: number) => Promise<ToolOutcome>,
  ][] = [
    ['R01 a folder and a link to outside: no read gives what is outside', folders, read],
    ['R05 a file and a link to outside: no read gives what is outside', files, read],
    ...(linux
      ? ([
          ['R03 a folder and a link to outside: nothing is created outside', folders, create],
          ['R06 a folder and a link to outside: nothing is written outside', folders, write],
          ['R06 a file and a link to outside: nothing is written outside', files, write],
        ] as typeof races)
      : []),
  ];
  for (const [name, { real, link, target }, work] of races) {
    it(name, async () => {
      const at = (path: string) => paths.join(workspace.root, path);
      symlinkSync(target(), at(link));
      swapping = spawn(swapper[0], [...swapper.slice(1), at(real), at(link)], { stdio: ['ignore', 'pipe', 'inherit'] });
      await once(swapping.stdout!, 'data');
      const { call } = conversation(workspace);
      const seen = { ok: 0, refused: 0 };
      const abreast = work === read ? 8 : 1;
      for (let round = 0; !enough(round, seen); round += abreast) {
        for (const outcome of await Promise.all(
          Array.from({ length: abreast }, (_, index) => work(call, round + index)),
        )) {
          assert.ok(!JSON.stringify(outcome).includes('CANARY'), JSON.stringify(outcome));
          seen[outcome.ok ? 'ok' : 'refused'] += 1;
        }
      }
      assert.ok(seen.ok > 0 && seen.refused > 0, `the swapping must be felt: ${JSON.stringify(seen)}`);
      console.log(`      ${JSON.stringify(seen)}`);
    });
  }

  const linked = [
    ['the folder it is in and a link to outside', 'x', 'l', ''],
    ['a folder in it and a link to outside', 'x/tree/sub', 'x/tree/l', 'tree'],
  ] as const;
  for (const target of ['x/tree', 'x/tree/secret.txt'])
    for (const [name, real, link, leadsTo] of linked) {
      if (!linux || (target !== 'x/tree' && link !== 'l')) continue;
      it(`E21 deleting ${target}, ${name}: nothing is deleted outside`, async () => {
        const at = (path: string) => paths.join(workspace.root, path);
        // What is prepared for each round must land in the folder itself, whatever it is called at the moment.
        const folder = openSync(at('x'), 'r');
        const held = (path: string) => `/proc/self/fd/${folder}/${path}`;
        const prepare = () => {
          mkdirSync(held('tree/sub'), { recursive: true });
          writeFileSync(held('tree/secret.txt'), 'INSIDE');
          writeFileSync(held('tree/sub/secret.txt'), 'INSIDE');
          if (link !== 'l') linkAnew(outside.root + paths.sep + leadsTo, held('tree/l'));
        };
        prepare();
        if (link === 'l') symlinkSync(outside.root, at(link));
        swapping = spawn(swapper[0], [...swapper.slice(1), at(real), at(link)], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        await once(swapping.stdout!, 'data');
        const { call } = conversation(workspace);
        const seen = { ok: 0, refused: 0 };
        for (let round = 0; !enough(round, seen); round++) {
          const outcome = await call('fs.delete', { path: target });
          assert.ok(!JSON.stringify(outcome).includes('CANARY'), JSON.stringify(outcome));
          seen[outcome.ok ? 'ok' : 'refused'] += 1;
          if (outcome.ok) prepare();
        }
        assert.deepEqual(
          readdirSync(held('')).filter((name) => name.startsWith('.towpath')),
          [],
          'nothing is left half deleted',
        );
        closeSync(folder);
        assert.ok(seen.ok > 0 && seen.refused > 0, `the swapping must be felt: ${JSON.stringify(seen)}`);
        console.log(`      ${JSON.stringify(seen)}`);
      });
    }

  it('R06 a link to outside put there during the question: the write is refused', async () => {
    const { call } = conversation(workspace, {
      answer: async () => {
        rmSync(paths.join(workspace.root, 'x/secret.txt'));
        symlinkSync(paths.join(outside.root, 'secret.txt'), paths.join(workspace.root, 'x/secret.txt'));
        return { decision: 'allow' };
      },
    });
    const outcome = await call('fs.write', { path: 'x/secret.txt', content: 'NEW' });
    assert.deepEqual([outcome.ok, !outcome.ok && outcome.error.code], [false, 'E_SANDBOX_VIOLATION']);
  });
});

/** On a busy machine it may take longer until one gets through, or is met by the swapping. */
const enough = (round: number, seen: { ok: number; refused: number }) =>
  round >= rounds && ((seen.ok > 0 && seen.refused > 0) || round >= 200 * rounds);

/** The names in it are swapped all the time: what is there may be the folder by now. */
function linkAnew(target: string, path: string): void {
  try {
    symlinkSync(target, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function compiled(folder: string): [string] | undefined {
  const program = paths.join(folder, 'swapper');
  try {
    execFileSync('cc', ['-O2', '-o', program, paths.join(import.meta.dirname, '../swapper.c')], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  return existsSync(program) ? [program] : undefined;
}
