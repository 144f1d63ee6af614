// Commands that discard work, in six kinds of folders. `npm run discards`: each command in each of them.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { copyFolder, discards, folderKinds, makeFolder } from './discardFolders.ts';
import { RecordedRun } from './recordedRun.ts';

/** All kinds of folders, one of the commands for each, so that each command is tried once; two for the largest. */
function pairs(): [command: string, folder: string][] {
  const kinds = folderKinds;
  if (process.env.TOWPATH_DISCARDS === 'all')
    return kinds.flatMap((kind) => discards.map((command): [string, string] => [command, kind]));
  const small = kinds.slice(0, -1);
  return discards.map((command, index) => [
    command,
    index % 13 === 6 ? kinds.at(-1)! : small[(index * 2) % small.length]!,
  ]);
}

describe('a command that discards work', function () {
  this.timeout(120_000);
  let templates: string;
  const made = new Set<string>();
  before(function () {
    if (process.platform === 'win32') return this.skip();
    templates = mkdtempSync(path.join(tmpdir(), 'towpath-discards-'));
  });
  after(() => rmSync(templates, { recursive: true, force: true }));

  const copyOf = (kind: string, run: RecordedRun) => {
    const template = path.join(templates, kind.replaceAll(/\W/g, '-'));
    if (!made.has(kind)) makeFolder(template, kind);
    made.add(kind);
    copyFolder(template, run.base, kind);
  };

  for (const [command, kind] of pairs())
    it(`is put back to the byte, and done again: “${command}” (${kind})`, async () => {
      const run = new RecordedRun();
      try {
        copyOf(kind, run);
        const before = run.folder.state();
        const id = await run.command(command);
        const after = run.folder.state();
        if (kind === 'dirty') assert.ok(run.losses.length > 0, 'the approval names the loss');
        const { left } = await run.undo([id], 'all');
        assert.deepEqual(left, []);
        assert.deepEqual(run.folder.state(), before);
        assert.deepEqual(await run.redo(), []);
        assert.deepEqual(run.folder.state(), after);
      } finally {
        await run.end();
      }
    });
});
