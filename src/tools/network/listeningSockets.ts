import { readFile } from 'node:fs/promises';

/** Addresses by which programs of one machine reach each other. */
export type LoopbackAddress = '127.0.0.1' | '::1';
export const loopbackAddresses: readonly LoopbackAddress[] = ['127.0.0.1', '::1'];

/** TCP socket that waits for connections. */
export interface ListeningSocket {
  port: number;
  /** Number by which a process refers to the socket. */
  inode: string;
  /** Loopback addresses whose connections the socket can receive. */
  reachedAt: readonly LoopbackAddress[];
}

/**
 * Returns the listening sockets of a network namespace (Linux): state `0A` in `/proc/net/tcp` and `tcp6`. Empty on other systems.
 * @param process a process in the namespace
 */
export async function readListeningSockets(process: number | 'self'): Promise<ListeningSocket[]> {
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/${process}/net/${name}`, 'utf8').catch(() => '')),
  );
  return tables.flatMap((table) =>
    table.split('\n').flatMap((line) => {
      const [, address = '', , state, , , , , , inode] = line.trim().split(/\s+/);
      const [local = '', port] = address.split(':');
      if (state !== '0A' || !port || !inode) return [];
      const reachedAt = loopbackAddresses.filter((one) => reaching[one].has(local));
      return [{ port: Number.parseInt(port, 16), inode, reachedAt }];
    }),
  );
}

/**
 * Returns the numbers of TCP sockets of this network namespace (Linux), which change with each new socket. Much faster than a list: the kernel
 * searches a table for it whose size depends on the memory of the machine.
 */
export async function readSocketCounts(): Promise<string> {
  const texts = await Promise.all(
    ['sockstat', 'sockstat6'].map((name) => readFile(`/proc/self/net/${name}`, 'utf8').catch(() => '')),
  );
  return texts.flatMap((text) => text.match(/^TCP6?: inuse \d+/gm) ?? []).join();
}

// Local addresses, as hexadecimal words in host byte order, whose sockets can receive a connection to a loopback address. A dual-stack socket
// counts for both.
const mapped = '0000000000000000FFFF0000';
const [everywhere4, everywhere6] = ['0'.repeat(8), '0'.repeat(32)];
const reaching: Record<LoopbackAddress, ReadonlySet<string>> = {
  '127.0.0.1': new Set(['0100007F', everywhere4, everywhere6, `${mapped}0100007F`, `${mapped}${everywhere4}`]),
  '::1': new Set(['00000000000000000000000001000000', everywhere6]),
};
