import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { lstatSync, mkdtempSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as paths from 'node:path';
import { type Denied, marker } from '../denied.ts';

/** Why nobody can be watched here, if so. */
function whyNot(): string | undefined {
  if (process.platform !== 'linux') return 'strace is a program of Linux';
  const tried = spawnSync('strace', ['-o', '/dev/null', 'true'], { encoding: 'utf8' });
  if (tried.error) return 'there is no strace (Debian: apt-get install strace)';
  return tried.status === 0
    ? undefined
    : `strace may not watch processes here: ${tried.stderr.trim().split('\n').at(-1)}`;
}

/** What a program asked the kernel for, with the names it gave. */
interface Asked {
  what: string;
  names: string[];
  /** A link at the end of a name is followed. */
  follows: boolean;
}

describe('paths: what is refused', function () {
  this.timeout(300_000);

  it('is not opened, listed, measured or changed, seen by the kernel', function () {
    const reason = whyNot();
    if (reason) {
      console.log(`      Not checked: ${reason}.`);
      this.skip();
    }
    const folder = mkdtempSync(paths.join(tmpdir(), 'towpath-watched-'));
    const record = paths.join(folder, 'record');
    const program = paths.join(import.meta.dirname, '../denied.ts');
    const watch = ['-f', '-y', '-s', '8192', '-e', 'trace=%file', '-e', 'signal=none', '-o', record];
    const run = spawnSync('strace', [...watch, process.execPath, '--import', 'tsx', program], {
      encoding: 'utf8',
      maxBuffer: 100_000_000,
    });
    assert.equal(run.status, 0, run.stderr);
    const cases = JSON.parse(run.stdout) as Denied[];
    const asked = recorded(readFileSync(record, 'latin1'));
    const seen = cases.flatMap((one) =>
      asked.get(one.id)!.flatMap(({ what, names, follows }) => {
        const touched = names.map((name) => leadsTo(name, follows)).filter((name) => isOutside(one, name));
        return touched.map((name) => `${one.id} ${what} ${name.replace(one.outer, '')}`);
      }),
    );
    const calls = [...asked.values()].reduce((sum, { length }) => sum + length, 0);
    for (const { outer } of cases) rmSync(outer, { recursive: true });
    rmSync(folder, { recursive: true });
    console.log(`      ${cases.length - 2} cases, ${calls} system calls`);
    assert.ok(cases.length > 20, 'there are cases');
    assert.deepEqual(
      new Set(seen),
      new Set(['outright statx /outside/secret.txt', 'by-a-link statx /outside/secret.txt']),
    );
  });
});

/** By case. Names are absolute, those through handles, too. */
function recorded(text: string): Map<string, Asked[]> {
  const cases = new Map<string, Asked[]>();
  const handles = new Map<string, string>();
  let current: Asked[] | undefined;
  for (const line of text.split('\n')) {
    const opened = /= (\d+)<(\/[^>]*)>$/.exec(line);
    if (opened) handles.set(opened[1]!, opened[2]!);
    const [, what, given] = /^\d+ +(\w+)\((.*)$/.exec(line) ?? [];
    if (!what) continue;
    const said = new RegExp(`"${marker}/([^/"]+)/(begin|end)"`).exec(line);
    if (said) {
      current = said[2] === 'begin' ? [] : undefined;
      if (current) cases.set(said[1]!, current);
    }
    if (!current || said) continue;
    const from = /^(?:AT_FDCWD|\d+)<([^>]*)>/.exec(given!)?.[1] ?? '/';
    const strings = [...given!.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, string]) => unescaped(string!));
    // The second text of these is arguments, or the answer.
    const names = (/^(execve|readlink)/.test(what) ? strings.slice(0, 1) : strings).map((name) => {
      const held = /^\/proc\/self\/fd\/(\d+)(.*)$/.exec(name);
      return paths.resolve(from, held ? (handles.get(held[1]!) ?? '/') + held[2] : name);
    });
    const keepsLink = /^(l\w+|readlink\w*|unlink\w*|rename\w*|mkdir\w*|rmdir|symlink\w*|link\w*)$/.test(what);
    current.push({ what, names, follows: !keepsLink && !/NOFOLLOW/.test(given!) });
  }
  return cases;
}

const unescaped = (text: string) =>
  Buffer.from(
    text.replace(/\\([0-7]{1,3}|.)/g, (_, code: string) =>
      /^[0-7]/.test(code) ? String.fromCharCode(Number.parseInt(code, 8)) : code,
    ),
    'latin1',
  ).toString();

/** Where a name leads, link by link, whether anything is there or not. */
function leadsTo(name: string, follows: boolean): string {
  let path = '/';
  const rest = name.split('/').filter(Boolean);
  for (let links = 0; rest.length > 0; ) {
    const next = paths.join(path, rest.shift()!);
    const isLink = lstatSync(next, { throwIfNoEntry: false })?.isSymbolicLink();
    if (!isLink || next.startsWith('/proc/') || (rest.length === 0 && !follows)) path = next;
    else if (++links > 50) return next;
    else {
      rest.unshift(...paths.resolve(path, readlinkSync(next)).split('/').filter(Boolean));
      path = '/';
    }
  }
  return path;
}

/** In what lies beside the workspace, or in the very place that the case names. */
function isOutside({ outer, roots, elsewhere }: Denied, path: string): boolean {
  const beside = ['outside', 'ws-evil', 'home'].map((name) => paths.join(outer, name));
  const places = [
    ...beside.filter((place) => !roots.some((root) => isIn(root, place) || isIn(place, root))),
    ...elsewhere,
  ];
  return places.some((place) => isIn(place, path));
}

const isIn = (folder: string, path: string) => path === folder || path.startsWith(`${folder}/`);
