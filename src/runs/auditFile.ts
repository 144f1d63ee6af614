import { randomUUID } from 'node:crypto';
import { constants, promises as fs } from 'node:fs';
import path from 'node:path';
import { message } from '../protocol/text/l10n.ts';
import { withMessageLinks } from '../protocol/text/links.ts';
import { type LocalizableText, messageOf, UserFacingError } from '../protocol/text/localized.ts';
import { StoreError } from './journal.ts';

/**
 * Audit log: JSON lines in a folder of the user, a file per day and window, so that windows never wait for each other or mix lines. Files
 * are only appended to; `append` resolves after the line is on disk. Folder mode 0700, files 0600.
 */
export class AuditFile {
  private readonly window = randomUUID().slice(0, 8);
  private files = 0;
  private open?: { file: string; day: string; bytes: number; torn: boolean };
  private tail: Promise<unknown> = Promise.resolve();

  /** @param head first line of each file: author and origin of the log */
  constructor(
    private readonly folder: string,
    private readonly head: () => object,
    private readonly now: () => number = Date.now,
  ) {}

  /** Throws a `StoreError` with the folder and a solution. */
  append(entry: object): Promise<void> {
    const written = this.tail.then(() => this.write(entry));
    this.tail = written.catch(() => {});
    return written;
  }

  private async write(entry: object): Promise<void> {
    try {
      const at = new Date(this.now()).toISOString();
      const open = await this.fileOf(at.slice(0, 10), at);
      await this.line(open, { at, ...entry });
    } catch (error) {
      throw auditError(this.folder, reasonOf(error), error);
    }
  }

  private async fileOf(day: string, at: string) {
    if (this.open?.day === day) return this.open;
    await fs.mkdir(this.folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    const count = ++this.files > 1 ? `-${this.files}` : '';
    const file = path.join(this.folder, `${day}-${this.window}${count}.jsonl`);
    await fs.writeFile(file, '', { mode: 0o600, flag: 'ax' });
    const open = { file, day, bytes: 0, torn: false };
    await this.line(open, { at, kind: 'begin', ...this.head() });
    this.open = open;
    return open;
  }

  /** Appends a whole line. A line cut off by a full disk is terminated by the next write, never removed. */
  private async line(open: NonNullable<AuditFile['open']>, entry: object): Promise<void> {
    // No O_CREAT: a removed file is not recreated silently.
    const handle = await fs.open(open.file, constants.O_WRONLY | constants.O_APPEND).catch((error) => {
      this.open = undefined;
      throw error;
    });
    try {
      const { size } = await handle.stat();
      if (size !== open.bytes) {
        this.open = undefined;
        throw new UserFacingError(message('another program changed its file'));
      }
      const bytes = Buffer.from(`${open.torn ? '\n' : ''}${JSON.stringify(entry)}\n`);
      open.torn = true;
      for (let done = 0; done < bytes.length; ) {
        const { bytesWritten } = await handle.write(bytes, done);
        done += bytesWritten;
        open.bytes += bytesWritten;
      }
      open.torn = false;
      await handle.datasync();
    } finally {
      await handle.close();
    }
  }
}

/** Error of the audit log, which stops the run: with auditing enabled, no action may go unrecorded. */
export const auditError = (folder: string, reason: LocalizableText, cause?: unknown): StoreError =>
  new StoreError(
    'STORE_AUDIT',
    withMessageLinks(
      message(
        'The audit cannot be written to {0} ({1}), so nothing more is done. Fix this, or change the setting towpath.audit.folder; then continue.',
        folder,
        reason,
      ),
      { setting: 'towpath.audit.folder' },
    ),
    { cause },
  );

const reasons = {
  ENOENT: 'it does not exist, or was removed',
  ENOTDIR: 'it is not a folder',
  EACCES: 'no permission',
  EPERM: 'no permission',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
} as const;

const reasonOf = (error: unknown): LocalizableText => {
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) return messageOf(error);
  return Object.hasOwn(reasons, code) ? message(reasons[code as keyof typeof reasons]) : code;
};
