import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { createCheckTaskFolderAccess } from '../../src/check/folderWorkspace.ts';
import { temporaryWorkspace } from '../support/workspace.ts';

describe('what a model has left in the folder of its task', () => {
  it('is read where it is a plain file, and else is no file: nothing waits for it, nothing outside is looked at', async function () {
    if (process.platform === 'win32') return this.skip();
    const { root, cleanup } = await temporaryWorkspace({ 'a.txt': 'one\n', 'folder/b.txt': '' });
    try {
      execFileSync('mkfifo', [path.join(root, 'pipe')]);
      symlinkSync('/etc/hostname', path.join(root, 'link'));
      const { read } = createCheckTaskFolderAccess(root);
      assert.deepEqual(
        ['a.txt', 'pipe', 'link', 'folder', 'missing'].map((file) => read(file)),
        ['one\n', undefined, undefined, undefined, undefined],
      );
    } finally {
      cleanup();
    }
  });
});
