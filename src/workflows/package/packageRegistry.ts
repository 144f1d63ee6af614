import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, realpath, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { RunError } from '../../engine/core/errorInfo.ts';
import type { Workflow } from '../../engine/core/workflow.ts';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { type LocalizableText, messageOf, toErrorInfo, withoutFullStop } from '../../protocol/text/localized.ts';
import { openFolderRoots } from '../../tools/core/workspace.ts';
import { writeOwnFile } from '../../tools/sandbox/writeFile.ts';
import { isArchive, unfinishedUnpackMarker } from './archiveNames.ts';
import { parsePackageRunId } from './ids.ts';
import type { WorkflowPackage } from './load.ts';
import type { PackageRunOptions } from './packageWorkflow.ts';
import { PackageError, type PackageProblem } from './problem.ts';
import type { PackageReadResult } from './readPackage.ts';
import type { createWorkflowOfPackageRun } from './workflowOf.ts';

/** A known package, or the reason that it is unusable. `opened`: can be removed from the list. */
export type RegisteredPackage = Found & { opened: boolean };
/**
 * `problem`: complete text; `said`: its localizable form. `file`: path in the package, if known. `problems`: several problems with their
 * files.
 */
type Found = { key: string; place: string } & (
  | { source: WorkflowPackage }
  | { problem: string; said?: LocalizedMessage; file?: string; problems?: readonly PackageProblem[] }
);

interface ShelfOptions extends Pick<PackageRunOptions, 'project' | 'stateFolder' | 'autopilot' | 'now'> {
  storage: string;
  openedFile: string;
  /** Reads a package (`readPackage.ts`), possibly in a worker; throws a message if reading is impossible. */
  read(place: string, storage: string): Promise<PackageReadResult>;
  follow(...of: Parameters<typeof createWorkflowOfPackageRun>): Workflow | Promise<Workflow>;
}

/** `from`: path opened by the user. `folder`: path of the files, for an archive the unpacked folder. */
const openedSchema = z.array(z.object({ folder: z.string(), from: z.string() }));
type Opened = z.infer<typeof openedSchema>[number];

/** Registry of packages in the workspace (`.towpath/packages/`: folders and `.bmad` archives) and of opened packages. */
export class PackageRegistry {
  constructor(private readonly options: ShelfOptions) {}

  /** Returns all packages in the order of discovery; none in an untrusted workspace. */
  async list(): Promise<RegisteredPackage[]> {
    if (!this.options.project.trusted) return [];
    const found = new Map<string, RegisteredPackage>();
    const add = (shelved: Found, opened: boolean) => {
      const known = found.get(shelved.key) ?? { ...shelved, opened };
      found.set(shelved.key, { ...known, opened: known.opened || opened });
    };
    for (const place of await this.inWorkspace()) add(await this.look(place), false);
    for (const { folder, from } of await this.opened()) add({ ...(await this.look(folder)), place: from }, true);
    return [...found.values()];
  }

  async open(file: string): Promise<RegisteredPackage & { source: WorkflowPackage }> {
    if (!this.options.project.trusted) throw new PackageError(path.basename(file), untrusted);
    const read = await this.read(isArchive(file) ? file : path.dirname(file));
    if ('problem' in read) throw PackageError.of(problemsOf(read));
    const { folder, source } = read;
    const others = (await this.opened()).filter((one) => one.folder !== folder);
    await this.remember([...others, { folder, from: file }]);
    return { key: await keyOf(folder), place: file, source, opened: true };
  }

  /** Removes an opened package. Unpacked files are deleted, the user's folder never. */
  async forget(key: string): Promise<void> {
    const opened = await this.opened();
    const keys = await Promise.all(opened.map(({ folder }) => keyOf(folder)));
    await this.remember(opened.filter((_, index) => keys[index] !== key));
    for (const name of await this.unpacked())
      if (name.startsWith(key)) await rm(path.join(this.options.storage, name), { recursive: true, force: true });
  }

  /**
   * Deletes unpacked archives that are not opened, belong to no run, and were unused for an hour.
   *
   * @param workflowIds workflow ids of the stored runs; with an undefined id nothing is deleted
   */
  async sweep(workflowIds: () => Promise<readonly (string | undefined)[]>): Promise<void> {
    const { storage } = this.options;
    const names = await readdir(storage).catch(() => []);
    if (names.length === 0) return;
    const ids = await workflowIds();
    if (ids.includes(undefined)) return;
    const keys = new Set(ids.map((id) => parsePackageRunId(id!)?.key));
    const opened = new Set((await this.opened()).map(({ folder }) => folder));
    for (const name of names) {
      const folder = path.join(storage, name);
      const { mtimeMs = Number.POSITIVE_INFINITY } = (await stat(folder).catch(() => undefined)) ?? {};
      const isOurs = isUnpacked(name) || name.startsWith(unfinishedUnpackMarker);
      if (!isOurs || opened.has(folder) || keys.has(name.slice(0, keyLength))) continue;
      if (mtimeMs < this.options.now().getTime() - unusedMs) await rm(folder, { recursive: true, force: true });
    }
  }

  /** Returns the workflow of a run; undefined for the id of another kind. Throws `RunError`. */
  async workflow(id: string): Promise<Workflow | undefined> {
    const wanted = parsePackageRunId(id);
    if (!wanted) return undefined;
    if (!this.options.project.trusted) throw new RunError('WORKFLOW_UNTRUSTED', untrusted);
    const shelved = (await this.list()).find(({ key }) => key === wanted.key) ?? (await this.storedPackage(wanted.key));
    if (!shelved) throw missing(message('The package of this run ({0}) is no longer here. Open it again.', wanted.key));
    if ('problem' in shelved) {
      const { problem, said } = shelved;
      throw new RunError('WORKFLOW_INVALID', message('The package cannot be used: {0}.', said ?? problem));
    }
    return this.options.follow(shelved.source, id, wanted, this.options);
  }

  /** Returns the unpacked archive of a run whose original was changed or deleted; the run continues with its own version. */
  private async storedPackage(key: string): Promise<Found | undefined> {
    const name = (await this.unpacked()).find((one) => one.slice(0, keyLength) === key);
    return name === undefined ? undefined : this.look(path.join(this.options.storage, name));
  }

  private async unpacked(): Promise<string[]> {
    return (await readdir(this.options.storage).catch(() => [])).filter(isUnpacked);
  }

  private async look(place: string): Promise<Found> {
    try {
      const { folder, ...read } = await this.read(place);
      const key = await keyOf(folder);
      if ('source' in read) return { key, place, source: read.source };
      const error = PackageError.of(problemsOf(read));
      const { file, problems } = error;
      return { key, place, ...problemOf(messageOf(error)), file, ...(error.others.length > 0 && { problems }) };
    } catch (error) {
      return { key: await keyOf(place), place, ...problemOf(withoutFullStop(messageOf(error))) };
    }
  }

  private read(place: string): Promise<PackageReadResult> {
    return this.options.read(place, this.options.storage);
  }

  private async inWorkspace(): Promise<string[]> {
    const folders = await Promise.all(
      openFolderRoots(this.options.project.roots).map(async (root) => {
        const folder = path.join(root.path, '.towpath', 'packages');
        const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
        const wanted = entries.filter((entry) => entry.isDirectory() || (entry.isFile() && isArchive(entry.name)));
        return wanted.map((entry) => path.join(folder, entry.name)).sort();
      }),
    );
    return folders.flat();
  }

  private async remember(opened: readonly Opened[]): Promise<void> {
    await mkdir(path.dirname(this.options.openedFile), { recursive: true, mode: 0o700 });
    await writeOwnFile(this.options.openedFile, JSON.stringify(opened));
  }

  private async opened(): Promise<Opened[]> {
    const text = await readFile(this.options.openedFile, 'utf8').catch(() => '[]');
    try {
      return openedSchema.parse(JSON.parse(text));
    } catch {
      return [];
    }
  }
}

const problemsOf = ({ file, problem, said, others }: PackageProblem & { others?: readonly PackageProblem[] }) => ({
  file,
  problem,
  ...(said && { said }),
  ...(others && { others }),
});

function problemOf(text: LocalizableText): { problem: string; said?: LocalizedMessage } {
  const { message: problem, ...said } = toErrorInfo(text);
  return { problem, ...said };
}

const untrusted = message(
  'This workspace is not trusted, so no package is loaded. Trust it first (Manage Workspace Trust).',
);
const isUnpacked = (name: string) => /^[0-9a-f]{64}$/.test(name);
const keyLength = 16;
const unusedMs = 60 * 60 * 1000;
const missing = (text: LocalizableText) => new RunError('WORKFLOW_NOT_FOUND', text);

/** Returns the key stored in a run: the content hash of an archive, else a key of the folder's path. */
async function keyOf(folder: string): Promise<string> {
  const name = path.basename(folder);
  if (isUnpacked(name)) return name.slice(0, keyLength);
  const real = await realpath(folder).catch(() => folder);
  const readable = name.replace(/[^\w.-]/g, '_').slice(0, 40);
  return `${readable}-${createHash('sha256').update(real).digest('hex').slice(0, 8)}`;
}
