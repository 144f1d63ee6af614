import assert from 'node:assert/strict';
import { deniedPaths } from '../../../src/tools/commandSandbox/deniedPaths.ts';

describe('the paths that a sandboxed command could not write', () => {
  const cases: [line: string, paths: string[]][] = [
    ["touch: cannot touch '/home/me/x': Read-only file system", ['/home/me/x']],
    ['/bin/bash: line 1: /home/me/x: Read-only file system', ['/home/me/x']],
    ["Error: EROFS: read-only file system, open '/home/me/.cache/y'", ['/home/me/.cache/y']],
    ['PermissionError: [Errno 13] Permission denied: "/home/me/z"', ['/home/me/z']],
    ['OSError: [Errno 30] Read-only file system: ‘/home/me/z’', ['/home/me/z']],
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
          (path) => path.startsWith('/work/app'),
          (path) => path.startsWith('/home/me'),
        ),
        expected,
      ),
    );

  it('names at most three', () => {
    const output = ['a', 'b', 'b', 'c', 'd'].map((name) => `/home/me/${name}: Read-only file system`).join('\n');
    const named = deniedPaths(
      output,
      () => false,
      () => true,
    );
    assert.deepEqual(named, ['/home/me/a', '/home/me/b', '/home/me/c']);
  });
});
