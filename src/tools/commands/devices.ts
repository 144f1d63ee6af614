import { stat } from 'node:fs/promises';
import * as paths from 'node:path';

/**
 * Tests if an absolute path is a disk or a partition. Existing files are inspected; missing paths below `/dev` count as disks unless known
 * otherwise. Includes memory and the raw disks of macOS, which are character devices.
 */
export async function isDiskDevice(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  const inDev = paths.posix.normalize(path).startsWith('/dev/');
  const name = paths.posix.normalize(path).slice('/dev/'.length);
  if (stats) return stats.isBlockDevice() || (inDev && stats.isCharacterDevice() && raw.test(name));
  return inDev && !harmless.test(name);
}

/** Tests for a stream of the current process; the same path means another stream inside of a command. */
export const isStandardStreamPath = (path: string): boolean =>
  /^\/dev\/std(in|out|err)$/.test(paths.posix.normalize(path));

const raw = /^(r?disk|k?mem$|port$|sg\d|nvme\d|ng\d)/;
const harmless =
  /^(null|zero|full|u?random|tty|console|std(in|out|err)$|fd\/|pt(s\/|mx)|cu\.|shm\/|mqueue\/|tcp\/|udp\/|snd\/|dri\/|input\/|video|serial\/|usb|hidraw|i2c|spidev|gpio|kmsg$|log$)/;
