// Commands that discard work, in six kinds of folders. `npm run discards`: each command in each of them.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { RecordedRun } from './recordedRun.ts';

const data = readFileSync(path.join(import.meta.dirname, '../commands/loss/discards.json'), 'utf8');
const discards: string[] = JSON.parse(data).named.map(([command]: [string]) => command);

const git =
  'git -c user.name=a -c user.email=a@example.com -c init.defaultBranch=main -c commit.gpgsign=false -c protocol.file.allow=always';
const sources = `
  mkdir -p src app empty && printf 'export const a = 1;\\n' > src/a.ts && printf 'b\\r\\n' > src/b.ts
  echo main > app/main.ts && echo s > staged.txt && printf '\\000\\377' > src/c.bin && chmod 755 src/b.ts && ln -s src/a.ts link
  echo '{"name":"x","scripts":{"clean":"rm notes.txt"}}' > package.json && printf '.env\\ndist/\\n' > .gitignore`;
const work = `
  echo mine > src/a.ts && echo mine >> app/main.ts && echo staged > staged.txt && printf '1\\n2\\n3\\n' > notes.txt
  echo SECRET=1 > .env && chmod 600 .env`;
const history = `
  ${git} init -q . && ${git} add -A && ${git} commit -qm one
  ${git} checkout -q -b side && echo side > side.txt && ${git} add -A && ${git} commit -qm side && ${git} checkout -q main
  echo two > two.txt && ${git} add -A && ${git} commit -qm two
  ${git} init -q --bare ../remote.git && ${git} remote add origin ../remote.git && ${git} push -q origin main
  echo three >> two.txt && ${git} stash -q && ${git} worktree add -q ../tree -b tree`;
const uncommitted = `${work} && git add staged.txt && echo draft > ../tree/draft.txt`;
const nested = `
  mkdir ../library && cd ../library && echo 1 > one && ${git} init -q . && ${git} add -A && ${git} commit -qm 1 && cd ../ws
  ${git} submodule --quiet add ../library src/library && ${git} commit -qm library
  echo mine >> src/library/one && echo 2 > src/library/two`;
const many =
  'mkdir many && cd many && seq 1 100 | xargs mkdir && for one in *; do (cd $one && seq 1 100 | xargs touch); done';

/** Scripts that make the folder `ws`, in which they start. */
const folders: Record<string, string> = {
  clean: `${sources} && ${history}`,
  dirty: `${sources} && ${history} && ${uncommitted}`,
  'no Git': `${sources} && ${work}`,
  submodules: `${sources} && ${history} && (${nested}) && ${uncommitted}`,
  worktree: `${sources} && ${history} && cd .. && mv ws main && git -C main worktree add -q ../ws -b own && cd ws && ${uncommitted}`,
  '10,000 files': `${sources} && (${many}) && ${history} && ${uncommitted}`,
};

/** All kinds of folders, one of the commands for each, so that each command is tried once; two for the largest. */
function pairs(): [command: string, folder: string][] {
  const kinds = Object.keys(folders);
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

  const sh = (cwd: string, script: string) => execFileSync('sh', ['-ec', script], { cwd, stdio: 'pipe' });
  const copyOf = (kind: string, run: RecordedRun) => {
    const template = path.join(templates, kind.replaceAll(/\W/g, '-'));
    if (!made.has(kind)) {
      mkdirSync(path.join(template, 'ws'), { recursive: true });
      sh(path.join(template, 'ws'), folders[kind]!.trim().replaceAll(/\n\s*/g, '\n'));
      made.add(kind);
    }
    sh(template, `cp -a . '${run.base}/'`);
    // The copies have other paths and inodes.
    const repository = path.join(run.base, kind === 'worktree' ? 'main' : 'ws');
    if (kind !== 'no Git') sh(repository, 'git worktree repair ../tree ../ws 2>&1; git -C ../ws status --short');
  };

  for (const [command, kind] of pairs())
    it(`is put back to the byte, and done again: “${command}” (${kind})`, async () => {
      const run = new RecordedRun();
      try {
        copyOf(kind, run);
        const before = run.folder.state();
        const id = await run.command(command.replace('{tree}', '../tree'));
        const after = run.folder.state();
        if (kind === 'dirty') assert.equal(run.losses.length, 1, 'the approval names the loss');
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
