import assert from 'node:assert/strict';
import { deniedPaths } from '../../../src/tools/commandSandbox/deniedPaths.ts';

describe('the paths that a sandboxed command could not write', () => {
  const cases: [line: string, paths: string[]][] = [
    ["touch: cannot touch '/home/me/x': Read-only file system", ['/home/me/x']],
    ['/bin/bash: line 1: /home/me/x: Read-only file system', ['/home/me/x']],
    ["Error: EROFS: read-only file system, open '/home/me/.cache/y'", ['/home/me/.cache/y']],
    ['PermissionError: [Errno 13] Permission denied: "/home/me/z"', ['/home/me/z']],
    ['OSError: [Errno 30] Read-only file system: ‘/home/me/z’', ['/home/me/z']],
    ["Error: ENOENT: no such file or directory, mkdir '/home/me/a/b'", ['/home/me/a/b']],
    ["Error: ENOENT: no such file or directory, open '/home/me/a/b'", []],
    ["touch: cannot touch 'node_modules/x': Read-only file system", ['/work/app/node_modules/x']],
    ['rm: cannot remove ‘node_modules’: Read-only file system', ['/work/app/node_modules']],
    ['bash: line 1: node_modules/a/b.js: Read-only file system', ['/work/app/node_modules/a/b.js']],
    ['/bin/bash: line 1: ../x: Read-only file system', ['/work/x']],
    ['/home/me/sh: 12: cannot create ../y: Read-only file system', ['/work/y']],
    ["touch: cannot touch './node_modules/x': Read-only file system", ['/work/app/node_modules/x']],
    ["Error: EROFS: read-only file system, open '/work/app/node_modules/x'", ['/work/app/node_modules/x']],
    ["touch: cannot touch '../other/x': Read-only file system", ['/work/other/x']],
    ["mkdir: cannot create directory 'src/x': Permission denied", []],
    ['cannot write /home/me/x: no space left', []],
    ['Permission denied (publickey).', []],
    ['rm: /work/app/a: Permission denied', []],
    ['cat: /etc/shadow: Permission denied', []],
  ]; // biome-ignore format: a table
  for (const [line, expected] of cases)
    it(line, () =>
      assert.deepEqual(
        deniedPaths(
          `before\n${line}\nafter /home/me/other`,
          '/work/app',
          (path) => /^\/work\/app(?!\/node_modules)/.test(path),
          (path) => /^\/(?:home\/me|work)\b/.test(path),
        ),
        expected,
      ),
    );

  it('names at most three', () => {
    const output = ['a', 'b', 'b', 'c', 'd'].map((name) => `/home/me/${name}: Read-only file system`).join('\n');
    const named = deniedPaths(
      output,
      '/work/app',
      () => false,
      () => true,
    );
    assert.deepEqual(named, ['/home/me/a', '/home/me/b', '/home/me/c']);
  });
});
