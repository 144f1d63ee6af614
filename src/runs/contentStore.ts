import { createHash, randomUUID } from 'node:crypto';
import { promises as fs } from 'node:fs';
import path from 'node:path';
import { message } from '../protocol/text/l10n.ts';
import { contentPackSuffix } from '../protocol/values/contentPack.ts';
import { StoredContentQuota } from './contentQuota.ts';
import { StoreError } from './journal.ts';
import { readPackedContent } from './storage/contentPacks.ts';
import { contentsFolder, outputSuffix } from './storage/storedFolders.ts';
import {
  listStoredContents,
  oldestContentsFirst,
  removeStoredContents,
  type StoredContent,
  type StoredContentKind,
} from './storedContents.ts';

/**
 * File contents before and after changes, for diffs and undo, and outputs of commands, stored by SHA-256 in the folder of the run. Equal
 * contents are stored once and removed with the run. Folders have mode 0700, files 0600.
 */
export class ContentStore {
  readonly trim: StoredContentQuota['trim'];

  /**
   * @param runs absolute path of the folder of all runs
   * @param deleted folders of deleted runs, which count for the quota and are removed first
   */
  constructor(
    private readonly runs: string,
    private readonly deleted: () => Promise<string[]> = async () => [],
    now: () => number = Date.now,
  ) {
    const quota = new StoredContentQuota(runs, deleted, now);
    this.trim = quota.trim.bind(quota);
  }

  /** Stores a text or bytes and returns the id. Throws `StoreError`. */
  keep(runId: string, content: string | Uint8Array): Promise<string> {
    return this.store(runId, content);
  }

  /** Stores the complete output of a command and returns the id, for `read`. Throws `StoreError`. */
  keepOutput(runId: string, text: string): Promise<string> {
    return this.store(runId, text, outputSuffix);
  }

  private async store(runId: string, content: string | Uint8Array, suffix = ''): Promise<string> {
    const id = hash(content);
    const file = path.join(this.folderOf(runId), `${id}${suffix}`);
    try {
      await this.makeFolder(runId);
      const temporary = `${file}.${randomUUID()}`;
      await fs.writeFile(temporary, content, { mode: 0o600, flush: true });
      await fs.rename(temporary, file);
    } catch (error) {
      throw StoreError.from(error);
    }
    return id;
  }

  /** Reads a stored text. Throws `StoreError` for removed (also by the quota) or altered content. */
  async read(runId: string, id: string): Promise<string> {
    const text = (await this.readBytes(runId, id)).toString('utf8');
    if (hash(text) !== id) throw new StoreError('STORE_DAMAGED', message('The stored content is not text.'));
    return text;
  }

  /** Returns the path for a new pack of contents in the folder of the run. Throws `StoreError`. */
  async newPack(runId: string): Promise<string> {
    try {
      await this.makeFolder(runId);
    } catch (error) {
      throw StoreError.from(error);
    }
    return path.join(this.folderOf(runId), `${randomUUID()}${contentPackSuffix}`);
  }

  async readBytes(runId: string, id: string): Promise<Buffer> {
    if (!/^[0-9a-f]{64}$/.test(id))
      throw new StoreError('STORE_DAMAGED', message('This is not the ID of a stored content.'));
    const file = path.join(this.folderOf(runId), id);
    const single = await readFirst([file, `${file}${outputSuffix}`]);
    const bytes =
      single ??
      (await readPackedContent(this.folderOf(runId), id).catch((error) => {
        throw StoreError.from(error);
      }));
    if (!bytes) throw new StoreError('STORE_DAMAGED', message('This content is no longer stored.'));
    if (hash(bytes) !== id) throw new StoreError('STORE_DAMAGED', message('The stored content was altered.'));
    return bytes;
  }

  /** Lists the stored files of a kind, of deleted runs, too. */
  async list(kind: StoredContentKind): Promise<StoredContent[]> {
    const names = await fs.readdir(this.runs).catch(() => []); // nothing stored yet
    const runs = names.map((name) => path.join(this.runs, name));
    const [stored, deleted] = await Promise.all([
      listStoredContents(runs, kind, 'locked'),
      listStoredContents(await this.deleted(), kind),
    ]);
    return [...stored, ...deleted];
  }

  /**
   * Removes the stored files of a kind that were written before a time (epoch milliseconds). Skips runs in `spared` and runs open in any
   * window.
   */
  async remove(kind: StoredContentKind, before: number, spared: ReadonlySet<string>): Promise<void> {
    const files = (await this.list(kind)).filter(({ mtimeMs, run }) => mtimeMs < before && !spared.has(run));
    await removeStoredContents(oldestContentsFirst(files), Number.POSITIVE_INFINITY, 0);
  }

  /** Never creates the run's folder, so that a deleted run does not reappear. */
  private async makeFolder(runId: string): Promise<void> {
    try {
      await fs.mkdir(this.folderOf(runId), { mode: 0o700 });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EEXIST') return;
      throw code === 'ENOENT' ? StoreError.gone() : error;
    }
  }

  private folderOf(runId: string): string {
    return contentsFolder(path.join(this.runs, runId));
  }
}

async function readFirst(files: readonly string[]): Promise<Buffer | undefined> {
  for (const file of files)
    try {
      return await fs.readFile(file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw StoreError.from(error);
    }
  return undefined;
}

const hash = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');
