import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import * as paths from 'node:path';
import { type ContentPackEntry, encodeContentPackIndex } from '../../protocol/values/contentPack.ts';

/** Writes a pack of contents in one pass, with one sync. Nothing is created before the first content. Synchronous, for a worker thread. */
export class PackWriter {
  readonly index = new Map<string, ContentPackEntry>();
  private descriptor: number | undefined;
  private length = 0;

  /** @param file absolute path; appears when the pack is complete */
  constructor(readonly file: string) {}

  /** Adds a content, once, and returns its ID (SHA-256). */
  add(content: Uint8Array, id: string = contentId(content)): string {
    if (this.index.has(id)) return id;
    this.index.set(id, { offset: this.length, length: content.length });
    this.write(content);
    return id;
  }

  /** Completes the pack on disk. A pack without contents leaves no file. */
  finish(): void {
    if (this.descriptor === undefined) return;
    this.write(encodeContentPackIndex(this.index));
    fsyncSync(this.descriptor);
    closeSync(this.descriptor);
    this.descriptor = undefined;
    renameSync(this.temporary, this.file);
  }

  /** Removes an incomplete pack. */
  abandon(): void {
    if (this.descriptor === undefined) return;
    closeSync(this.descriptor);
    this.descriptor = undefined;
    rmSync(this.temporary, { force: true });
  }

  private get temporary(): string {
    return `${this.file}.tmp`;
  }

  private write(bytes: Uint8Array): void {
    if (this.descriptor === undefined) {
      mkdirSync(paths.dirname(this.file), { recursive: true, mode: 0o700 });
      this.descriptor = openSync(this.temporary, 'w', 0o600);
    }
    for (let done = 0; done < bytes.length; ) done += writeSync(this.descriptor, bytes, done);
    this.length += bytes.length;
  }
}

export const contentId = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');
