import { createHash, randomUUID } from 'node:crypto';
import { promises as fs } from 'node:fs';
import path from 'node:path';
import { StoreError } from './journal.ts';

/**
 * Files before and after changes, for diffs and undo: in the folder of the run they belong to, by their sha256, so
 * that the same content is kept once and goes with its run. Folders are 0700, files 0600.
 */
export class Contents {
  /** @param runs absolute path of the folder that holds a folder per run */
  constructor(private readonly runs: string) {}

  /** Keeps a text, or bytes; returns its id. Throws `StoreError`. */
  async keep(runId: string, content: string | Uint8Array): Promise<string> {
    const id = hash(content);
    const file = this.fileOf(runId, id);
    try {
      await fs.mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
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
    if (hash(text) !== id) throw new StoreError('STORE_DAMAGED', 'The kept content is no text.');
    return text;
  }

  /** The same of anything that was kept. */
  async readBytes(runId: string, id: string): Promise<Buffer> {
    if (!/^[0-9a-f]{64}$/.test(id)) throw new StoreError('STORE_DAMAGED', 'This is not the id of a kept content.');
    const bytes = await fs.readFile(this.fileOf(runId, id)).catch((error) => {
      if (error.code === 'ENOENT') throw new StoreError('STORE_DAMAGED', 'This content is no longer kept.');
      throw StoreError.from(error);
    });
    if (hash(bytes) !== id) throw new StoreError('STORE_DAMAGED', 'The kept content was altered.');
    return bytes;
  }

  /** Removes the oldest contents until all together are at most `bytes`; those of the runs in `spared` stay. */
  async trim(bytes: number, spared: ReadonlySet<string>): Promise<void> {
    const files = (await Promise.all((await names(this.runs)).map((runId) => this.filesOf(runId)))).flat();
    let total = files.reduce((sum, { size }) => sum + size, 0);
    for (const { file, size, runId } of files.sort((one, two) => one.mtimeMs - two.mtimeMs)) {
      if (total <= bytes) return;
      if (spared.has(runId)) continue;
      await fs.rm(file, { force: true });
      total -= size;
    }
  }

  private async filesOf(runId: string): Promise<{ runId: string; file: string; size: number; mtimeMs: number }[]> {
    const folder = this.folderOf(runId);
    const stats = (await names(folder)).map(async (name) => {
      const file = path.join(folder, name);
      const stat = await fs.stat(file).catch(() => undefined);
      return stat ? [{ runId, file, size: stat.size, mtimeMs: stat.mtimeMs }] : [];
    });
    return (await Promise.all(stats)).flat();
  }

  private folderOf(runId: string): string {
    return path.join(this.runs, runId, 'contents');
  }
  private fileOf(runId: string, id: string): string {
    return path.join(this.folderOf(runId), id);
  }
}

const hash = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');
const names = (folder: string): Promise<string[]> => fs.readdir(folder).catch(() => []);
