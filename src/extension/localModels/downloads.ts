import path from 'node:path';
import * as vscode from 'vscode';
import { LLMError } from '../../llm/core/errors.ts';
import { type DownloadProgress, downloadModelFiles } from '../../llm/local/download/download.ts';
import { parseModelAddress } from '../../llm/local/download/modelAddress.ts';
import { type DownloadableModel, findDownloadableModel } from '../../llm/local/download/modelHub.ts';
import {
  discardPartialDownload,
  type PausedDownload,
  pausedDownloads,
} from '../../llm/local/download/partialDownload.ts';
import { byteSizeText } from '../../protocol/text/byteSizes.ts';
import { currentLocale, message, t } from '../../protocol/text/l10n.ts';
import { truncateWithEllipsis } from '../../protocol/text/shorten.ts';
import { onAbort } from '../../protocol/values/abort.ts';
import { acquireRunLock, isRunLocked } from '../../runs/lock.ts';
import { withCancellation } from '../dialogs/cancellable.ts';
import { downloadFolder } from '../providers/modelFolders.ts';
import { settings } from '../settings/settings.ts';

export interface ActiveModelDownload {
  address: string;
  /** Path of the first file after the download. */
  first: string;
  /** Progress: `43 %, 12 MB/s, 3 min left`. */
  text: string;
  pause(): void;
  cancel(): void;
}

const paused = new Error('paused');
const cancelled = new Error('cancelled');
const beat = 250;

/** Model downloads with progress, pause and resume, shared between windows. */
export class ModelDownloads implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onChange = this.changed.event;
  private readonly transfers = new Map<string, ActiveModelDownload>();

  constructor(
    private readonly storage: vscode.Uri,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  get folder(): string {
    return downloadFolder(this.storage);
  }

  get running(): ActiveModelDownload[] {
    return [...this.transfers.values()];
  }

  /** Returns unfinished downloads that are not active in this window; `elsewhere`: active in another window. */
  async paused(): Promise<(PausedDownload & { elsewhere: boolean })[]> {
    const all = (await pausedDownloads(this.folder)).filter(({ first }) => !this.transfers.has(first));
    return Promise.all(all.map(async (one) => ({ ...one, elsewhere: await isRunLocked(lockOf(one.first)) })));
  }

  /** Deletes a partial download, unless active in another window. */
  async discard(first: string): Promise<void> {
    const lock = await acquireRunLock(lockOf(first)).catch((error) => Promise.reject(errorOf(error, first)));
    try {
      await discardPartialDownload(first);
    } finally {
      await lock.release();
    }
    this.changed.fire();
  }

  /** Resolves an address with the hub; undefined if the user cancels. Throws `LLMError`. */
  async find(address: string): Promise<DownloadableModel | undefined> {
    const { 'local.hub': hub } = settings();
    const parsed = parseModelAddress(address, hub);
    const { host } = new URL(parsed.kind === 'hub' ? hub : parsed.url);
    return withCancellation(
      t('Towpath is asking {0} about {1}', host, truncateWithEllipsis(address, 80)),
      async (signal) => {
        try {
          return await findDownloadableModel(parsed, address, { hub, signal });
        } catch (error) {
          if (signal.aborted) return undefined;
          throw error;
        }
      },
    );
  }

  /** Downloads with progress in a notification and the status bar. Returns the file's path; undefined if stopped. */
  async fetch(model: DownloadableModel): Promise<string | undefined> {
    const first = path.join(this.folder, model.files[0]!.name);
    const stop = new AbortController();
    const transfer: ActiveModelDownload = {
      address: model.address,
      first,
      text: t('starts'),
      pause: () => stop.abort(paused),
      cancel: () => stop.abort(cancelled),
    };
    if (this.transfers.has(first)) return undefined; // already active and visible
    this.transfers.set(first, transfer);
    this.changed.fire();
    const shown = withCancellation(
      t('Towpath is downloading {0}', path.basename(first)),
      (signal, progress) => {
        onAbort(signal, () => stop.abort(paused)); // the signal is of this download only
        return this.run(model, transfer, stop.signal, progress);
      },
      t('Pause'),
    );
    try {
      return await shown;
    } catch (error) {
      if (!stop.signal.aborted) throw errorOf(error, first);
      if (stop.signal.reason === cancelled) await discardPartialDownload(first);
      return undefined;
    } finally {
      this.transfers.delete(first);
      this.changed.fire();
    }
  }

  dispose(): void {
    for (const transfer of this.transfers.values()) transfer.pause();
    this.changed.dispose();
  }

  private async run(
    model: DownloadableModel,
    transfer: ActiveModelDownload,
    signal: AbortSignal,
    report: (text: string, increment: number) => void,
  ): Promise<string> {
    const pace = createPace();
    let shown = 0;
    let last = 0;
    const onProgress = (progress: DownloadProgress) => {
      const now = Date.now();
      pace.add(progress, now);
      if (now - last < beat) return;
      last = now;
      const percent = (progress.received / progress.total) * 100;
      transfer.text = pace.text(progress);
      report(transfer.text, Math.max(0, percent - shown));
      shown = percent;
      this.changed.fire();
    };
    this.log.info(`Downloading ${model.address} to ${this.folder}`);
    return downloadModelFiles(model, { folder: this.folder, signal, onProgress, lock: acquireRunLock });
  }
}

const lockOf = (first: string) => `${first}.lock`;

function createPace() {
  let points: { at: number; received: number }[] = [];
  return {
    add({ state, received }: DownloadProgress, at: number) {
      if (state === 'checking') points = [];
      else if (at - (points.at(-1)?.at ?? 0) >= beat) points = [...points, { at, received }].slice(-40);
    },
    text({ state, received, total }: DownloadProgress): string {
      const percent = t('{0}% of {1}', Math.floor((received / total) * 100), byteSizeText(total));
      if (state === 'checking') return t('{0}, checking what is here', percent);
      const first = points[0];
      const seconds = ((points.at(-1)?.at ?? 0) - (first?.at ?? 0)) / 1000;
      if (!first || seconds < 1) return percent;
      const rate = (received - first.received) / seconds;
      const pace = `${percent}, ${byteSizeText(rate)}/s`;
      return rate > 0 ? t('{0}, {1} left', pace, timeLeft((total - received) / rate)) : pace;
    },
  };
}

function timeLeft(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(Math.round(seconds / 360) / 10).toLocaleString(currentLocale(), { useGrouping: false })} h`;
}

function errorOf(error: unknown, first: string): unknown {
  if ((error as { code?: string }).code !== 'STORE_LOCKED') return error;
  return new LLMError(
    'UNKNOWN',
    message('{0} is being downloaded in another window, which shows the progress.', path.basename(first)),
  );
}
