import { createHash } from 'node:crypto';
import { promises as fs } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Called } from '../../engine/core/modelCall.ts';
import type { AdapterResult } from '../../llm/adapter/adapter.ts';
import { type AuditEntry, type AuditText, auditOf } from '../../protocol/run/audit.ts';
import type { RunEvent } from '../../protocol/run/events.ts';
import { isStored } from '../../protocol/run/fold.ts';
import { message } from '../../protocol/text/l10n.ts';
import { AuditFile, auditError } from '../../runs/auditFile.ts';
import { withoutKeys } from '../settings/redactSettings.ts';

interface Options {
  /** As the person wrote it; empty: there is no audit. */
  folder(): string;
  /** Every saved key, as they are now. */
  secrets(): Promise<string[]>;
  /** The open folders: what a run may change is no place for what is to be believed about it. */
  roots(): readonly string[];
  /** What each file begins with, beside the machine and the person. */
  about: object;
  now?(): number;
}

/** `towpath.audit.folder`: what was asked, answered and done, a line of JSON each, for those who must show it. */
export class Audit {
  private file?: { folder: string; lines: AuditFile };
  /** Why a line that nobody waited for is missing: nothing more is done then. */
  private failure?: unknown;
  /** Lines in the order in which things happened, however long it takes to know what must not be in them. */
  private tail: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: Options) {}

  /** What is kept of a run: resolves when its line is on disk. Rejects with a `StoreError` when that, or one before it, is not. */
  keep = async (event: RunEvent): Promise<void> => {
    if (this.options.folder() === '') return;
    const own = await this.add(event.runId, (words) => auditOf(event, words)).catch((error: unknown) => error);
    const failure = this.failure ?? own;
    this.failure = undefined;
    if (failure) throw failure;
  };

  /** What happens beside the record. What cannot be written is said with the next event that is kept. */
  told(event: RunEvent): void {
    if (event.type === 'chunk' || event.type === 'tool-output' || event.type === 'progress') return; // thousands, and none has a line
    if (isStored(event) || this.options.folder() === '') return;
    this.add(event.runId, (words) => auditOf(event, words)).catch((error) => {
      this.failure = error;
    });
  }

  /** A model call that is of no run; it does not go out when that cannot be written. */
  async call(what: string, { id, host }: Called, ask: () => Promise<AdapterResult>): Promise<AdapterResult> {
    if (this.options.folder() === '') return ask();
    const line = (status: string, more: object) =>
      this.add(undefined, () => ({ kind: 'model-call', of: what, status, model: id, ...(host && { host }), ...more }));
    await line('begins', {});
    const reply = await ask();
    const { promptTokens, completionTokens } = reply.usage ?? {};
    await line(reply.success ? 'answered' : 'failed', { promptTokens, completionTokens, code: reply.error?.code });
    return reply;
  }

  private add(run: string | undefined, entryOf: (words: AuditText) => AuditEntry | undefined): Promise<void> {
    const written = this.tail.then(async () => {
      const lines = await this.lines();
      const secrets = await this.options.secrets().catch((error) => {
        throw auditError(
          this.options.folder(),
          message('the stored keys, which must not be in it, cannot be read'),
          error,
        );
      });
      const entry = entryOf({ hide: (text) => withoutKeys(text, secrets), sha256 });
      if (entry) await lines.append({ ...(run !== undefined && { run }), ...entry });
    });
    this.tail = written.catch(() => {});
    return written;
  }

  private async lines(): Promise<AuditFile> {
    const { folder: said, roots, about, now } = this.options;
    const folder = said().replace(/^~(?=$|[\\/])/, os.homedir());
    if (!path.isAbsolute(folder)) throw auditError(folder, message('it is not an absolute path'));
    const [place, ...open] = await Promise.all([folder, ...roots()].map(realPath));
    if (open.some((root) => isWithin(root, place!)))
      throw auditError(folder, message('it is in an open folder, where runs can change it'));
    if (this.file?.folder !== folder) {
      const head = () => ({ ...about, user: os.userInfo().username, host: os.hostname(), process: process.pid });
      this.file = { folder, lines: new AuditFile(folder, head, now) };
    }
    return this.file.lines;
  }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Where it leads; of one that is not there yet, where it will be. */
async function realPath(place: string): Promise<string> {
  const real = await fs.realpath(place).catch(() => undefined);
  return (
    real ?? path.join(await fs.realpath(path.dirname(place)).catch(() => path.dirname(place)), path.basename(place))
  );
}

function isWithin(root: string, place: string): boolean {
  const way = path.relative(root, place);
  return way === '' || (!path.isAbsolute(way) && way.split(path.sep)[0] !== '..');
}
