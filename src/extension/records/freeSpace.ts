import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { RunEvent } from '../../protocol/run/events.ts';

/** Test data: about the size of a few turns. */
const probe = Buffer.alloc(65_536, 1);

/** Detects a full disk: checked only after a failed record, until there is space again. */
export class FullDiskMonitor {
  private looking: NodeJS.Timeout | undefined;

  constructor(
    private readonly folder: string,
    private readonly changed: () => void,
    private readonly everyMs = 3000,
  ) {}

  dispose(): void {
    clearTimeout(this.looking);
  }

  get isFull(): boolean {
    return this.looking !== undefined;
  }

  onEvent(event: Pick<RunEvent, 'type'> & { error?: { code: string } }): void {
    if (event.type !== 'phase' || event.error?.code !== 'STORE_FULL' || this.isFull) return;
    this.lookAgain();
    this.changed();
  }

  private lookAgain(): void {
    this.looking = setTimeout(() => void this.look(), this.everyMs);
    this.looking.unref();
  }

  private async look(): Promise<void> {
    if (!(await this.hasFreeSpace())) return this.lookAgain();
    this.looking = undefined;
    this.changed();
  }

  private async hasFreeSpace(): Promise<boolean> {
    const file = path.join(this.folder, `room-${process.pid}`);
    try {
      await writeFile(file, probe, { flush: true }); // some systems report a full disk only on flush
      return true;
    } catch {
      return false;
    } finally {
      await rm(file, { force: true }).catch(() => {}); // the disk itself may be gone
    }
  }
}
