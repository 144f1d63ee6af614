import assert from 'node:assert/strict';
import { protectedPatterns, toSeatbelt } from '../../../../src/tools/commandSandbox/macos/protectedPatterns.ts';
import { protectedChangeReason } from '../../../../src/tools/commandSandbox/protectedChanges.ts';

const isProtected = (path: string): boolean =>
  protectedPatterns().some((pattern) => new RegExp(`^/ws${pattern}`, 's').test(`/ws/${path}`));

const ordinary = `src/a.ts README.md gitx src/git.ts dist/index.js xgit/a src/hooks/useX.ts foo/hooks/x agents/x.ts docs/AGENTS.md.txt`;

const protectedPaths = `.git .git/hooks/pre-commit a/.GIT/config sub/.git/index .vscode x/.VSCODE/tasks.json AGENTS.md a/agents.MD
  .github/workflows/ci.yml .towpath/x a/b/.cursor/mcp.json package.json x/Makefile a.config.ts .env .env.local a/.ssh/x key.pem.bak
  node_modules/x/y.js x/node_modules .config/autostart/x .foo/hooks/x a/.config/gh/hosts.yml .husky/pre-push .npmrc`;

describe('the protected names of macOS', () => {
  for (const path of ordinary.split(' '))
    it(`do not include ${path}`, () => {
      assert.equal(isProtected(path), false);
      assert.equal(protectedChangeReason(path.split('/'), 'workspace', 'file'), undefined);
    });

  for (const path of protectedPaths.split(/\s+/))
    it(`include ${path}, as on Linux`, () => {
      assert.equal(isProtected(path), true);
      if (!path.includes('.git/')) assert.ok(protectedChangeReason(path.split('/'), 'workspace', 'file'));
    });

  it('include names that a disk without case takes for the same', () =>
    assert.deepEqual(['.v\u017fcode/x', '.hu\u017f\u212ay/x', '.git\u200b'].map(isProtected), [true, true, false]));

  it('use what Seatbelt understands only', () => {
    for (const pattern of protectedPatterns()) assert.doesNotMatch(pattern, /\(\?|\\[a-zA-Z]|"|[^\\][{}]/);
    assert.equal(toSeatbelt('/(?:a\\.s|[x-z])$'), '/([aA]\\.([sS]|ſ)|[xX-zZ])$');
  });
});
