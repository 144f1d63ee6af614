import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import {
  contentPackIndexLength,
  contentPackSuffix,
  contentPackTailBytes,
  parseContentPackIndex,
} from '../../../src/protocol/values/contentPack.ts';
import { compareSnapshot, type SnapshotComparison } from '../../../src/tools/snapshot/compareSnapshot.ts';
import { removeSnapshot } from '../../../src/tools/snapshot/snapshotFile.ts';
import { type SnapshotRequest, takeSnapshot } from '../../../src/tools/snapshot/takeSnapshot.ts';

type Recorded = SnapshotComparison & { pack: string };

/** Folder with a store beside it, in which a test runs commands. */
export class RecordedFolder {
  readonly base = fs.realpathSync(fs.mkdtempSync(path.join(tmpdir(), 'towpath-snapshot-')));
  readonly root = path.join(this.base, 'project');
  readonly store = path.join(this.base, 'store');
  private calls = 0;

  constructor() {
    fs.mkdirSync(this.root);
  }

  write(files: Record<string, string | Buffer>): this {
    for (const [name, content] of Object.entries(files)) {
      fs.mkdirSync(path.dirname(path.join(this.root, name)), { recursive: true });
      fs.writeFileSync(path.join(this.root, name), content);
    }
    return this;
  }

  run(command: string): void {
    execFileSync('sh', ['-c', command], { cwd: this.root, env: { ...process.env, ...author }, stdio: 'pipe' });
  }

  commit(): this {
    this.run('git init -q . && git add -A && git commit -qm base');
    return this;
  }

  /** Everything in the folder but `.git`, to compare. */
  state(): Record<string, string> {
    const state: Record<string, string> = {};
    const look = (folder: string) => {
      const names = fs.readdirSync(path.join(this.root, folder)).filter((name) => name !== '.git');
      if (names.length === 0 && folder !== '') state[`${folder}/`] = 'empty';
      for (const name of names.sort()) {
        const relative = path.join(folder, name);
        const stats = fs.lstatSync(path.join(this.root, relative));
        if (stats.isDirectory()) look(relative);
        else if (stats.isSymbolicLink()) state[relative] = `→ ${fs.readlinkSync(path.join(this.root, relative))}`;
        else {
          const mode = (stats.mode & 0o777).toString(8);
          state[relative] = `${mode} ${fs.readFileSync(path.join(this.root, relative)).toString('latin1')}`;
        }
      }
    };
    look('');
    return state;
  }

  async during(work: () => void, options: Partial<SnapshotRequest> = {}): Promise<Recorded> {
    const id = String(++this.calls);
    const pack = path.join(this.base, `${id}.pack`);
    const request = { id, store: this.store, folders: [this.root], budget: 200_000_000, ...options };
    const taken = await takeSnapshot(request);
    if ('problem' in taken) throw new Error(taken.problem);
    work();
    const compared = await compareSnapshot({ id, store: this.store, pack });
    if ('problem' in compared) throw new Error(compared.problem);
    removeSnapshot(this.store, id);
    return { ...compared, pack };
  }

  /** Puts everything back from the pack alone. */
  restore({ changes, pack }: Recorded): void {
    const contents = fs.existsSync(pack) ? readPack(pack) : new Map<string, Buffer>();
    const sorted = [...changes].sort((one, other) => (one.path < other.path ? -1 : 1));
    for (const { path: file, after } of [...sorted].reverse()) {
      if (after?.kind === 'folder') fs.rmdirSync(file);
      else if (after) fs.rmSync(file);
    }
    for (const { path: file, before } of sorted) {
      if (!before) continue;
      fs.mkdirSync(before.kind === 'folder' ? file : path.dirname(file), { recursive: true });
      if (before.kind === 'link') fs.symlinkSync(contents.get(before.id)!.toString(), file);
      if (before.kind !== 'file') continue;
      fs.writeFileSync(file, contents.get(before.id)!);
      fs.chmodSync(file, before.mode);
    }
  }

  /** Bytes of the packs of current contents. */
  storedBytes(): number {
    const packs = fs.readdirSync(this.store).filter((name) => name.endsWith(contentPackSuffix));
    return packs.reduce((sum, name) => sum + fs.statSync(path.join(this.store, name)).size, 0);
  }

  names({ changes }: SnapshotComparison): string[] {
    return changes.map((one) => path.relative(this.root, one.path)).sort();
  }

  remove(): void {
    fs.rmSync(this.base, { recursive: true, force: true });
  }
}

const author = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.com',
};

function readPack(file: string): Map<string, Buffer> {
  const bytes = fs.readFileSync(file);
  const end = bytes.length - contentPackTailBytes;
  const start = end - contentPackIndexLength(bytes.subarray(end));
  const index = parseContentPackIndex(bytes.toString('utf8', start, end));
  return new Map([...index].map(([id, { offset, length }]) => [id, bytes.subarray(offset, offset + length)]));
}
