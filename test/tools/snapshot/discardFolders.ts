import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const data = readFileSync(path.join(import.meta.dirname, '../commands/loss/discards.json'), 'utf8');
/** Commands that discard work; `{tree}` is a second working tree. */
export const discards: readonly string[] = JSON.parse(data).named.map(([command]: [string]) =>
  command.replace('{tree}', '../tree'),
);

const git =
  'git -c user.name=a -c user.email=a@example.com -c init.defaultBranch=main -c init.templateDir= -c commit.gpgsign=false -c protocol.file.allow=always';
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
const scripts: Record<string, string> = {
  clean: `${sources} && ${history}`,
  dirty: `${sources} && ${history} && ${uncommitted}`,
  'no Git': `${sources} && ${work}`,
  submodules: `${sources} && ${history} && (${nested}) && ${uncommitted}`,
  worktree: `${sources} && ${history} && cd .. && mv ws main && git -C main worktree add -q ../ws -b own && cd ws && ${uncommitted}`,
  '10,000 files': `${sources} && (${many}) && ${history} && ${uncommitted}`,
};

/** Kinds of folders, from small to large. */
export const folderKinds: readonly string[] = Object.keys(scripts);

const sh = (cwd: string, script: string) => execFileSync('sh', ['-ec', script], { cwd, stdio: 'pipe' });

/** Makes a folder with the folder `ws` of this kind, and what lies beside it. */
export function makeFolder(folder: string, kind: string): void {
  const root = path.join(folder, 'ws');
  mkdirSync(root, { recursive: true });
  sh(root, scripts[kind]!.trim().replaceAll(/\n\s*/g, '\n'));
}

/** Copies such a folder into an existing one. Git learns of the other paths and inodes. */
export function copyFolder(from: string, to: string, kind: string): void {
  sh(from, `cp -a . '${to}/'`);
  const repository = path.join(to, kind === 'worktree' ? 'main' : 'ws');
  if (kind !== 'no Git') sh(repository, 'git worktree repair ../tree ../ws 2>&1; git -C ../ws status --short');
}
