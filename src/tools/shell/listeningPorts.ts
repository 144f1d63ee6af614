import { readdir, readFile, readlink } from 'node:fs/promises';
import { type CommandProcess, findCommandProcesses } from './processes.ts';

export const loopbackAddresses = ['127.0.0.1', '::1'] as const;
export type LoopbackAddress = (typeof loopbackAddresses)[number];

export interface ListeningAddress {
  address: LoopbackAddress;
  processes: CommandProcess[];
}

/**
 * Returns the loopback addresses where only the command listens on a port (Linux). Any foreign socket that could receive the connection, by
 * a more specific address or by port sharing, excludes the address.
 */
export async function findListeningAddresses(
  command: { pid: number; marker: string },
  port: number,
): Promise<ListeningAddress[]> {
  const [sockets, own] = await Promise.all([listeners(port), socketsOf(command)]);
  return loopbackAddresses.flatMap((address) => {
    const possible = sockets.filter((socket) => reaches(socket.local, address));
    const processes = possible.flatMap(({ inode }) => own.get(inode) ?? []);
    const isOwn = possible.length > 0 && possible.every(({ inode }) => own.has(inode));
    return isOwn ? [{ address, processes: [...new Set(processes)] }] : [];
  });
}

interface Listener {
  /** Kernel form: hexadecimal words of the address in host byte order. */
  local: string;
  inode: string;
}

// Reads `/proc/net/tcp` and `tcp6` of this network namespace: state `0A` is listening.
async function listeners(port: number): Promise<Listener[]> {
  const wanted = port.toString(16).toUpperCase().padStart(4, '0');
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/self/net/${name}`, 'utf8').catch(() => '')),
  );
  return tables.flatMap((table) =>
    table.split('\n').flatMap((line) => {
      const [, address = '', , state, , , , , , inode] = line.trim().split(/\s+/);
      const [local, at] = address.split(':');
      return state === '0A' && at === wanted && inode ? [{ local: local!, inode }] : [];
    }),
  );
}

const mapped = '0000000000000000FFFF0000';
const [everywhere4, everywhere6] = ['0'.repeat(8), '0'.repeat(32)];
// Local addresses whose sockets can receive a connection to a loopback address. A dual-stack socket counts for both.
const reaching: Record<LoopbackAddress, ReadonlySet<string>> = {
  '127.0.0.1': new Set(['0100007F', everywhere4, everywhere6, `${mapped}0100007F`, `${mapped}${everywhere4}`]),
  '::1': new Set(['00000000000000000000000001000000', everywhere6]),
};
const reaches = (local: string, address: LoopbackAddress) => reaching[address].has(local);

async function socketsOf({ pid, marker }: { pid: number; marker: string }): Promise<Map<string, CommandProcess[]>> {
  const found = new Map<string, CommandProcess[]>();
  for (const process of await findCommandProcesses(pid, marker)) {
    const folder = `/proc/${process.pid}/fd`;
    for (const name of await readdir(folder).catch(() => [])) {
      const leads = await readlink(`${folder}/${name}`).catch(() => '');
      const inode = /^socket:\[(\d+)\]$/.exec(leads)?.[1];
      if (inode) found.set(inode, [...(found.get(inode) ?? []), process]);
    }
  }
  return found;
}
