import { createHash, randomUUID } from 'node:crypto';
import { promises as fs } from 'node:fs';
import path from 'node:path';
import { message } from '../protocol/text/l10n.ts';
import { Quota } from './contentQuota.ts';
import { StoreError } from './journal.ts';

/**
 * Files before and after changes, for diffs and undo: in the folder of the run they belong to, by their sha256, so
 * that the same content is kept once and goes with its run. Folders are 0700, files 0600.
 */
export class Contents {
  private readonly quota: Quota;

  /**
   * @param runs absolute path of the folder that holds a folder per run
   * @param deleted the folders of deleted runs, whose contents count and go first
   */
  constructor(
    private readonly runs: string,
    deleted: () => Promise<string[]> = async () => [],
  ) {
    this.quota = new Quota(runs, deleted);
  }

  /** Keeps a text, or bytes; returns its id. Throws `StoreError`. */
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

  /** A kept text. Throws `StoreError` when it is gone (removed for the quota, too) or no longer what was kept. */
  async read(runId: string, id: string): Promise<string> {
    const text = (await this.readBytes(runId, id)).toString('utf8');
    if (hash(text) !== id) throw new StoreError('STORE_DAMAGED', message('The stored content is not text.'));
    return text;
  }

  /** The same of anything that was kept. */
  async readBytes(runId: string, id: string): Promise<Buffer> {
    if (!/^[0-9a-f]{64}$/.test(id))
      throw new StoreError('STORE_DAMAGED', message('This is not the ID of a stored content.'));
    const bytes = await fs.readFile(this.fileOf(runId, id)).catch((error) => {
      if (error.code === 'ENOENT') throw new StoreError('STORE_DAMAGED', message('This content is no longer stored.'));
      throw StoreError.from(error);
    });
    if (hash(bytes) !== id) throw new StoreError('STORE_DAMAGED', message('The stored content was altered.'));
    return bytes;
  }

  /** See `Quota.trim`. */
  trim(bytes: number, spared: ReadonlySet<string>): Promise<void> {
    return this.quota.trim(bytes, spared);
  }

  /** Not that of the run: one that is gone does not come back as a folder of contents. */
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
