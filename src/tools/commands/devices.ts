import { stat } from 'node:fs/promises';
import * as paths from 'node:path';

/**
 * Whether a path (absolute) is a disk or a part of one: what is there says so; of what is not there, all below `/dev` that is
 * known to be nothing of the kind. Also the memory and the raw disks of macOS, which are no block devices.
 */
export async function isDisk(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  const inDev = paths.posix.normalize(path).startsWith('/dev/');
  const name = paths.posix.normalize(path).slice('/dev/'.length);
  if (stats) return stats.isBlockDevice() || (inDev && stats.isCharacterDevice() && raw.test(name));
  return inDev && !harmless.test(name);
}

/** Tells whether a path means a stream of the process that uses it, which is another one here than in a command. */
export const isOwnStream = (path: string): boolean => /^\/dev\/std(in|out|err)$/.test(paths.posix.normalize(path));

const raw = /^(r?disk|k?mem$|port$|sg\d|nvme\d|ng\d)/;
const harmless =
  /^(null|zero|full|u?random|tty|console|std(in|out|err)$|fd\/|pt(s\/|mx)|cu\.|shm\/|mqueue\/|tcp\/|udp\/|snd\/|dri\/|input\/|video|serial\/|usb|hidraw|i2c|spidev|gpio|kmsg$|log$)/;
