import { createHash, randomUUID } from 'node:crypto';
import { promises as fs } from 'node:fs';
import path from 'node:path';
import { message } from '../protocol/text/l10n.ts';
import { contentPackSuffix } from '../protocol/values/contentPack.ts';
import { readPackedContent } from './contentPacks.ts';
import { StoredContentQuota } from './contentQuota.ts';
import { StoreError } from './journal.ts';

/**
 * File contents before and after changes, for diffs and undo, stored by SHA-256 in the folder of the run. Equal contents are stored once
 * and removed with the run. Folders have mode 0700, files 0600.
 */
export class ContentStore {
  private readonly quota: StoredContentQuota;

  /**
   * @param runs absolute path of the folder of all runs
   * @param deleted folders of deleted runs, which count for the quota and are removed first
   */
  constructor(
    private readonly runs: string,
    deleted: () => Promise<string[]> = async () => [],
  ) {
    this.quota = new StoredContentQuota(runs, deleted);
  }

  /** Stores a text or bytes and returns the id. Throws `StoreError`. */
  async keep(runId: string, content: string | Uint8Array): Promise<string> {
    const id = hash(content);
    const file = this.fileOf(runId, id);
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
    const bytes = await fs.readFile(this.fileOf(runId, id)).catch(async (error) => {
      if (error.code !== 'ENOENT') throw StoreError.from(error);
      const packed = await readPackedContent(this.folderOf(runId), id).catch((error) => {
        throw StoreError.from(error);
      });
      if (!packed) throw new StoreError('STORE_DAMAGED', message('This content is no longer stored.'));
      return packed;
    });
    if (hash(bytes) !== id) throw new StoreError('STORE_DAMAGED', message('The stored content was altered.'));
    return bytes;
  }

  trim(bytes: number, spared: ReadonlySet<string>): Promise<void> {
    return this.quota.trim(bytes, spared);
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
    return path.join(this.runs, runId, 'contents');
  }
  private fileOf(runId: string, id: string): string {
    return path.join(this.folderOf(runId), id);
  }
}

const hash = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');
