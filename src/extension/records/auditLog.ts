import { createHash } from 'node:crypto';
import { promises as fs } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { CallableModel } from '../../engine/core/modelCall.ts';
import type { AdapterResult } from '../../llm/adapter/adapter.ts';
import { type AuditEntry, type AuditTextFilters, auditEntryOf } from '../../protocol/run/audit.ts';
import type { RunEvent } from '../../protocol/run/events.ts';
import { isStoredEvent } from '../../protocol/run/fold.ts';
import { message } from '../../protocol/text/l10n.ts';
import { AuditFile, auditError } from '../../runs/auditFile.ts';
import { redactKeysAndQueries } from '../settings/redactSettings.ts';

interface Options {
  /** Configured folder; empty: no audit. */
  folder(): string;
  secrets(): Promise<string[]>;
  /** Open folders, which must not contain the audit log: runs can change them. */
  roots(): readonly string[];
  about: object;
  now?(): number;
}

/** Audit log of `towpath.audit.folder`: requests, answers and effects as JSON lines. */
export class AuditLog {
  private file?: { folder: string; lines: AuditFile };
  /** Failure of an unawaited line; no later action is allowed. */
  private failure?: unknown;
  /** Order of lines, regardless of the time to redact them. */
  private tail: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: Options) {}

  /** Records a stored event; resolves when its line is on disk. Rejects with a `StoreError` if this line or an earlier line failed. */
  keep = async (event: RunEvent): Promise<void> => {
    if (this.options.folder() === '') return;
    const own = await this.add(event.runId, (filters) => auditEntryOf(event, filters)).catch((error: unknown) => error);
    const failure = this.failure ?? own;
    this.failure = undefined;
    if (failure) throw failure;
  };

  /** Records an unstored event. A failure is reported with the next stored event. */
  onEvent(event: RunEvent): void {
    if (event.type === 'chunk' || event.type === 'tool-output' || event.type === 'progress') return; // frequent, and none has a line
    if (isStoredEvent(event) || this.options.folder() === '') return;
    this.add(event.runId, (filters) => auditEntryOf(event, filters)).catch((error) => {
      this.failure = error;
    });
  }

  /** Records an action outside of runs. A failure is reported with the next stored event. */
  note(entry: AuditEntry): void {
    if (this.options.folder() === '') return;
    this.add(undefined, () => entry).catch((error) => {
      this.failure = error;
    });
  }

  /** Records a model call outside of runs; the call is not sent if recording fails. */
  async call(what: string, { id, host }: CallableModel, ask: () => Promise<AdapterResult>): Promise<AdapterResult> {
    if (this.options.folder() === '') return ask();
    const line = (status: string, more: object) =>
      this.add(undefined, () => ({ kind: 'model-call', of: what, status, model: id, ...(host && { host }), ...more }));
    await line('begins', {});
    const reply = await ask();
    const { promptTokens, completionTokens } = reply.usage ?? {};
    await line(reply.success ? 'answered' : 'failed', { promptTokens, completionTokens, code: reply.error?.code });
    return reply;
  }

  private add(run: string | undefined, entryOf: (filters: AuditTextFilters) => AuditEntry | undefined): Promise<void> {
    const written = this.tail.then(async () => {
      const lines = await this.lines();
      const secrets = await this.options.secrets().catch((error) => {
        throw auditError(
          this.options.folder(),
          message('the stored keys, which must not be in it, cannot be read'),
          error,
        );
      });
      const entry = entryOf({ hide: (text) => redactKeysAndQueries(text, secrets), sha256 });
      if (entry) await lines.append({ ...(run !== undefined && { run }), ...entry });
    });
    this.tail = written.catch(() => {});
    return written;
  }

  private async lines(): Promise<AuditFile> {
    const { folder: folderSetting, roots, about, now } = this.options;
    const folder = folderSetting().replace(/^~(?=$|[\\/])/, os.homedir());
    if (!path.isAbsolute(folder)) throw auditError(folder, message('it is not an absolute path'));
    const [auditFolder, ...open] = await Promise.all([folder, ...roots()].map(realPath));
    if (open.some((root) => isWithin(root, auditFolder!)))
      throw auditError(folder, message('it is in an open folder, where runs can change it'));
    if (this.file?.folder !== folder) {
      const head = () => ({ ...about, user: os.userInfo().username, host: os.hostname(), process: process.pid });
      this.file = { folder, lines: new AuditFile(folder, head, now) };
    }
    return this.file.lines;
  }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Real path; for a missing folder, its future real path. */
async function realPath(auditFolder: string): Promise<string> {
  const real = await fs.realpath(auditFolder).catch(() => undefined);
  return (
    real ??
    path.join(
      await fs.realpath(path.dirname(auditFolder)).catch(() => path.dirname(auditFolder)),
      path.basename(auditFolder),
    )
  );
}

function isWithin(root: string, auditFolder: string): boolean {
  const way = path.relative(root, auditFolder);
  return way === '' || (!path.isAbsolute(way) && way.split(path.sep)[0] !== '..');
}
