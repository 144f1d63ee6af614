import assert from 'node:assert/strict';
import { rmSync, symlinkSync } from 'node:fs';
import * as paths from 'node:path';
import { workspaceInstructions } from '../../src/tools/files/instructions.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../support/workspace.ts';

describe('the workspace’s own instructions', () => {
  let workspace: TemporaryWorkspace;
  beforeEach(async () => {
    workspace = await temporaryWorkspace({
      'AGENTS.md': 'Use tabs.',
      'docs/rules.md': 'Use blanks.',
      '.env': 'KEY=CANARY',
      '../outside.md': 'CANARY',
    });
  });
  afterEach(() => workspace.cleanup());

  // They go to the model before anybody is asked anything.
  const links: [target: string | undefined, told: string | undefined][] = [
    [undefined, 'Use tabs.'],
    ['docs/rules.md', 'Use blanks.'],
    ['.env', undefined],
    ['../outside.md', undefined],
    ['/dev/zero', undefined],
    ['nowhere.md', undefined],
  ];
  for (const [target, told] of links)
    it(`${target ? `as a link to ${target}` : 'as a file'}: ${told ?? 'nothing is read'}`, async () => {
      if (target) {
        rmSync(paths.join(workspace.root, 'AGENTS.md'));
        symlinkSync(target, paths.join(workspace.root, 'AGENTS.md'));
      }
      assert.equal(await workspaceInstructions(workspace), told);
    });

  it('are as the editor has them, and none in a workspace that is not trusted', async () => {
    workspace.openInEditor('AGENTS.md', 'Use tabs, mostly.');
    assert.equal(await workspaceInstructions(workspace), 'Use tabs, mostly.');
    workspace.trusted = false;
    assert.equal(await workspaceInstructions(workspace), undefined);
  });
});
