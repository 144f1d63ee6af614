interface ListedWorktree {
  folder: string;
  isLocked: boolean;
}

/** Reads `git worktree list --porcelain`. The first entry is the main worktree. */
export function parseWorktreeList(output: string): ListedWorktree[] {
  const found: ListedWorktree[] = [];
  for (const line of output.split('\n')) {
    if (line.startsWith('worktree ')) found.push({ folder: line.slice('worktree '.length), isLocked: false });
    const last = found.at(-1);
    if (last && (line === 'locked' || line.startsWith('locked '))) last.isLocked = true;
  }
  return found;
}

interface Status {
  /** Short name; undefined for a detached HEAD. */
  branch?: string;
  changed: string[];
  /** Those of `changed` that a merge could not join. */
  conflicts: string[];
  untracked: string[];
  /** Folders end with a slash. */
  ignored: string[];
}

/** Reads `git status --porcelain=v2 -z --branch`. Undefined for an unknown record. */
export function parseGitStatus(output: string): Status | undefined {
  const status: Status = { changed: [], conflicts: [], untracked: [], ignored: [] };
  const records = output.split('\0');
  if (records.pop() !== '') return undefined;
  while (records.length > 0) {
    const record = records.shift()!;
    const rest = record.slice(2);
    if (record.startsWith('# ')) {
      const head = /^branch\.head (.+)$/s.exec(rest)?.[1];
      if (head !== undefined && head !== '(detached)') status.branch = head;
    } else if (record.startsWith('? ')) status.untracked.push(rest);
    else if (record.startsWith('! ')) status.ignored.push(rest);
    else if (record.startsWith('1 ')) status.changed.push(afterFields(record, 8));
    else if (record.startsWith('u ')) status.conflicts.push(afterFields(record, 10));
    else if (record.startsWith('2 ')) {
      status.changed.push(afterFields(record, 9));
      records.shift(); // former path
    } else return undefined;
  }
  return { ...status, changed: [...status.changed, ...status.conflicts] };
}

const afterFields = (record: string, fields: number) => record.split(' ').slice(fields).join(' ');

interface TrackedFiles {
  submodules: string[];
  /** `skipped`: `skip-worktree`, as a sparse checkout sets it for files that it leaves out. */
  uncompared: { file: string; skipped: boolean }[];
}

/** Reads `git ls-files -z -v --stage`. */
export function parseTrackedFiles(output: string): TrackedFiles {
  const found: TrackedFiles = { submodules: [], uncompared: [] };
  for (const record of output.split('\0')) {
    if (record === '') continue;
    const tab = record.indexOf('\t');
    const [tag = '', mode] = record.slice(0, tab).split(' ');
    const file = record.slice(tab + 1);
    if (mode === '160000') found.submodules.push(file);
    if (tag !== tag.toUpperCase()) found.uncompared.push({ file, skipped: false });
    else if (tag === 'S') found.uncompared.push({ file, skipped: true });
  }
  return found;
}
